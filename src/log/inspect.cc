#include "log/inspect.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "format/log_batch.h"
#include "log/leader_epoch_history.h"
#include "log/log_file_names.h"
#include "log/offset_checkpoint.h"
#include "log/offset_index.h"
#include "log/tablet_directories.h"
#include "log/time_index.h"
#include "log/writer_snapshot.h"

namespace strom::log {

namespace {

constexpr int64_t kOffsetMax = int64_t{1} << 62;  // leaves room to add

std::string_view NameOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
}

/// The base offset of a segment's file by its name, whatever it is called otherwise (".cut").
LogOffset BaseOf(const std::string& path) {
  const std::string_view name = NameOf(path).substr(0, 20);
  return ParseLogFileName(std::string(name) + ".log", kLogSuffix).value_or(LogOffset(0));
}

Status NothingKnown(const std::string& path) {
  return MakeError(ErrorCode::kNotFound, "{} is no data directory, no log directory and no file of one", path);
}

class Inspector {
 public:
  Inspector(rt::FileSystem& files, const InspectOptions& options, const std::function<void(std::string_view)>& print)
      : files_(files), options_(options), print_(print) {}

  InspectResult result;

  Status Directory(const std::string& path);
  /// False when the name is none that we know.
  Result<bool> File(const std::string& path);

 private:
  struct BatchPlace {
    uint64_t position;
    LogOffset base_offset;
    LogOffset last_offset;
    TimestampMs timestamp;
  };

  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    print_(fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Bad(const std::string& path, uint64_t position, fmt::format_string<Args...> format, Args&&... args) {
    ++result.problems;
    print_(fmt::format("BAD {} at {}: {}", path, position, fmt::format(format, std::forward<Args>(args)...)));
  }

  Status BucketDirectory(const std::string& path, const std::vector<rt::DirectoryEntry>& entries);
  Status Segment(const std::string& path);
  Status OffsetIndexFile(const std::string& path);
  Status TimeIndexFile(const std::string& path);
  Status WriterSnapshotFile(const std::string& path);
  Status CheckpointFile(const std::string& path);
  Status EpochFile(const std::string& path);

  rt::FileSystem& files_;
  const InspectOptions options_;
  const std::function<void(std::string_view)>& print_;
  // Of the segment that was read last: its indexes are compared with it.
  std::optional<LogOffset> places_of_;
  std::vector<BatchPlace> places_;
  std::optional<LogOffset> expected_base_;  // of the next segment of the directory
};

Status Inspector::Directory(const std::string& path) {
  STROM_ASSIGN(const std::vector<rt::DirectoryEntry> entries, files_.List(path));
  const bool is_bucket = std::any_of(entries.begin(), entries.end(), [](const rt::DirectoryEntry& entry) {
    return !entry.is_directory && ParseLogFileName(entry.name, kLogSuffix).has_value();
  });
  if (is_bucket) return BucketDirectory(path, entries);
  bool is_data_directory = false;
  for (const rt::DirectoryEntry& entry : entries) {
    if (entry.is_directory) continue;
    const bool is_mark = entry.name == kCleanShutdownMark;
    const bool is_checkpoint = entry.name == kRecoveryPointCheckpoint || entry.name == kHighWatermarkCheckpoint;
    is_data_directory |= is_mark || is_checkpoint;
    if (is_mark) Line("{}/{}: the last shutdown was clean", path, entry.name);
    if (is_checkpoint) STROM_TRY(CheckpointFile(path + "/" + entry.name));
  }
  STROM_ASSIGN(const DataDirectoryContent content, FindBucketDirectories(files_, path));
  // Whoever mistypes a path must not read that all is well.
  if (!entries.empty() && !is_data_directory && content.buckets.empty()) return NothingKnown(path);
  for (const log::BucketDirectory& bucket : content.buckets) {
    Line("{}: {} ({})", bucket.path.ToString(), bucket.bucket.ToString(), bucket.has_kv ? "with a KV state" : "log only");
    if (!bucket.has_log) continue;
    STROM_ASSIGN(const std::vector<rt::DirectoryEntry> files, files_.List(bucket.log_directory));
    STROM_TRY(BucketDirectory(bucket.log_directory, files));
  }
  for (const std::string& ignored : content.ignored) Line("{}: no directory of a table, partition or bucket", ignored);
  return Status::OK();
}

Status Inspector::BucketDirectory(const std::string& path, const std::vector<rt::DirectoryEntry>& entries) {
  expected_base_.reset();
  std::vector<std::string> names;
  for (const rt::DirectoryEntry& entry : entries) {
    if (!entry.is_directory) names.push_back(entry.name);
  }
  // A segment before its indexes, which are compared with it.
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    const auto rank = [](const std::string& name) { return std::tuple(name.substr(0, 20), !name.ends_with(kLogSuffix), name); };
    return rank(a) < rank(b);
  });
  for (const std::string& name : names) {
    const std::string file = path + "/" + name;
    const auto base = ParseLogFileName(name, kLogSuffix);
    if (base && expected_base_ && *base != *expected_base_) {
      Bad(file, 0, "the segment before it ends at offset {}", *expected_base_);
    }
    STROM_ASSIGN(const bool known, File(file));
    if (!known) Line("{}: not a file of a log", file);
  }
  return Status::OK();
}

