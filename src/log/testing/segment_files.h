#pragma once

// A segment through the real log, as its three files: for the golden vectors `segment_files` and `segment_recover`.

#include <memory>
#include <string>
#include <vector>

#include "format/log_batch.h"
#include "log/log.h"
#include "log/log_file_names.h"

namespace strom::log::testing {

struct SegmentFiles {
  std::vector<uint8_t> log;
  std::vector<uint8_t> index;
  std::vector<uint8_t> time_index;
};

inline Result<SegmentFiles> ReadSegmentFiles(rt::FileSystem& files, const std::string& directory, LogOffset base) {
  SegmentFiles read;
  const auto load = [&](std::string_view suffix, std::vector<uint8_t>& into) -> Status {
    STROM_ASSIGN(const Buffer bytes, files.ReadAll(LogFilePath(directory, base, suffix)));
    into.assign(bytes.data(), bytes.data() + bytes.size());
    return Status::OK();
  };
  STROM_TRY(load(kLogSuffix, read.log));
  STROM_TRY(load(kOffsetIndexSuffix, read.index));
  STROM_TRY(load(kTimeIndexSuffix, read.time_index));
  return read;
}

/// A log of its own in `directory`, with the descriptor cache that it needs.
class SegmentLog {
 public:
  SegmentLog(rt::FileSystem& files, std::string directory, uint32_t index_interval)
      : files_(files), directory_(std::move(directory)), cache_(&files, 16) {
    options_.index_interval = index_interval;
  }

  /// Appends each batch of `stamped` by itself, keeping its offsets and times, closes the log and reads its files.
  Result<SegmentFiles> Write(LogOffset base, ByteView stamped) {
    STROM_TRY(Open({}));
    STROM_TRY(log_->TruncateFullyAndStartAt(base));
    while (!stamped.empty()) {
      STROM_ASSIGN(const format::LogBatchHeader header, format::DecodeLogBatchHeader(stamped));
      STROM_TRY(log_->AppendAsFollower(Buffer::CopyOf(stamped.first(header.total_size))));
      stamped = stamped.subspan(header.total_size);
    }
    STROM_TRY(log_->Close());
    STROM_ASSIGN(SegmentFiles read, ReadSegmentFiles(files_, directory_, base));
    STROM_TRY(Open({.clean = true, .recovery_point = log_->log_end_offset(), .power_loss_possible = false}));
    return read;
  }
  /// Puts `damaged` there as the segment of `base`, without indexes, opens it after a crash and reads the files again.
  Result<SegmentFiles> Recover(LogOffset base, ByteView damaged) {
    STROM_TRY(files_.CreateDirectories(directory_));
    STROM_ASSIGN(const std::shared_ptr<rt::File> file,
                 files_.Open(LogFilePath(directory_, base, kLogSuffix), {.write = true, .create = true}));
    STROM_TRY(file->WriteAt(0, {&damaged, 1}));
    STROM_TRY(Open({}));
    return ReadSegmentFiles(files_, directory_, base);
  }

  Log& log() { return *log_; }

 private:
  Status Open(OpenMode mode) {
    log_.reset();
    LogEnvironment environment;
    environment.files = &files_;
    environment.file_cache = &cache_;
    environment.wall_clock = [] { return TimestampMs(INT64_MAX / 2); };
    STROM_ASSIGN(log_, Log::Open(environment, directory_, {TableId(1), std::nullopt, BucketId(0)}, options_, mode));
    return Status::OK();
  }

  rt::FileSystem& files_;
  const std::string directory_;
  FileCache cache_;
  LogOptions options_;
  std::unique_ptr<Log> log_;
};

}  // namespace strom::log::testing
