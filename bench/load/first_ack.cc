#include <chrono>
#include <utility>

#include "load/cluster.h"
#include "load/server_process.h"
#include "load/workloads.h"
#include "rt/sync.h"

namespace strom::bench {

namespace {

struct FirstAck {
  rt::Duration connected;  // exec to the coordinator's answer to ApiVersions
  rt::Duration created;    // exec to a table whose buckets have leaders
  rt::Duration acknowledged;
};

/// The first append, on a server that has just been started at `started`.
rt::Task<Result<FirstAck>> AwaitFirstAck(LoadOptions load, Buffer batch, rt::MonotonicTime started, rt::MonotonicTime deadline) {
  FirstAck first;
  auto connect = ConnectUntil(load.bootstrap, deadline);
  auto coordinator = co_await std::move(connect);
  if (!coordinator.ok()) co_return coordinator.error();
  rt::Task<void> close = (*coordinator)->Close();
  co_await std::move(close);
  first.connected = rt::Now() - started;
  auto create = CreateLoadTable(load.bootstrap, {.name = load.table, .buckets = load.buckets});
  const auto table = co_await std::move(create);
  if (!table.ok()) co_return table.error();
  first.created = rt::Now() - started;
  auto connect_tablet = ConnectUntil(table->tablet_server, deadline);
  auto tablet = co_await std::move(connect_tablet);
  if (!tablet.ok()) co_return tablet.error();
  auto append = AppendBatch(tablet->get(), table->table_id, 0, std::move(batch));
  const Result<LogOffset> offset = co_await std::move(append);
  first.acknowledged = rt::Now() - started;
  rt::Task<void> close_tablet = (*tablet)->Close();
  co_await std::move(close_tablet);
  if (!offset.ok()) co_return offset.error();
  co_return first;
}

}  // namespace

rt::Task<Result<JsonLine>> RunFirstAck(FirstAckOptions options) {
  STROM_CO_ASSIGN(const std::vector<Buffer> batches, MakeEventBatches({.rows = 1, .count = 1}));
  std::vector<double> connected;
  std::vector<double> created;
  std::vector<double> acknowledged;
  const auto milliseconds = [](rt::Duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
  for (int32_t i = 0; i < options.repeat; ++i) {
    STROM_CO_ASSIGN(const std::unique_ptr<ScratchDirectory> directory, ScratchDirectory::Make());
    const rt::MonotonicTime started = rt::Now();
    STROM_CO_ASSIGN(const std::unique_ptr<ServerProcess> server, ServerProcess::Start(options.command, directory->path()));
    rt::Task<Result<FirstAck>> run = AwaitFirstAck(options.load, batches.front(), started, started + std::chrono::seconds(options.timeout_seconds));
    const Result<FirstAck> first = co_await std::move(run);
    if (!first.ok()) co_return first.error();
    STROM_CO_TRY(server->CheckRunning());
    connected.push_back(milliseconds(first->connected));
    created.push_back(milliseconds(first->created));
    acknowledged.push_back(milliseconds(first->acknowledged));
  }
  JsonLine line;
  line.Add("load", "first-ack").Add("runs", int64_t{options.repeat});
  line.AddSpread("connected", connected);
  line.AddSpread("created", created);
  line.AddSpread("acknowledged", acknowledged);
  co_return line;
}

}  // namespace strom::bench
