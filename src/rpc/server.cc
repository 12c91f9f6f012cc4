#include "rpc/server.h"

#include <utility>

#include "base/log.h"
#include "rpc/frame.h"
#include "rpc/linger.h"
#include "rt/call.h"

namespace strom::rpc {

namespace {

// Refusals that are being told on one shard; beyond it a connection is closed without a word.
constexpr size_t kRefusalsMax = 64;
constexpr rt::Duration kRefusalTimeMax = std::chrono::seconds(1);

}  // namespace

Server::Server(RequestMemory* memory, ServerOptions options) : memory_(memory), options_(std::move(options)) {}

Server::~Server() { STROM_ASSERT(stopped_ || listener_ == nullptr, "a server is stopped before it dies"); }

rt::Task<Result<std::unique_ptr<Server>>> Server::Start(rt::Network* network, RequestMemory* memory, ServerOptions options,
                                                        HandlerFactory make_handler) {
  std::unique_ptr<Server> server(new Server(memory, std::move(options)));
  server->shards_.resize(rt::ShardCount());
  for (uint32_t shard = 0; shard < rt::ShardCount(); ++shard) {
    Server* self = server.get();
    const HandlerFactory* factory = &make_handler;
    rt::Task<void> make = rt::CallOn(shard, [self, factory] { self->MakeShard(*factory); });
    co_await std::move(make);
  }
  Server* self = server.get();
  Result<std::unique_ptr<rt::Listener>> listener =
      network->Listen(server->options_.address,
                      [self](std::unique_ptr<rt::Connection> connection) { self->OnConnection(std::move(connection)); });
  if (!listener.ok()) co_return listener.error();
  server->listener_ = std::move(listener).value();
  co_return server;
}

void Server::MakeShard(const HandlerFactory& make_handler) {
  auto shard = std::make_unique<Shard>();
  shard->handler = make_handler();
  shards_[rt::ThisShard()] = std::move(shard);
}

void Server::OnConnection(std::unique_ptr<rt::Connection> connection) {
  Shard* shard = shards_[rt::ThisShard()].get();
  rt::Gate::Holder holder = shard->gate.TryEnter();
  if (!holder) {
    connection->Close();
    return;
  }
  if (open_.fetch_add(1, std::memory_order_relaxed) < options_.connections_max) {
    rt::Spawn(Serve(std::move(holder), shard, std::move(connection)));
    return;
  }
  open_.fetch_sub(1, std::memory_order_relaxed);
  // One line for the first of many: a flood of refusals must not become a flood of lines.
  const uint64_t refused = refused_.fetch_add(1, std::memory_order_relaxed);
  if (refused % 1000 == 0) {
    STROM_LOG_WARN("listener {} refuses {}: it has {} connections, its limit ({} refused so far)", options_.listener_name,
                   connection->peer_address(), options_.connections_max, refused + 1);
  }
  if (shard->refusals >= kRefusalsMax) {
    connection->Close();
    return;
  }
  rt::Spawn(Refuse(std::move(holder), shard, std::move(connection)));
}

rt::Task<void> Server::Serve(rt::Gate::Holder /*holder*/, Shard* shard, std::unique_ptr<rt::Connection> connection) {
  ConnectionInfo info{.peer_address = connection->peer_address(),
                      .listener_name = options_.listener_name,
                      .server_type = options_.server_type,
                      .internal = options_.internal};
  ServerConnection serving(std::move(connection), std::move(info), shard->handler.get(), &memory_->OfThisShard(),
                           &options_.connection, &shard->counters);
  shard->connections.insert(&serving);
  rt::Task<void> run = serving.Run();
  co_await std::move(run);
  shard->connections.erase(&serving);
  open_.fetch_sub(1, std::memory_order_relaxed);
  shard->left.NotifyAll();
}

rt::Task<void> Server::Refuse(rt::Gate::Holder /*holder*/, Shard* shard, std::unique_ptr<rt::Connection> connection) {
  ++shard->refusals;
  rt::Pieces frame = EncodeServerFailureFrame(MakeError(
      ErrorCode::kNetworkException, "listener {} has {} connections, its limit: try again later or raise the limit",
      options_.listener_name, options_.connections_max));
  rt::Task<Status> write = connection->Write(std::move(frame));
  const Status written = co_await std::move(write);
  if (written.ok()) {
    rt::Task<void> linger = LingerThenClose(connection.get(), kRefusalTimeMax);
    co_await std::move(linger);
  }
  connection->Close();
  --shard->refusals;
}

rt::Task<ConnectionCounters> Server::Counters() {
  ConnectionCounters sum;
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    rt::Task<ConnectionCounters> ask = rt::CallOn(shard, [this] { return shards_[rt::ThisShard()]->counters; });
    const ConnectionCounters part = co_await std::move(ask);
    sum.requests += part.requests;
    sum.error_responses += part.error_responses;
    sum.failed_connections += part.failed_connections;
    sum.idle_closed += part.idle_closed;
    sum.bytes_read += part.bytes_read;
    sum.bytes_sent += part.bytes_sent;
    sum.bytes_copied += part.bytes_copied;
    sum.read_calls += part.read_calls;
  }
  co_return sum;
}

rt::Task<void> Server::Stop(rt::Duration deadline) {
  if (stopped_) co_return;
  stopped_ = true;
  listener_->Close();
  rt::Gate stopping;  // all shards drain at the same time
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) rt::Spawn(StopOn(stopping.TryEnter(), shard, deadline));
  rt::Task<void> all = stopping.Close();
  co_await std::move(all);
}

rt::Task<void> Server::StopOn(rt::Gate::Holder /*holder*/, uint32_t shard, rt::Duration deadline) {
  rt::Task<void> stop = rt::CallOn(shard, [this, deadline] { return StopShard(deadline); });
  co_await std::move(stop);
}

rt::Task<void> Server::StopShard(rt::Duration deadline) {
  Shard* shard = shards_[rt::ThisShard()].get();
  const rt::MonotonicTime end = rt::Now() + deadline;
  // No connection leaves the set within these loops: their tasks go on through the ready queue.
  for (ServerConnection* connection : shard->connections) connection->Drain();
  while (!shard->connections.empty() && rt::Now() < end) co_await shard->left.Wait(end);
  for (ServerConnection* connection : shard->connections) connection->Close();
  rt::Task<void> ended = shard->gate.Close();
  co_await std::move(ended);
  shard->handler.reset();
}

}  // namespace strom::rpc
