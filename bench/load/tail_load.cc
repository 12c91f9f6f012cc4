#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "load/cluster.h"
#include "load/process_cpu.h"
#include "load/workloads.h"
#include "rt/sync.h"

namespace strom::bench {

namespace {

using namespace std::chrono_literals;

/// The fixed clock of a paced run: append `i` is due at started + i / rate, and none before `warm` counts.
struct Schedule {
  rt::MonotonicTime started;
  int64_t per_second = 0;
  int64_t count = 0;
  int64_t warm = 0;

  rt::MonotonicTime Due(int64_t i) const {
    return started + rt::Duration(static_cast<int64_t>(static_cast<double>(i) * 1e9 / static_cast<double>(per_second)));
  }
  void Note(int64_t i, rt::MonotonicTime now, Histogram* into) const {
    if (i >= warm) into->Add((now - Due(i)).count());
  }
};

/// Append `i` goes to bucket i % buckets, so the rows of a bucket say by their offset which append they are.
class TailLoad {
 public:
  TailLoad(LoadTable table, const TailOptions& options, Buffer batch, std::unique_ptr<rpc::ClientChannel> writer,
           std::unique_ptr<rpc::ClientChannel> reader, std::unique_ptr<rt::Connection> echo)
      : table_(std::move(table)), batch_(std::move(batch)), rows_(options.load.batch.rows), writer_(std::move(writer)),
        reader_(std::move(reader)), echo_(std::move(echo)) {
    schedule_.per_second = options.appends_per_second;
    schedule_.warm = options.warmup_seconds * options.appends_per_second;
    schedule_.count = schedule_.warm + options.seconds * options.appends_per_second;
  }

  /// Load, then the echo; in the same minute, and not at the same time, so that neither disturbs the other.
  rt::Task<Status> Run() {
    schedule_.started = rt::Now() + 10ms;
    rt::Gate running;
    rt::Spawn(Write(running.TryEnter()));
    rt::Spawn(Read(running.TryEnter()));
    co_await running.Close();
    if (!failed_) {
      schedule_.started = rt::Now() + 10ms;
      rt::Gate echoing;
      rt::Spawn(SendEchoes(echoing.TryEnter()));
      rt::Spawn(ReceiveEchoes(echoing.TryEnter()));
      co_await echoing.Close();
    }
    co_await writer_->Close();
    co_await reader_->Close();
    co_return failed_ ? Status(*failed_) : Status::OK();
  }

  const Histogram& acknowledged() const { return acknowledged_; }
  const Histogram& tail() const { return tail_; }
  const Histogram& echo() const { return echoed_; }

 private:
  void Fail(const Error& error) {
    if (!failed_) failed_ = error;
  }

  rt::Task<void> Write(rt::Gate::Holder /*running*/) {
    rt::Gate sent;
    for (int64_t i = 0; i < schedule_.count && !failed_; ++i) {
      if (rt::Now() < schedule_.Due(i)) co_await rt::SleepUntil(schedule_.Due(i));
      rt::Spawn(Append(i, sent.TryEnter()));
    }
    co_await sent.Close();
  }

  rt::Task<void> Append(int64_t i, rt::Gate::Holder /*sent*/) {
    auto append = AppendBatch(writer_.get(), table_.table_id, static_cast<int32_t>(i % table_.buckets), batch_);
    const Result<LogOffset> offset = co_await std::move(append);
    if (!offset.ok()) {
      Fail(offset.error());
      co_return;
    }
    schedule_.Note(i, rt::Now(), &acknowledged_);
    if (offset->value() != i / table_.buckets * rows_) {
      Fail(MakeError(ErrorCode::kUnknownServerError, "append {} has offset {}, not {}", i, *offset, i / table_.buckets * rows_));
    }
  }

