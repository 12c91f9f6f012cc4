// What an append and a read cost on the system's disk (page cache): batches of 1 MiB, of 64 KiB, and small ones.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "format/log_batch_builder.h"
#include "log/log.h"
#include "rt/file.h"

namespace strom::log {
namespace {

Buffer MakeBatch(size_t size) {
  format::LogBatchSpec spec;
  format::RowLogBatchBuilder builder(spec);
  const std::vector<uint8_t> row(100, 7);
  while (builder.size() + 105 <= size) builder.Append(format::ChangeType::kAppendOnly, row);
  return builder.Finish();
}

/// A log in a temporary directory that goes with it.
class TemporaryLog {
 public:
  TemporaryLog() : cache_(&rt::SystemFiles(), 100) {
    static int number = 0;
    directory_ = std::filesystem::temp_directory_path() / fmt::format("strom-log-bench-{}-{}", ::getpid(), number++);
    LogEnvironment environment;
    environment.files = &rt::SystemFiles();
    environment.file_cache = &cache_;
    environment.wall_clock = [] { return TimestampMs(1000); };
    Result<std::unique_ptr<Log>> log =
        Log::Open(environment, directory_.string(), {TableId(1), std::nullopt, BucketId(0)}, LogOptions{}, {});
    STROM_ASSERT(log.ok(), "{}", log.ToString());
    log_ = std::move(log).value();
  }
  ~TemporaryLog() {
    log_.reset();
    std::filesystem::remove_all(directory_);
  }
  Log* operator->() { return log_.get(); }

 private:
  FileCache cache_;
  std::filesystem::path directory_;
  std::unique_ptr<Log> log_;
};

constexpr int64_t kLogBytesMax = 256 << 20;

void BM_Append(benchmark::State& state) {
  const Buffer batch = MakeBatch(static_cast<size_t>(state.range(0)));
  auto log = std::make_unique<TemporaryLog>();
  int64_t appended = 0;
  for (auto _ : state) {
    const Result<LogAppendInfo> info = (*log)->AppendAsLeader(batch, LeaderEpoch(0));
    STROM_ASSERT(info.ok(), "{}", info.ToString());
    appended += static_cast<int64_t>(batch.size());
    if (appended % kLogBytesMax < static_cast<int64_t>(batch.size())) {
      state.PauseTiming();
      log = std::make_unique<TemporaryLog>();
      state.ResumeTiming();
    }
  }
  state.SetBytesProcessed(appended);
}
BENCHMARK(BM_Append)->Arg(300)->Arg(4 << 10)->Arg(64 << 10)->Arg(1 << 20);

/// A reader that comes from behind: slices of 1 MiB, headers read from the file.
void BM_Scan(benchmark::State& state) {
  const Buffer batch = MakeBatch(static_cast<size_t>(state.range(0)));
  TemporaryLog log;
  for (int64_t bytes = 0; bytes < (32 << 20); bytes += static_cast<int64_t>(batch.size())) {
    STROM_ASSERT(log->AppendAsLeader(batch, LeaderEpoch(0)).ok(), "an append");
  }
  int64_t read = 0;
  LogOffset at;
  for (auto _ : state) {
    const Result<LogSlice> slice = log->Read({at, log->log_end_offset(), 1 << 20, true});
    STROM_ASSERT(slice.ok(), "{}", slice.ToString());
    read += static_cast<int64_t>(slice->size);
    at = slice->next_offset < log->log_end_offset() ? slice->next_offset : LogOffset(0);
  }
  state.SetBytesProcessed(read);
}
BENCHMARK(BM_Scan)->Arg(300)->Arg(4 << 10)->Arg(64 << 10)->Arg(1 << 20);

/// A reader that keeps up: the newest batch.
void BM_ReadTail(benchmark::State& state) {
  TemporaryLog log;
  for (int i = 0; i < 200; ++i) STROM_ASSERT(log->AppendAsLeader(MakeBatch(300), LeaderEpoch(0)).ok(), "an append");
  const LogOffset last = log->log_end_offset() + -1;
  for (auto _ : state) {
    const Result<LogSlice> slice = log->Read({last, log->log_end_offset(), 1 << 20, true});
    benchmark::DoNotOptimize(slice.ok());
  }
}
BENCHMARK(BM_ReadTail);

}  // namespace
}  // namespace strom::log
