#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "rpc/memory_budget.h"
#include "rpc/request_handler.h"
#include "rpc/server_connection.h"
#include "rt/connection.h"
#include "rt/sync.h"
#include "rt/task.h"

namespace strom::rpc {

struct ServerOptions {
  rt::Address address;        // to bind; port 0 takes a free one
  std::string listener_name;  // of bind.listeners
  ServerType server_type = ServerType::kUnknown;
  bool internal = false;
  size_t connections_max = 10000;  // of this listener; more are refused
  ConnectionOptions connection{};
};

/// One listening port: accepts connections and serves each on the shard that owns it, with one RequestHandler a shard.
///
/// A connection beyond the limit gets a type-2 frame with NETWORK_EXCEPTION and a sentence, then is closed: clients take it for a
/// server that cannot be reached and try another one or try again.
class Server {
 public:
  /// Called once on every shard.
  using HandlerFactory = std::function<std::unique_ptr<RequestHandler>()>;

  /// Binds and serves. `network` and `memory` outlive the server. Errors are the binding's: address in use, no such host.
  static rt::Task<Result<std::unique_ptr<Server>>> Start(rt::Network* network, RequestMemory* memory, ServerOptions options,
                                                         HandlerFactory make_handler);
  ~Server();

  const rt::Address& local_address() const { return listener_->local_address(); }
  const ServerOptions& options() const { return options_; }
  size_t open_connections() const { return open_.load(std::memory_order_relaxed); }
  uint64_t refused_connections() const { return refused_.load(std::memory_order_relaxed); }
  /// Summed over the shards.
  rt::Task<ConnectionCounters> Counters();

  /// Stops accepting and reading, waits up to `deadline` for requests in flight to be answered, closes, and returns when the last
  /// request has ended. To be awaited before the server dies, on the shard that started it.
  rt::Task<void> Stop(rt::Duration deadline);

 private:
  /// What one shard owns of the server.
  struct Shard {
    std::unique_ptr<RequestHandler> handler;
    ConnectionCounters counters;
    std::unordered_set<ServerConnection*> connections;
    rt::Gate gate;
    rt::Event left;  // a connection has ended
    size_t refusals = 0;  // being told
  };

  Server(RequestMemory* memory, ServerOptions options);
  void OnConnection(std::unique_ptr<rt::Connection> connection);
  rt::Task<void> Serve(rt::Gate::Holder holder, Shard* shard, std::unique_ptr<rt::Connection> connection);
  rt::Task<void> Refuse(rt::Gate::Holder holder, Shard* shard, std::unique_ptr<rt::Connection> connection);
  void MakeShard(const HandlerFactory& make_handler);
  rt::Task<void> StopOn(rt::Gate::Holder holder, uint32_t shard, rt::Duration deadline);
  rt::Task<void> StopShard(rt::Duration deadline);

  RequestMemory* const memory_;
  const ServerOptions options_;
  std::vector<std::unique_ptr<Shard>> shards_;  // each entry is touched on its shard only
  std::unique_ptr<rt::Listener> listener_;
  std::atomic<size_t> open_{0};
  std::atomic<uint64_t> refused_{0};
  bool stopped_ = false;
};

}  // namespace strom::rpc
