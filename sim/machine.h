#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "coordinator/coordinator.h"
#include "meta/memory_store.h"
#include "rpc/request_handler.h"
#include "rt/manual_executor.h"
#include "server/local_gateway.h"
#include "sim/history.h"
#include "sim/settings.h"
#include "sim/simulated_disk.h"
#include "tablet/tablet_handler.h"
#include "tablet/tablet_server.h"

namespace strom::sim {

/// How a server may die.
enum class Death { kProcessCrash, kPowerLoss };

/// One machine with one server on it: simulated clock and disk, two virtual shards, the coordinator and the tablet server as strom wires them. The
/// metadata store is in memory and outlives every death: it syncs each change before it is answered, and its own crash tests are elsewhere.
class Machine {
 public:
  static constexpr uint32_t kShards = 2;
  static constexpr rt::Duration kRetentionInterval = std::chrono::seconds(10);

  Machine(const Settings& settings, History& history);
  ~Machine();

  rt::ManualExecutor& executor() { return executor_; }
  SimulatedDisk& disk() { return disk_; }
  const std::string& data_dir() const { return data_dir_; }
  coordinator::Coordinator* coordinator() { return coordinator_.get(); }
  bool running() const { return running_; }
  /// Waits are over: what is answered now may have nothing in it.
  bool stopping() const { return stopping_; }
  int lives() const { return lives_; }

  /// Starts the server. An error when its disk died meanwhile: it is down then.
  Status Start(bool power_loss_possible);
  /// Ends all waits and lets open requests end.
  void EndRequests();
  /// Does that, closes the logs and marks the stop as clean. True if the disk lived through all of it.
  bool StopCleanly();
  /// The disk is dead (or dies now): takes down what is left of the process, and turns the disk on again.
  void Die(Death death);

  /// The end of the run: nobody may be called back afterwards.
  void ShutDown();

  /// Sends a request to a connection of a shard. `done` is called with the encoded answer, with the request's error, or with kNetworkException when
  /// the machine died before the answer was out; it must not send anything itself.
  using Done = std::function<void(Result<Buffer>)>;
  void Ask(uint32_t shard, rpc::ApiKey key, rt::Pieces body, Done done);
  /// The same, and runs until the answer is there.
  Result<Buffer> AskNow(uint32_t shard, rpc::ApiKey key, rt::Pieces body);
  size_t open_requests() const { return open_requests_; }

  /// The replica of a bucket of the table, looked at from outside; null when the server does not have it.
  std::shared_ptr<replica::Replica> FindReplica(int32_t bucket) const;
  std::shared_ptr<const meta::TableEntry> table() const;
  void NoteTime() { history_.SetTime(executor_.Now().nanoseconds); }

 private:
  tablet::TabletOptions MakeTabletOptions(bool power_loss_possible) const;
  rt::Task<void> Serve(uint32_t shard, rpc::Request request, Done done);
  void StopParts(bool clean);

  const Settings& settings_;
  History& history_;
  const std::string data_dir_ = "/data/tablet";
  rt::ManualExecutor executor_;
  SimulatedDisk disk_;
  meta::MemoryStore store_;
  std::shared_ptr<const rpc::ConnectionInfo> connection_;

  std::unique_ptr<server::LocalGateway> gateway_;
  std::unique_ptr<tablet::TabletServer> tablet_;
  std::unique_ptr<coordinator::Coordinator> coordinator_;
  std::vector<std::unique_ptr<tablet::TabletHandler>> handlers_;  // a connection's, one a shard
  size_t open_requests_ = 0;
  bool running_ = false;
  bool stopping_ = false;
  int lives_ = 0;
};

}  // namespace strom::sim
