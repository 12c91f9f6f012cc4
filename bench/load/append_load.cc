#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "load/cluster.h"
#include "load/process_cpu.h"
#include "load/workloads.h"
#include "rt/sync.h"

namespace strom::bench {

namespace {

/// One connection that sends its share of the batches.
struct Producer {
  std::unique_ptr<rpc::ClientChannel> channel;
  rt::Gate sent;  // appends in flight
};

class AppendLoad {
 public:
  AppendLoad(const AppendOptions& options, LoadTable table, std::vector<Buffer> batches)
      : options_(options), table_(std::move(table)), batches_(std::move(batches)) {}

  rt::Task<Status> Connect() {
    for (int32_t i = 0; i < options_.producers; ++i) {
      auto connect = ConnectUntil(table_.tablet_server, rt::Now());
      auto channel = co_await std::move(connect);
      if (!channel.ok()) co_return channel.error();
      producers_.push_back(std::make_unique<Producer>());
      producers_.back()->channel = std::move(channel).value();
    }
    co_return Status::OK();
  }

  /// Sends all batches and waits for all answers.
  rt::Task<Status> Run() {
    batches_left_ = std::max<int64_t>(1, options_.rows / options_.load.batch.rows);
    started_ = rt::Now();
    rt::Gate running;
    if (options_.rows_per_second > 0) {
      rt::Spawn(Pace(running.TryEnter()));
    } else {
      for (const auto& producer : producers_) {
        for (int32_t i = 0; i < options_.in_flight; ++i) rt::Spawn(Hurry(producer.get(), running.TryEnter()));
      }
    }
    co_await running.Close();
    for (const auto& producer : producers_) co_await producer->sent.Close();
    took_ = rt::Now() - started_;
    co_return failed_ ? Status(*failed_) : Status::OK();
  }

  rt::Task<void> Close() {
    for (const auto& producer : producers_) co_await producer->channel->Close();
  }

  double seconds() const { return std::chrono::duration<double>(took_).count(); }
  const Histogram& acknowledged() const { return acknowledged_; }
  int64_t bytes() const { return bytes_; }

 private:
  rt::Task<void> Hurry(Producer* producer, rt::Gate::Holder /*running*/) {
    while (batches_left_ > 0 && !failed_) {
      --batches_left_;
      co_await Append(producer, rt::Now());
    }
  }

  rt::Task<void> Pace(rt::Gate::Holder /*running*/) {
    const double interval = 1e9 * options_.load.batch.rows / static_cast<double>(options_.rows_per_second);
    for (int64_t i = 0; batches_left_ > 0 && !failed_; ++i, --batches_left_) {
      const rt::MonotonicTime due = started_ + rt::Duration(static_cast<int64_t>(static_cast<double>(i) * interval));
      if (rt::Now() < due) co_await rt::SleepUntil(due);
      Producer* producer = producers_[static_cast<size_t>(i) % producers_.size()].get();
      rt::Spawn(AppendAside(producer, due, producer->sent.TryEnter()));
    }
  }

  rt::Task<void> AppendAside(Producer* producer, rt::MonotonicTime due, rt::Gate::Holder /*sent*/) {
    co_await Append(producer, due);
  }

  rt::Task<void> Append(Producer* producer, rt::MonotonicTime due) {
    const int64_t number = appends_++;
    const Buffer& batch = batches_[static_cast<size_t>(number) % batches_.size()];
    auto append = AppendBatch(producer->channel.get(), table_.table_id, static_cast<int32_t>(number % table_.buckets), batch);
    const Result<LogOffset> offset = co_await std::move(append);
    if (!offset.ok()) {
      if (!failed_) failed_ = offset.error();
      co_return;
    }
    acknowledged_.Add((rt::Now() - due).count());
    bytes_ += static_cast<int64_t>(batch.size());
  }

  const AppendOptions options_;
  const LoadTable table_;
  const std::vector<Buffer> batches_;
  std::vector<std::unique_ptr<Producer>> producers_;
  rt::MonotonicTime started_;
  rt::Duration took_{};
  int64_t batches_left_ = 0;
  int64_t appends_ = 0;
  int64_t bytes_ = 0;
  Histogram acknowledged_;
  std::optional<Error> failed_;
};

}  // namespace

rt::Task<Result<JsonLine>> RunAppend(AppendOptions options) {
  STROM_CO_ASSIGN(std::vector<Buffer> batches, MakeEventBatches(options.load.batch));
  auto create = CreateLoadTable(options.load.bootstrap, {.name = options.load.table, .buckets = options.load.buckets});
  auto table = co_await std::move(create);
  if (!table.ok()) co_return table.error();
  AppendLoad load(options, std::move(table).value(), std::move(batches));
  rt::Task<Status> connect = load.Connect();
  Status status = co_await std::move(connect);
  const double cpu_before = CpuSeconds(options.load.server_processes);
  if (status.ok()) {
    rt::Task<Status> run = load.Run();
    status = co_await std::move(run);
  }
  const double cpu = CpuSeconds(options.load.server_processes) - cpu_before;
  co_await load.Close();
  if (!status.ok()) co_return status.error();
  const int64_t rows = static_cast<int64_t>(load.acknowledged().count()) * options.load.batch.rows;
  JsonLine line;
  line.Add("load", "append").Add("rows", rows).Add("row_bytes", int64_t{options.load.batch.row_bytes});
  line.Add("batch_rows", int64_t{options.load.batch.rows}).Add("producers", int64_t{options.producers});
  line.Add("seconds", load.seconds()).Add("rows_per_s", static_cast<double>(rows) / load.seconds());
  line.Add("bytes_per_row", static_cast<double>(load.bytes()) / static_cast<double>(rows)).Add("ack", load.acknowledged());
  if (!options.load.server_processes.empty()) {
    line.Add("server_cpu_s", cpu).Add("server_cpu_s_per_mrow", cpu * 1e6 / static_cast<double>(rows));
  }
  co_return line;
}

}  // namespace strom::bench
