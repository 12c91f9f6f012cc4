#include "meta/wal_check.h"

#include <algorithm>
#include <vector>

#include "base/crc32c.h"
#include "base/endian.h"
#include "base/log.h"
#include "rt/file.h"

namespace strom::meta {
namespace {

constexpr size_t kBlockSize = 32 << 10;
constexpr size_t kHeaderSize = 7;
constexpr size_t kPageSize = 4096;
enum RecordType : uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

struct Record {
  uint8_t type = 0;
  size_t size = 0;
  bool whole = false;     // header and payload lie in the content and in the block
  bool is_short = false;  // the content ends inside it
};

uint32_t Unmask(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

Record RecordAt(ByteView content, size_t position) {
  const size_t block_left = kBlockSize - position % kBlockSize;
  Record record;
  if (block_left < kHeaderSize) return record;
  if (content.size() - position < kHeaderSize) {
    record.is_short = true;
    return record;
  }
  const uint8_t* header = content.data() + position;
  const size_t length = LoadLe<uint16_t>(header + 4);
  record.type = header[6];
  record.size = kHeaderSize + length;
  if (record.type < kWhole || record.type > kLast || record.size > block_left) return record;
  if (record.size > content.size() - position) {
    record.is_short = true;
    return record;
  }
  record.whole = Crc32c(content.subspan(position + 6, 1 + length)) == Unmask(LoadLe<uint32_t>(header));
  return record;
}

/// A record that begins something, anywhere behind `position`: bytes that do so by chance are one in billions.
bool RecordBeginsAfter(ByteView content, size_t position) {
  for (size_t at = position + 1; at + kHeaderSize <= content.size(); ++at) {
    const uint8_t type = content[at + 6];
    if (type != kWhole && type != kFirst) continue;
    if (RecordAt(content, at).whole) return true;
  }
  return false;
}

Status CutTail(const std::string& path, ByteView content, size_t position) {
  rt::FileSystem& files = rt::SystemFiles();
  STROM_TRY(files.ReplaceFile(path + ".cut", content.subspan(position)));
  STROM_ASSIGN(std::shared_ptr<rt::File> file, files.Open(path, {.write = true}));
  STROM_TRY(file->Truncate(position));
  STROM_TRY(file->Sync());
  STROM_LOG_WARN("metadata store: {} ends in an unfinished write; cut {} bytes at position {}, kept as {}.cut", path,
                 content.size() - position, position, path);
  return Status::OK();
}

Status CheckLog(const std::string& path, bool newest, bool power_may_have_failed) {
  STROM_ASSIGN(Buffer content, rt::SystemFiles().ReadAll(path));
  const std::optional<LogDamage> damage = FindLogDamage(content.view());
  if (!damage) return Status::OK();
  const bool page_end = damage->is_short && content.size() % kPageSize == 0;
  if (!damage->more_after && newest && (power_may_have_failed || page_end)) {
    return CutTail(path, content.view(), damage->position);
  }
  return MakeError(ErrorCode::kCorruptData,
                   "the metadata store is damaged: {} has a bad record at position {} of {}. Nothing was changed; restore the "
                   "directory from a copy",
                   path, damage->position, content.size());
}

}  // namespace

std::optional<LogDamage> FindLogDamage(ByteView content) {
  size_t position = 0;
  size_t begin = 0;  // of the record whose fragments are being read
  bool inside = false;
  while (position < content.size()) {
    const size_t block_left = kBlockSize - position % kBlockSize;
    if (block_left < kHeaderSize) {
      position += std::min(block_left, content.size() - position);
      continue;
    }
    const Record record = RecordAt(content, position);
    const bool begins = record.type == kWhole || record.type == kFirst;
    if (!record.whole || begins == inside) {
      const size_t bad = inside ? begin : position;
      // The next record may begin where this one fails: then the one before was left unfinished.
      const bool more = RecordBeginsAfter(content, bad);
      return LogDamage{bad, record.is_short, more};
    }
    if (begins) begin = position;
    inside = record.type == kFirst || record.type == kMiddle;
    position += record.size;
  }
  if (inside) return LogDamage{begin, true, false};
  return std::nullopt;
}

Status CheckWriteAheadLogs(const std::string& directory, bool power_may_have_failed) {
  rt::FileSystem& files = rt::SystemFiles();
  Result<std::vector<rt::DirectoryEntry>> listed = files.List(directory);
  if (listed.code() == ErrorCode::kNotFound) return Status::OK();
  STROM_ASSIGN(std::vector<rt::DirectoryEntry> entries, std::move(listed));
  // Names are zero-padded numbers and sorted: the last of each kind is the newest.
  std::vector<std::string> logs;
  std::vector<std::string> manifests;
  for (const rt::DirectoryEntry& entry : entries) {
    if (entry.is_directory) continue;
    if (entry.name.ends_with(".log")) logs.push_back(entry.name);
    if (entry.name.starts_with("MANIFEST-") && !entry.name.ends_with(".cut")) manifests.push_back(entry.name);
  }
  for (const std::vector<std::string>* kind : {&logs, &manifests}) {
    for (const std::string& name : *kind) {
      STROM_TRY(CheckLog(directory + "/" + name, name == kind->back(), power_may_have_failed));
    }
  }
  return Status::OK();
}

}  // namespace strom::meta
