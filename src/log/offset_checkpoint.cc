#include "log/offset_checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace strom::log {

namespace {

constexpr std::string_view kWhite = " \t\r\v\f";

Error Bad(std::string_view what, std::string_view line) {
  return MakeError(ErrorCode::kCorruptData, "the offset checkpoint is damaged: {}: \"{}\"", what, line.substr(0, 80));
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// The numbers of a line, up to `numbers.size()`; more or none-numbers give 0.
size_t TakeNumbers(std::string_view line, std::array<int64_t, 5>& numbers) {
  size_t count = 0;
  while (true) {
    const size_t start = line.find_first_not_of(kWhite);
    if (start == std::string_view::npos) return count;
    line.remove_prefix(start);
    if (count == numbers.size()) return 0;
    const size_t size = std::min(line.find_first_of(kWhite), line.size());
    const auto [end, error] = std::from_chars(line.data(), line.data() + size, numbers[count]);
    if (error != std::errc() || end != line.data() + size) return 0;
    ++count;
    line.remove_prefix(size);
  }
}

}  // namespace

std::string EncodeOffsetCheckpoint(const BucketOffsets& offsets) {
  std::string text = fmt::format("0\n{}\n", offsets.size());
  for (const auto& [bucket, offset] : offsets) {
    if (bucket.partition_id) {
      text += fmt::format("{} {} {} {}\n", bucket.table_id, *bucket.partition_id, bucket.bucket, offset);
    } else {
      text += fmt::format("{} {} {}\n", bucket.table_id, bucket.bucket, offset);
    }
  }
  return text;
}

Result<BucketOffsets> DecodeOffsetCheckpoint(ByteView bytes) {
  std::string_view text = AsText(bytes);
  BucketOffsets offsets;
  if (text.empty()) return offsets;
  std::array<int64_t, 5> numbers{};
  const std::string_view version = TakeLine(text);
  if (TakeNumbers(version, numbers) != 1 || numbers[0] != 0) return Bad("its version is not 0", version);
  const std::string_view count_line = TakeLine(text);
  if (TakeNumbers(count_line, numbers) != 1 || numbers[0] < 0) return Bad("it has no count", count_line);
  const uint64_t count = static_cast<uint64_t>(numbers[0]);
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (line.find_first_not_of(kWhite) == std::string_view::npos) continue;
    const size_t found = TakeNumbers(line, numbers);
    if (found != 3 && found != 4) return Bad("a line has not three or four numbers", line);
    model::TableBucket bucket{TableId(numbers[0]), std::nullopt, BucketId(0)};
    if (found == 4) bucket.partition_id = PartitionId(numbers[1]);
    const int64_t number = numbers[found - 2];
    if (number < 0 || number > INT32_MAX || numbers[found - 1] < 0) return Bad("a bucket or offset is out of range", line);
    bucket.bucket = BucketId(static_cast<int32_t>(number));
    offsets.emplace_back(bucket, LogOffset(numbers[found - 1]));
  }
  if (offsets.size() != count) return Bad("its count is not the number of its lines", count_line);
  return offsets;
}

Result<std::unordered_map<model::TableBucket, LogOffset>> ReadOffsetCheckpoint(rt::FileSystem& files, const std::string& data_dir,
                                                                               const std::string& name) {
  std::unordered_map<model::TableBucket, LogOffset> map;
  Result<Buffer> text = files.ReadAll(data_dir + "/" + name);
  if (text.code() == ErrorCode::kNotFound) return map;
  STROM_ASSIGN(const Buffer content, std::move(text));
  STROM_ASSIGN(const BucketOffsets offsets, DecodeOffsetCheckpoint(content.view()));
  for (const auto& [bucket, offset] : offsets) map[bucket] = offset;
  return map;
}

Status WriteOffsetCheckpoint(rt::FileSystem& files, const std::string& data_dir, const std::string& name, BucketOffsets offsets) {
  std::sort(offsets.begin(), offsets.end());
  return files.ReplaceFile(data_dir + "/" + name, AsBytes(EncodeOffsetCheckpoint(offsets)));
}

}  // namespace strom::log