Result<bool> Inspector::File(const std::string& path) {
  std::string_view name = NameOf(path);
  if (name.ends_with(kCutSuffix)) {
    Line("{}: kept aside by a recovery, not part of the log", path);
    return true;
  }
  const auto run = [](const Status& status) -> Result<bool> {
    STROM_TRY(status);
    return true;
  };
  if (ParseLogFileName(name, kLogSuffix)) return run(Segment(path));
  if (ParseLogFileName(name, kOffsetIndexSuffix)) return run(OffsetIndexFile(path));
  if (ParseLogFileName(name, kTimeIndexSuffix)) return run(TimeIndexFile(path));
  if (ParseLogFileName(name, kWriterSnapshotSuffix)) return run(WriterSnapshotFile(path));
  if (name == kRecoveryPointCheckpoint || name == kHighWatermarkCheckpoint) return run(CheckpointFile(path));
  if (name == LeaderEpochHistory::kFileName) return run(EpochFile(path));
  return false;
}

Status Inspector::Segment(const std::string& path) {
  STROM_ASSIGN(const std::shared_ptr<rt::File> file, files_.Open(path, {}));
  STROM_ASSIGN(const uint64_t size, file->Size());
  const LogOffset base = BaseOf(path);
  LogOffset expected = base;
  Line("{}: segment from offset {}, {} bytes", path, base, size);
  ++result.segments;
  result.bytes += size;
  places_of_ = base;
  places_.clear();
  std::vector<uint8_t> bytes;
  for (uint64_t position = 0; position < size;) {
    const uint64_t left = size - position;
    bytes.resize(static_cast<size_t>(std::min<uint64_t>(left, format::kBatchHeaderSizeMax)));
    STROM_ASSIGN(const size_t got, file->ReadAt(position, bytes));
    const Result<format::LogBatchHeader> header = format::DecodeLogBatchHeader(ByteView(bytes).first(got));
    if (!header.ok()) {
      Bad(path, position, "{}", header.error().message);
      break;
    }
    if (header->base_offset.value() < 0 || header->base_offset.value() > kOffsetMax) {
      Bad(path, position, "a batch with offset {}", header->base_offset);
      break;
    }
    if (header->total_size > left) {
      Bad(path, position, "a batch of {} bytes where {} are left", header->total_size, left);
      break;
    }
    if (header->base_offset != expected) Bad(path, position, "a batch with offset {} where {} must be", header->base_offset, expected);
    if (options_.batches) {
      Line("  {:>10}  offsets {} to {}, {} bytes, {} records, magic {}, schema {}, time {}, writer {} sequence {}{}", position,
           header->base_offset, header->last_offset(), header->total_size, header->record_count, header->magic, header->schema_id,
           header->commit_timestamp, header->writer_id, header->batch_sequence, header->append_only() ? "" : ", changelog");
    }
    if (options_.verify) {
      bytes.resize(header->total_size);
      STROM_ASSIGN(const size_t whole, file->ReadAt(position, bytes));
      const Status checked = format::CheckLogBatch(*header, ByteView(bytes).first(whole));
      if (!checked.ok()) Bad(path, position, "{}", checked.error().message);
    }
    places_.push_back({position, header->base_offset, header->last_offset(), header->commit_timestamp});
    ++result.batches;
    expected = header->next_offset();
    position += header->total_size;
  }
  Line("  ends at offset {}", expected);
  expected_base_ = expected;
  return Status::OK();
}