  rt::Task<void> Read(rt::Gate::Holder /*running*/) {
    TableReader reader(table_, 1 << 20);
    std::vector<int64_t> noted(static_cast<size_t>(table_.buckets));
    for (int64_t seen = 0; seen < schedule_.count && !failed_;) {
      rt::Task<Result<TableReader::Fetched>> next = reader.Next(reader_.get(), {});
      const Result<TableReader::Fetched> fetched = co_await std::move(next);
      if (!fetched.ok()) {
        Fail(fetched.error());
        co_return;
      }
      const rt::MonotonicTime now = rt::Now();
      for (int32_t bucket = 0; bucket < table_.buckets; ++bucket) {
        int64_t& append = noted[static_cast<size_t>(bucket)];
        for (; append < reader.offset(bucket) / rows_; ++append, ++seen) {
          schedule_.Note(append * table_.buckets + bucket, now, &tail_);
        }
      }
    }
  }

  rt::Task<void> SendEchoes(rt::Gate::Holder /*echoing*/) {
    for (int64_t i = 0; i < schedule_.count && !failed_; ++i) {
      if (rt::Now() < schedule_.Due(i)) co_await rt::SleepUntil(schedule_.Due(i));
      rt::Pieces frame;
      frame.Add(batch_);
      rt::Task<Status> write = echo_->Write(std::move(frame));
      const Status written = co_await std::move(write);
      if (!written.ok()) Fail(written.error());
    }
  }

  rt::Task<void> ReceiveEchoes(rt::Gate::Holder /*echoing*/) {
    std::vector<uint8_t> bytes(1 << 16);
    int64_t seen = 0;
    for (size_t received = 0; seen < schedule_.count && !failed_;) {
      rt::Task<Result<size_t>> read = echo_->Read(bytes);
      const Result<size_t> size = co_await std::move(read);
      if (!size.ok()) {
        Fail(size.error());
        co_return;
      }
      const rt::MonotonicTime now = rt::Now();
      for (received += *size; received >= batch_.size(); received -= batch_.size()) schedule_.Note(seen++, now, &echoed_);
    }
  }

  const LoadTable table_;
  const Buffer batch_;
  const int64_t rows_;
  std::unique_ptr<rpc::ClientChannel> writer_;
  std::unique_ptr<rpc::ClientChannel> reader_;
  std::unique_ptr<rt::Connection> echo_;
  Schedule schedule_;
  Histogram acknowledged_;
  Histogram tail_;
  Histogram echoed_;
  std::optional<Error> failed_;
};

}  // namespace

rt::Task<Result<JsonLine>> RunTail(TailOptions options, rt::Address echo) {
  STROM_CO_ASSIGN(std::vector<Buffer> batches, MakeEventBatches(options.load.batch));
  auto create = CreateLoadTable(options.load.bootstrap, {.name = options.load.table, .buckets = options.load.buckets});
  auto table = co_await std::move(create);
  if (!table.ok()) co_return table.error();
  auto connect_echo = rt::SystemNetwork().Connect(std::move(echo), 5s);
  auto echo_connection = co_await std::move(connect_echo);
  if (!echo_connection.ok()) co_return echo_connection.error();
  auto connect_writer = ConnectUntil(table->tablet_server, rt::Now());
  auto writer = co_await std::move(connect_writer);
  if (!writer.ok()) co_return writer.error();
  auto connect_reader = ConnectUntil(table->tablet_server, rt::Now());
  auto reader = co_await std::move(connect_reader);
  if (!reader.ok()) {
    rt::Task<void> close = (*writer)->Close();
    co_await std::move(close);
    co_return reader.error();
  }
  TailLoad load(std::move(table).value(), options, batches.front(), std::move(writer).value(), std::move(reader).value(),
                std::move(echo_connection).value());
  const double cpu_before = CpuSeconds(options.load.server_processes);
  rt::Task<Status> run = load.Run();
  const Status status = co_await std::move(run);
  if (!status.ok()) co_return status.error();
  JsonLine line;
  line.Add("load", "tail").Add("appends_per_s", options.appends_per_second).Add("batch_rows", int64_t{options.load.batch.rows});
  line.Add("seconds", options.seconds).Add("frame_bytes", static_cast<int64_t>(batches.front().size()));
  line.Add("tail", load.tail()).Add("ack", load.acknowledged()).Add("echo", load.echo());
  if (!options.load.server_processes.empty()) line.Add("server_cpu_s", CpuSeconds(options.load.server_processes) - cpu_before);
  co_return line;
}

}  // namespace strom::bench
