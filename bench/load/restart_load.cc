#include <chrono>
#include <optional>
#include <utility>

#include "load/cluster.h"
#include "load/process_cpu.h"
#include "load/server_process.h"
#include "load/workloads.h"
#include "rt/sync.h"

namespace strom::bench {

namespace {

constexpr int32_t kFetchBytesMax = 16 << 20;
constexpr int64_t kAppendsInFlight = 4;  // of a bucket

double Milliseconds(rt::Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

/// One table over the lives of its server: what was written to each bucket, and whether it is there again.
class RestartedTable {
 public:
  RestartedTable(const RestartOptions& options, std::vector<Buffer> batches)
      : options_(options), batches_(std::move(batches)), appends_(static_cast<size_t>(options.load.buckets)) {}

  /// Makes the table and writes its log.
  rt::Task<Status> Fill(rt::MonotonicTime deadline) {
    auto wait = ConnectUntil(options_.load.bootstrap, deadline);
    auto coordinator = co_await std::move(wait);
    if (!coordinator.ok()) co_return coordinator.error();
    rt::Task<void> close_coordinator = (*coordinator)->Close();
    co_await std::move(close_coordinator);
    auto create = CreateLoadTable(options_.load.bootstrap, {.name = options_.load.table, .buckets = options_.load.buckets});
    auto table = co_await std::move(create);
    if (!table.ok()) co_return table.error();
    table_ = *table;
    auto connect = ConnectUntil(table_.tablet_server, deadline);
    auto channel = co_await std::move(connect);
    if (!channel.ok()) co_return channel.error();
    rt::Gate running;
    for (int32_t bucket = 0; bucket < table_.buckets; ++bucket) {
      for (int64_t i = 0; i < kAppendsInFlight; ++i) rt::Spawn(FillBucket(channel->get(), bucket, running.TryEnter()));
    }
    co_await running.Close();
    rt::Task<void> close = (*channel)->Close();
    co_await std::move(close);
    co_return failed_ ? Status(*failed_) : Status::OK();
  }

  /// Waits until every bucket gives its last batch and takes one more, at the offset that is next.
  rt::Task<Status> AwaitAll(rt::MonotonicTime deadline) {
    auto find = FindLoadTable(options_.load.bootstrap, {.name = options_.load.table, .buckets = options_.load.buckets}, deadline);
    auto table = co_await std::move(find);
    if (!table.ok()) co_return table.error();
    auto connect = ConnectUntil(table->tablet_server, deadline);
    auto channel = co_await std::move(connect);
    if (!channel.ok()) co_return channel.error();
    rt::Task<Status> check = CheckBuckets(channel->get());
    Status checked = co_await std::move(check);
    rt::Task<void> close = (*channel)->Close();
    co_await std::move(close);
    co_return checked;
  }

  int64_t bytes() const { return bytes_; }

 private:
  /// The next offset of a bucket by what was written to it.
  int64_t EndOf(int32_t bucket) const { return appends_[static_cast<size_t>(bucket)] * options_.load.batch.rows; }

  rt::Task<void> FillBucket(rpc::ClientChannel* channel, int32_t bucket, rt::Gate::Holder /*running*/) {
    while (bytes_ < options_.log_bytes && !failed_) {
      const Buffer& batch = NextBatch(bucket);
      auto append = AppendBatch(channel, table_.table_id, bucket, batch);
      const Result<LogOffset> offset = co_await std::move(append);
      if (!offset.ok() && !failed_) failed_ = offset.error();
    }
  }

  const Buffer& NextBatch(int32_t bucket) {
    const Buffer& batch = batches_[static_cast<size_t>(appends_[static_cast<size_t>(bucket)]++) % batches_.size()];
    bytes_ += static_cast<int64_t>(batch.size());
    return batch;
  }

  rt::Task<Status> CheckBuckets(rpc::ClientChannel* channel) {
    TableReader reader(table_, kFetchBytesMax);
    for (int32_t bucket = 0; bucket < table_.buckets; ++bucket) reader.Seek(bucket, EndOf(bucket) - options_.load.batch.rows);
    int64_t missing = int64_t{table_.buckets} * options_.load.batch.rows;
    while (missing > 0) {
      auto next = reader.Next(channel, {});
      const auto fetched = co_await std::move(next);
      if (!fetched.ok()) co_return fetched.error();
      if (fetched->rows == 0) break;
      missing -= fetched->rows;
    }
    for (int32_t bucket = 0; bucket < table_.buckets; ++bucket) {
      const int64_t end = EndOf(bucket);
      if (missing != 0 || reader.offset(bucket) != end) {
        co_return MakeError(ErrorCode::kUnknownServerError, "bucket {} ends at offset {} after the restart, not at {} ({} rows are missing)", bucket,
                            reader.offset(bucket), end, missing);
      }
      auto append = AppendBatch(channel, table_.table_id, bucket, NextBatch(bucket));
      const Result<LogOffset> offset = co_await std::move(append);
      if (!offset.ok()) co_return offset.error();
      if (offset->value() != end) {
        co_return MakeError(ErrorCode::kUnknownServerError, "bucket {} goes on at offset {} after the restart, not at {}", bucket, *offset, end);
      }
    }
    co_return Status::OK();
  }

  const RestartOptions& options_;
  const std::vector<Buffer> batches_;
  LoadTable table_;
  std::vector<int64_t> appends_;  // by bucket
  int64_t bytes_ = 0;
  std::optional<Error> failed_;
};

}  // namespace

rt::Task<Result<JsonLine>> RunRestart(RestartOptions options) {
  STROM_CO_ASSIGN(std::vector<Buffer> batches, MakeEventBatches(options.load.batch));
  STROM_CO_ASSIGN(const std::unique_ptr<ScratchDirectory> directory, ScratchDirectory::Make());
  STROM_CO_ASSIGN(std::unique_ptr<ServerProcess> server, ServerProcess::Start(options.command, directory->path()));
  RestartedTable table(options, std::move(batches));
  const rt::Duration patience = std::chrono::seconds(options.timeout_seconds);
  rt::Task<Status> fill = table.Fill(rt::Now() + patience);
  const Status filled = co_await std::move(fill);
  if (!filled.ok()) co_return filled.error();
  STROM_CO_TRY(server->CheckRunning());
  const int64_t bytes = table.bytes();
  std::vector<double> stopped;
  std::vector<double> serving;
  std::vector<double> cpu;
  for (int32_t i = 0; i < options.repeat; ++i) {
    const rt::MonotonicTime ended = rt::Now();
    if (options.kill) server->Kill();
    server.reset();
    const rt::MonotonicTime started = rt::Now();
    stopped.push_back(Milliseconds(started - ended));
    STROM_CO_ASSIGN(server, ServerProcess::Start(options.command, directory->path()));
    rt::Task<Status> await = table.AwaitAll(started + patience);
    const Status right = co_await std::move(await);
    if (!right.ok()) co_return right.error();
    STROM_CO_TRY(server->CheckRunning());
    serving.push_back(Milliseconds(rt::Now() - started));
    cpu.push_back(CpuSeconds({server->pid()}) * 1e3);
  }
  JsonLine line;
  line.Add("load", "restart").Add("how", options.kill ? "kill" : "clean").Add("log_bytes", bytes).Add("runs", int64_t{options.repeat});
  line.Add("batch_rows", int64_t{options.load.batch.rows}).Add("row_bytes", int64_t{options.load.batch.row_bytes});
  line.AddSpread("stop", stopped).AddSpread("every_bucket_right", serving).AddSpread("server_cpu", cpu);
  co_return line;
}

}  // namespace strom::bench
