#pragma once

// A small good log whose files a fuzz entry replaces before it is opened.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/log_batch_builder.h"
#include "log/log.h"
#include "log/log_file_names.h"
#include "rt/testing/simulated_disk.h"

namespace strom::log::testing {

class FuzzLog {
 public:
  FuzzLog() : disk_(Original().disk->Clone(1)), cache_(disk_.get(), 8) {}

  LogOffset end() const { return Original().end; }
  size_t log_size() const { return Original().bytes.size(); }
  void Put(std::string_view suffix, ByteView content) { PutPath(LogFilePath(kDirectory, LogOffset(0), suffix), content); }
  void PutNamed(std::string_view name, ByteView content) { PutPath(fmt::format("{}/{}", kDirectory, name), content); }
  void Overwrite(std::string_view suffix, size_t position, ByteView content) {
    const std::string path = LogFilePath(kDirectory, LogOffset(0), suffix);
    std::vector<uint8_t> bytes = disk_->ContentOf(path);
    bytes.resize(std::max(bytes.size(), position + content.size()));
    std::copy(content.begin(), content.end(), bytes.begin() + static_cast<ptrdiff_t>(position));
    disk_->SetContent(path, bytes);
  }

  Status Open(OpenMode mode) {
    STROM_ASSIGN(log_, Log::Open(Environment(*disk_, cache_), kDirectory, kBucket, Options(), mode));
    return Status::OK();
  }
  /// Every offset is read from the right batch.
  void CheckAllReads() {
    for (LogOffset offset; offset < end(); offset = offset + 1) {
      const Result<LogSlice> slice = log_->Read({offset, end(), 1, true});
      STROM_ASSERT(slice.ok() && slice->first_batch_offset <= offset && offset < slice->next_offset, "offset {}: {}", offset,
                   slice.ToString());
      (void)log_->OffsetForTimestamp(TimestampMs(1000 + offset.value()), end());
    }
  }
  /// Reads all, appends, truncates, expires, closes: errors are fine, disorder is not.
  void Exercise() {
    for (LogOffset offset = log_->local_start_offset(); offset < log_->log_end_offset();) {
      const Result<LogSlice> slice = log_->Read({offset, log_->log_end_offset(), 500, true});
      if (!slice.ok()) break;
      STROM_ASSERT(slice->next_offset > offset && slice->size > 0, "a read at {} got nothing", offset);
      offset = slice->next_offset;
    }
    (void)log_->OffsetForTimestamp(TimestampMs(1020), log_->log_end_offset());
    const LogOffset before = log_->log_end_offset();
    const Result<LogAppendInfo> info = log_->AppendAsLeader(Batch(1, 9), LeaderEpoch(3));
    STROM_ASSERT(!info.ok() || info->duplicated || info->first_offset == before, "an append at {} got {}", before, info->first_offset);
    (void)log_->TruncateTo(log_->local_start_offset() + (before - log_->local_start_offset()) / 2);
    (void)log_->DeleteExpired({TimestampMs(INT64_MAX / 2), 1, log_->log_end_offset(), true});
    (void)log_->Close();
  }

 private:
  static inline const std::string kDirectory = "/data/db/t-1/log-0";
  static constexpr model::TableBucket kBucket{TableId(1), std::nullopt, BucketId(0)};

  struct Base {
    std::unique_ptr<rt::testing::SimulatedDisk> disk = std::make_unique<rt::testing::SimulatedDisk>(1);
    std::vector<uint8_t> bytes;
    LogOffset end;
  };

  static Buffer Batch(int32_t records, int32_t sequence) {
    format::LogBatchSpec spec;
    spec.writer_id = WriterId(3);
    spec.batch_sequence = sequence;
    format::RowLogBatchBuilder builder(spec);
    const std::vector<uint8_t> row(10, 7);
    for (int32_t i = 0; i < records; ++i) builder.Append(format::ChangeType::kAppendOnly, row);
    return builder.Finish();
  }
  static LogOptions Options() {
    LogOptions options;
    options.index_interval = 60;
    return options;
  }
  static LogEnvironment Environment(rt::testing::SimulatedDisk& disk, FileCache& cache) {
    LogEnvironment environment;
    environment.files = &disk;
    environment.file_cache = &cache;
    environment.wall_clock = [now = int64_t{1000}]() mutable { return TimestampMs(now += 3); };
    return environment;
  }
  static const Base& Original() {
    static const Base base = [] {
      Base made;
      FileCache cache(made.disk.get(), 8);
      Result<std::unique_ptr<Log>> log = Log::Open(Environment(*made.disk, cache), kDirectory, kBucket, Options(), {});
      STROM_ASSERT(log.ok(), "{}", log.ToString());
      for (int32_t i = 0; i < 20; ++i) {
        const Result<LogAppendInfo> info = (*log)->AppendAsLeader(Batch(1 + i % 5, i), LeaderEpoch(0));
        STROM_ASSERT(info.ok(), "{}", info.ToString());
      }
      made.end = (*log)->log_end_offset();
      STROM_ASSERT((*log)->Close().ok(), "it closes");
      made.bytes = made.disk->ContentOf(LogFilePath(kDirectory, LogOffset(0), kLogSuffix));
      return made;
    }();
    return base;
  }
  void PutPath(const std::string& path, ByteView content) { disk_->SetContent(path, {content.begin(), content.end()}); }

  std::unique_ptr<rt::testing::SimulatedDisk> disk_;
  FileCache cache_;
  std::unique_ptr<Log> log_;
};

}  // namespace strom::log::testing