Status Inspector::OffsetIndexFile(const std::string& path) {
  STROM_ASSIGN(const Buffer content, files_.ReadAll(path));
  const LogOffset base = BaseOf(path);
  Line("{}: {} entries", path, content.size() / OffsetIndexEntry::kSize);
  if (content.size() % OffsetIndexEntry::kSize != 0) Bad(path, content.size(), "{} bytes are no whole entries", content.size());
  for (size_t at = 0; at + OffsetIndexEntry::kSize <= content.size(); at += OffsetIndexEntry::kSize) {
    const OffsetIndexEntry entry = OffsetIndexEntry::Load(content.data() + at);
    const LogOffset last = base + entry.relative_offset;
    if (options_.batches) Line("  {:>10}  offset {} at {}", at, last, entry.position);
    if (!options_.verify || places_of_ != base) continue;
    const auto place = std::partition_point(places_.begin(), places_.end(),
                                            [&](const BatchPlace& batch) { return batch.position < entry.position; });
    if (place == places_.end() || place->position != entry.position || place->base_offset > last) {
      Bad(path, at, "the entry for offset {} points to {}, where no batch up to it begins", last, entry.position);
    }
  }
  return Status::OK();
}

Status Inspector::TimeIndexFile(const std::string& path) {
  STROM_ASSIGN(const Buffer content, files_.ReadAll(path));
  const LogOffset base = BaseOf(path);
  Line("{}: {} entries", path, content.size() / TimeIndexEntry::kSize);
  if (content.size() % TimeIndexEntry::kSize != 0) Bad(path, content.size(), "{} bytes are no whole entries", content.size());
  int64_t previous = INT64_MIN;
  for (size_t at = 0; at + TimeIndexEntry::kSize <= content.size(); at += TimeIndexEntry::kSize) {
    const TimeIndexEntry entry = TimeIndexEntry::Load(content.data() + at);
    const LogOffset offset = base + entry.relative_offset;
    if (options_.batches) Line("  {:>10}  time {} from offset {}", at, entry.timestamp, offset);
    if (!options_.verify) continue;
    if (entry.timestamp <= previous) Bad(path, at, "time {} does not follow {}", entry.timestamp, previous);
    previous = entry.timestamp;
    if (places_of_ != base) continue;
    const auto place =
        std::partition_point(places_.begin(), places_.end(), [&](const BatchPlace& batch) { return batch.base_offset < offset; });
    if (place == places_.end() || place->base_offset != offset || place->timestamp.value() != entry.timestamp) {
      Bad(path, at, "no batch with offset {} has time {}", offset, entry.timestamp);
    }
  }
  return Status::OK();
}

Status Inspector::WriterSnapshotFile(const std::string& path) {
  STROM_ASSIGN(const Buffer content, files_.ReadAll(path));
  const Result<WriterSnapshot> snapshot = WriterSnapshot::Decode(content.view());
  if (!snapshot.ok()) {
    Bad(path, 0, "{}", snapshot.error().message);
    return Status::OK();
  }
  Line("{}: {} writers at offset {}", path, snapshot->writers.size(), BaseOf(path));
  for (const WriterSnapshot::Writer& writer : snapshot->writers) {
    if (!options_.batches) break;
    for (const WriterBatch& batch : writer.batches) {
      Line("  writer {}: sequence {}, offsets {} to {}, time {}", writer.writer, batch.sequence, batch.first_offset(), batch.last_offset,
           batch.timestamp);
    }
  }
  return Status::OK();
}

Status Inspector::CheckpointFile(const std::string& path) {
  STROM_ASSIGN(const Buffer content, files_.ReadAll(path));
  const Result<BucketOffsets> offsets = DecodeOffsetCheckpoint(content.view());
  if (!offsets.ok()) {
    Bad(path, 0, "{}", offsets.error().message);
    return Status::OK();
  }
  Line("{}: {} buckets", path, offsets->size());
  for (const auto& [bucket, offset] : *offsets) Line("  {}: {}", bucket.ToString(), offset);
  return Status::OK();
}

Status Inspector::EpochFile(const std::string& path) {
  STROM_ASSIGN(const Buffer content, files_.ReadAll(path));
  const Result<LeaderEpochHistory> history = LeaderEpochHistory::Decode(content.view());
  if (!history.ok()) {
    Bad(path, 0, "{}", history.error().message);
    return Status::OK();
  }
  Line("{}: {} leader epochs", path, history->starts().size());
  for (const LeaderEpochStart& start : history->starts()) Line("  epoch {} from offset {}", start.epoch, start.first_offset);
  return Status::OK();
}

}  // namespace

Result<InspectResult> Inspect(rt::FileSystem& files, const std::string& path, const InspectOptions& options,
                              const std::function<void(std::string_view line)>& print) {
  Inspector inspector(files, options, print);
  const Result<std::vector<rt::DirectoryEntry>> entries = files.List(path);
  if (entries.ok()) {
    STROM_TRY(inspector.Directory(path));
    return inspector.result;
  }
  STROM_ASSIGN(const bool known, inspector.File(path));
  if (!known) return NothingKnown(path);
  return inspector.result;
}

}  // namespace strom::log
