#include <algorithm>
#include <chrono>
#include <utility>

#include "load/cluster.h"
#include "load/process_cpu.h"
#include "load/workloads.h"
#include "rt/sync.h"

namespace strom::bench {

namespace {

/// Writes the batches one after the other, spread over the buckets; gives the rows written.
rt::Task<Result<int64_t>> Fill(rpc::ClientChannel* channel, const LoadTable& table, const ScanOptions& options) {
  STROM_CO_ASSIGN(const std::vector<Buffer> batches, MakeEventBatches(options.load.batch));
  const int64_t appends = std::max<int64_t>(1, options.rows / options.load.batch.rows);
  for (int64_t i = 0; i < appends; ++i) {
    auto append = AppendBatch(channel, table.table_id, static_cast<int32_t>(i % table.buckets), batches[static_cast<size_t>(i) % batches.size()]);
    const Result<LogOffset> offset = co_await std::move(append);
    if (!offset.ok()) co_return offset.error();
  }
  co_return appends * options.load.batch.rows;
}

struct Scanned {
  int64_t rows = 0;
  int64_t bytes = 0;
};

rt::Task<Result<Scanned>> Scan(rpc::ClientChannel* channel, const LoadTable& table, const ScanOptions& options, int64_t rows) {
  Scanned scanned;
  for (int32_t i = 0; i < options.repeat; ++i) {
    TableReader reader(table, options.max_bytes_a_bucket);
    for (int64_t seen = 0; seen < rows;) {
      rt::Task<Result<TableReader::Fetched>> next = reader.Next(channel, options.columns);
      const Result<TableReader::Fetched> fetched = co_await std::move(next);
      if (!fetched.ok()) co_return fetched.error();
      if (fetched->rows == 0) {
        co_return MakeError(ErrorCode::kUnknownServerError, "the scan ends after {} of {} rows", seen, rows);
      }
      seen += fetched->rows;
      scanned.bytes += fetched->bytes;
    }
    scanned.rows += rows;
  }
  co_return scanned;
}

rt::Task<Result<JsonLine>> FillAndScan(rpc::ClientChannel* channel, LoadTable table, ScanOptions options) {
  rt::Task<Result<int64_t>> fill = Fill(channel, table, options);
  const Result<int64_t> rows = co_await std::move(fill);
  if (!rows.ok()) co_return rows.error();
  const double cpu_before = CpuSeconds(options.load.server_processes);
  const rt::MonotonicTime started = rt::Now();
  rt::Task<Result<Scanned>> scan = Scan(channel, table, options, *rows);
  const Result<Scanned> scanned = co_await std::move(scan);
  if (!scanned.ok()) co_return scanned.error();
  const double seconds = std::chrono::duration<double>(rt::Now() - started).count();
  const double cpu = CpuSeconds(options.load.server_processes) - cpu_before;
  const auto total = static_cast<double>(scanned->rows);
  JsonLine line;
  line.Add("load", "scan").Add("rows", scanned->rows).Add("row_bytes", int64_t{options.load.batch.row_bytes});
  line.Add("columns", static_cast<int64_t>(options.columns.size())).Add("seconds", seconds).Add("rows_per_s", total / seconds);
  line.Add("bytes_per_row", static_cast<double>(scanned->bytes) / total);
  if (!options.load.server_processes.empty()) line.Add("server_cpu_s", cpu).Add("server_cpu_s_per_mrow", cpu * 1e6 / total);
  co_return line;
}

}  // namespace

rt::Task<Result<JsonLine>> RunScan(ScanOptions options) {
  auto create = CreateLoadTable(options.load.bootstrap, {.name = options.load.table, .buckets = options.load.buckets});
  auto table = co_await std::move(create);
  if (!table.ok()) co_return table.error();
  auto connect = ConnectUntil(table->tablet_server, rt::Now());
  auto channel = co_await std::move(connect);
  if (!channel.ok()) co_return channel.error();
  rt::Task<Result<JsonLine>> run = FillAndScan(channel->get(), std::move(table).value(), std::move(options));
  Result<JsonLine> line = co_await std::move(run);
  rt::Task<void> close = (*channel)->Close();
  co_await std::move(close);
  co_return line;
}

}  // namespace strom::bench
