#pragma once

// What the tests of this room share: a log on a simulated disk, small batches, and a naive twin to compare with.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "format/log_batch_builder.h"
#include "log/log.h"
#include "rt/testing/simulated_disk.h"

namespace strom::log::testing {

inline const std::string kDirectory = "/data/db/table-7/log-2";
inline const model::TableBucket kBucket{TableId(7), std::nullopt, BucketId(2)};

/// A batch of `records` records whose rows are `row_size` bytes of `fill`.
inline Buffer MakeBatch(int32_t records, size_t row_size = 20, uint8_t fill = 1, WriterId writer = kNoWriterId, int32_t sequence = -1) {
  format::LogBatchSpec spec;
  spec.writer_id = writer;
  spec.batch_sequence = sequence;
  if (records == 0) return format::BuildEmptyLogBatch(spec);
  format::RowLogBatchBuilder builder(spec);
  const std::vector<uint8_t> row(row_size, fill);
  for (int32_t i = 0; i < records; ++i) builder.Append(format::ChangeType::kAppendOnly, row);
  return builder.Finish();
}

inline Buffer Concat(const std::vector<Buffer>& parts) {
  MutableBuffer all;
  for (const Buffer& part : parts) all.Append(part.view());
  return all.Freeze();
}

inline std::vector<uint8_t> Bytes(const LogSlice& slice) {
  std::vector<uint8_t> bytes(slice.size);
  if (slice.size == 0) return bytes;
  const Result<size_t> got = slice.file->ReadAt(slice.position, bytes);
  EXPECT_TRUE(got.ok()) << got.ToString();
  EXPECT_EQ(got.ok() ? *got : 0, bytes.size());
  return bytes;
}

/// A machine with one log: disk, descriptor cache and a clock that stands still until it is set.
class Machine {
 public:
  explicit Machine(uint64_t seed = 1, size_t open_files_max = 64)
      : disk(std::make_unique<rt::testing::SimulatedDisk>(seed)), open_files_max_(open_files_max) {
    cache = std::make_unique<FileCache>(disk.get(), open_files_max);
    EXPECT_TRUE(disk->CreateDirectories("/data").ok());
    EXPECT_TRUE(disk->SyncDirectory("/").ok());
  }
  explicit Machine(std::unique_ptr<rt::testing::SimulatedDisk> of, size_t open_files_max = 64)
      : disk(std::move(of)), open_files_max_(open_files_max) {
    cache = std::make_unique<FileCache>(disk.get(), open_files_max);
  }
  ~Machine() { log.reset(); }

  LogEnvironment Environment() {
    LogEnvironment environment;
    environment.files = disk.get();
    environment.file_cache = cache.get();
    environment.wall_clock = [this] { return TimestampMs(now_ms); };
    return environment;
  }
  Status Open(OpenMode mode = {}) {
    log.reset();
    cache = std::make_unique<FileCache>(disk.get(), open_files_max_);
    Result<std::unique_ptr<Log>> opened = Log::Open(Environment(), kDirectory, kBucket, options, mode);
    if (!opened.ok()) return opened.status();
    log = std::move(opened).value();
    return Status::OK();
  }
  /// After a clean close.
  Status Reopen() {
    const LogOffset end = log->log_end_offset();
    STROM_TRY(log->Close());
    return Open({.clean = true, .recovery_point = end, .power_loss_possible = false});
  }
  Result<LogAppendInfo> Append(const Buffer& batch) { return log->AppendAsLeader(batch, LeaderEpoch(0)); }
  Result<LogSlice> Read(int64_t offset, uint64_t max_bytes = UINT64_MAX) {
    return log->Read({LogOffset(offset), log->log_end_offset(), max_bytes, true});
  }
  /// Everything between start and end, read in slices of at most `max_bytes`.
  std::vector<uint8_t> ReadAll(uint64_t max_bytes = UINT64_MAX) {
    std::vector<uint8_t> all;
    LogOffset at = log->local_start_offset();
    while (at < log->log_end_offset()) {
      const Result<LogSlice> slice = Read(at.value(), max_bytes);
      EXPECT_TRUE(slice.ok()) << slice.ToString();
      if (!slice.ok() || slice->size == 0) break;
      const std::vector<uint8_t> bytes = Bytes(*slice);
      all.insert(all.end(), bytes.begin(), bytes.end());
      at = slice->next_offset;
    }
    return all;
  }
  Status Sync() {
    const SyncPlan plan = log->PrepareSync();
    const Status status = plan.Run();
    log->FinishSync(plan, status);
    return status;
  }

  std::unique_ptr<rt::testing::SimulatedDisk> disk;
  std::unique_ptr<FileCache> cache;
  LogOptions options;
  int64_t now_ms = 1000;
  std::unique_ptr<Log> log;

 private:
  size_t open_files_max_;
};

#define ASSERT_OK(expression)                       \
  do {                                              \
    const auto& ok_result = (expression);           \
    ASSERT_TRUE(ok_result.ok()) << ok_result.ToString(); \
  } while (false)
#define EXPECT_OK(expression)                       \
  do {                                              \
    const auto& ok_result = (expression);           \
    EXPECT_TRUE(ok_result.ok()) << ok_result.ToString(); \
  } while (false)

}  // namespace strom::log::testing
