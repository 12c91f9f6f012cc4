#include "server/server.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "base/log.h"
#include "coordinator/coordinator_handler.h"
#include "meta/embedded_store.h"
#include "model/dynamic_config.h"
#include "rpc/server.h"
#include "rt/call.h"
#include "rt/file.h"
#include "rt/runtime.h"
#include "server/data_directory.h"
#include "server/local_gateway.h"
#include "server/ready_file.h"
#include "server/start_gate.h"
#include "tablet/tablet_handler.h"

namespace strom::server {

namespace {

/// How long open requests may take to end at a stop.
constexpr rt::Duration kDrainTime = std::chrono::seconds(5);

/// The parts of a running server, in order of their start.
struct Parts {
  std::unique_ptr<DataDirectory> directory;
  std::unique_ptr<meta::EmbeddedStore> store;
  std::unique_ptr<rpc::RequestMemory> memory;
  std::vector<std::unique_ptr<rpc::Server>> servers;
  std::vector<std::vector<StartGate*>> coordinator_gates;  // by shard, then by listener
  std::vector<std::vector<StartGate*>> tablet_gates;
  std::vector<meta::Endpoint> coordinator_endpoints;
  std::vector<meta::Endpoint> tablet_endpoints;
  LocalGateway gateway;
  std::unique_ptr<rpc::RequestHandler> forwarded;  // answers what the tablet server passes on
  std::unique_ptr<tablet::TabletServer> tablet;
  std::unique_ptr<coordinator::Coordinator> coordinator;
};

/// Waits for the first of the stop signals on a thread of its own, for they may come at any time; then a second one ends the process.
class StopSignal {
 public:
  StopSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    // Blocked before any other thread is made, which all inherit it.
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  /// Called once, on shard 0: `stop` is notified there.
  void Watch(rt::Event* stop, bool* stopping) {
    rt::Executor* shard = &rt::Executor::Current();
    std::thread([signals = signals_, shard, stop, stopping] {
      int signal = 0;
      sigwait(&signals, &signal);
      shard->PostMessage(std::make_unique<StopMessage>(stop, stopping));
      sigwait(&signals, &signal);
      _exit(128 + signal);
    }).detach();
  }

 private:
  class StopMessage final : public rt::Message {
   public:
    StopMessage(rt::Event* stop, bool* stopping) : stop_(stop), stopping_(stopping) {}
    void Run() override {
      *stopping_ = true;
      stop_->NotifyAll();
    }

   private:
    rt::Event* stop_;
    bool* stopping_;
  };
  sigset_t signals_{};
};

rt::Task<Result<std::unique_ptr<rpc::Server>>> StartListener(const ServerOptions* options, Parts* parts,
                                                             const ListenerOptions* listener, rpc::ServerType type,
                                                             uint16_t port) {
  auto* gates = type == rpc::ServerType::kCoordinator ? &parts->coordinator_gates : &parts->tablet_gates;
  rpc::ServerOptions server_options;
  server_options.address = {listener->bind.host, port};
  server_options.listener_name = listener->name;
  server_options.server_type = type;
  server_options.internal = listener->internal;
  server_options.connections_max = options->connections_max;
  server_options.connection = options->connection;
  co_return co_await rpc::Server::Start(&rt::SystemNetwork(), parts->memory.get(), std::move(server_options), [gates] {
    auto gate = std::make_unique<StartGate>();
    (*gates)[rt::ThisShard()].push_back(gate.get());
    return gate;
  });
}

meta::Endpoint EndpointOf(const ListenerOptions& listener, uint16_t bound_port, bool tablet) {
  if (!listener.advertised) return {listener.name, listener.bind.host, bound_port};
  const uint16_t port = listener.advertised->port;
  const int32_t shown = port == 0 ? bound_port : port + (tablet ? 1 : 0);
  return {listener.name, listener.advertised->host, shown};
}

rt::Task<Status> StartListeners(const ServerOptions* options, Parts* parts) {
  parts->coordinator_gates.resize(rt::ShardCount());
  parts->tablet_gates.resize(rt::ShardCount());
  for (const ListenerOptions& listener : options->listeners) {
    const uint16_t port = listener.bind.port;
    auto coordinator = co_await StartListener(options, parts, &listener, rpc::ServerType::kCoordinator, port);
    if (!coordinator.ok()) co_return coordinator.status();
    parts->coordinator_endpoints.push_back(EndpointOf(listener, (*coordinator)->local_address().port, false));
    parts->servers.push_back(std::move(coordinator).value());
    const auto tablet_port = static_cast<uint16_t>(port == 0 ? 0 : port + 1);
    auto tablet = co_await StartListener(options, parts, &listener, rpc::ServerType::kTabletServer, tablet_port);
    if (!tablet.ok()) co_return tablet.status();
    parts->tablet_endpoints.push_back(EndpointOf(listener, (*tablet)->local_address().port, true));
    parts->servers.push_back(std::move(tablet).value());
  }
  co_return Status::OK();
}

std::unique_ptr<rpc::RequestHandler> MakeCoordinatorHandler(Parts* parts, tablet::TabletShard* shard) {
  return std::make_unique<coordinator::CoordinatorHandler>(parts->coordinator.get(), [shard] { return shard->catalog(); });
}

rt::Task<void> OpenGates(Parts* parts) {
  for (uint32_t shard = 0; shard < rt::ShardCount(); ++shard) {
    co_await rt::CallOn(shard, [parts, shard] {
      tablet::TabletShard* tablet = parts->tablet->shard(shard);
      for (StartGate* gate : parts->coordinator_gates[shard]) gate->Open(MakeCoordinatorHandler(parts, tablet));
      for (StartGate* gate : parts->tablet_gates[shard]) gate->Open(std::make_unique<tablet::TabletHandler>(tablet));
    });
  }
}

rt::Task<void> ApplyDynamicConfig(Parts* parts, tablet::TabletServer::DynamicOptions dynamic) {
  co_await parts->tablet->SetDynamicOptions(dynamic);
}

/// Puts what the server decided by itself into its configuration, so that DescribeClusterConfigs tells the truth.
void SetEffective(ServerOptions* options, const DataDirectory& directory, const std::string& remote_data_dir) {
  std::string listeners;
  for (const ListenerOptions& listener : options->listeners) {
    listeners += fmt::format("{}{}://{}", listeners.empty() ? "" : ",", listener.name, ToString(listener.bind));
  }
  const std::pair<std::string_view, std::string> settings[] = {
      {"bind.listeners", listeners},
      {"data.dir", options->tablet_data_dir.empty() ? directory.tablet_path() : options->tablet_data_dir},
      {"remote.data.dir", remote_data_dir},
      {"tablet-server.id", std::to_string(options->server_id)},
  };
  for (const auto& [key, value] : settings) {
    const Status set = options->configuration.Set(key, value);
    STROM_ASSERT(set.ok(), "{} = {}: {}", key, value, set.ToString());
  }
}

Result<std::unique_ptr<meta::EmbeddedStore>> OpenStore(const DataDirectory& directory) {
  return meta::EmbeddedStore::Open(
      {.directory = directory.meta_path(), .power_may_have_failed = directory.power_may_have_failed()});
}

rt::Task<Status> StartParts(ServerOptions* options, Parts* parts) {
  DataDirectory* directory = parts->directory.get();
  auto store = co_await rt::Blocking([directory] { return OpenStore(*directory); });
  if (!store.ok()) co_return store.status();
  parts->store = std::move(store).value();

  parts->memory = std::make_unique<rpc::RequestMemory>(rt::ShardCount(), options->request_memory_bytes / rt::ShardCount());
  const Status listening = co_await StartListeners(options, parts);
  if (!listening.ok()) co_return listening;

  tablet::TabletOptions tablet_options = options->tablet;
  tablet_options.data_dir = options->tablet_data_dir.empty() ? directory->tablet_path() : options->tablet_data_dir;
  tablet_options.power_loss_possible = directory->power_may_have_failed();
  tablet_options.open_files_max = options->open_files_max / rt::ShardCount();
  auto tablet = co_await tablet::TabletServer::Start(std::move(tablet_options), &rt::SystemFiles(), &parts->gateway);
  if (!tablet.ok()) co_return tablet.status();
  parts->tablet = std::move(tablet).value();
  parts->gateway.SetTablet(parts->tablet.get());
  co_await parts->tablet->SetDynamicOptions(DynamicOptionsOf(options->configuration));

  coordinator::CoordinatorOptions coordinator_options = std::move(options->coordinator);
  coordinator_options.endpoints = parts->coordinator_endpoints;
  coordinator_options.remote_data_dir =
      options->remote_data_dir.empty() ? "file://" + directory->remote_path() : options->remote_data_dir;
  SetEffective(options, *directory, coordinator_options.remote_data_dir);
  coordinator_options.configuration = options->configuration;
  const model::Configuration* file = &options->configuration;
  coordinator_options.on_dynamic_config = [parts, file](const meta::ConfigMap& dynamic) {
    const model::EffectiveConfig effective = model::MergeConfig(*file, dynamic);
    rt::Spawn(ApplyDynamicConfig(parts, DynamicOptionsOf(effective.configuration)));
  };
  auto coordinator = co_await coordinator::Coordinator::Start(std::move(coordinator_options), parts->store.get(), &parts->gateway);
  if (!coordinator.ok()) co_return coordinator.status();
  parts->coordinator = std::move(coordinator).value();
  parts->forwarded = MakeCoordinatorHandler(parts, parts->tablet->shard(0));
  parts->gateway.SetCoordinator(parts->coordinator.get(), parts->forwarded.get());

  // Named: g++ 12 destroys a temporary aggregate in a co_await expression twice.
  meta::ServerEntry self{.id = ServerId(options->server_id), .endpoints = parts->tablet_endpoints, .rack = std::nullopt};
  const Status added = co_await parts->coordinator->AddTabletServer(std::move(self));
  if (!added.ok()) co_return added;
  co_await OpenGates(parts);
  co_return Status::OK();
}

rt::Task<void> StopParts(Parts* parts) {
  if (parts->tablet) co_await parts->tablet->EndWaits();
  for (std::unique_ptr<rpc::Server>& server : parts->servers) {
    co_await server->Stop(kDrainTime);
  }
  if (parts->coordinator) co_await parts->coordinator->Stop();
  if (parts->tablet) co_await parts->tablet->Stop(true);
  if (parts->store) {
    const Status closed = co_await parts->store->Close();
    if (!closed.ok()) STROM_LOG_ERROR("the metadata store could not be closed: {}", closed.ToString());
  }
}

rt::Task<int> ServeUntilStopped(ServerOptions* options, Parts* parts, StopSignal* signal) {
  rt::Event stop;
  bool stopping = false;
  signal->Watch(&stop, &stopping);
  const Status started = co_await StartParts(options, parts);
  if (!started.ok()) {
    std::fprintf(stderr, "strom: the server cannot start: %s\n", started.error().message.c_str());
    co_await StopParts(parts);
    co_return 1;
  }
  const std::string ready = ReadyLine(*parts->directory, parts->coordinator_endpoints, parts->tablet_endpoints);
  const Status announced = AnnounceReady(ready, options->ready_file);
  if (!announced.ok()) STROM_LOG_ERROR("{}", announced.error().message);
  rt::Spawn(parts->tablet->SweepOrphans(parts->coordinator->catalog()));
  while (!stopping) {
    co_await stop.Wait();
  }
  STROM_LOG_INFO("stopping");
  RemoveReadyFile(options->ready_file);
  co_await StopParts(parts);
  STROM_LOG_INFO("stopped");
  co_return 0;
}

}  // namespace

int RunServer(ServerOptions options) {
  StopSignal signal;
  InitLog(options.log);
  for (const std::string& warning : options.configuration.Warnings()) STROM_LOG_WARN("{}", warning);
  RemoveReadyFile(options.ready_file);
  Parts parts;
  auto directory = DataDirectory::Open(options.data_dir, options.server_id);
  if (!directory.ok()) {
    std::fprintf(stderr, "strom: the server cannot start: %s\n", directory.error().message.c_str());
    return 1;
  }
  parts.directory = std::move(directory).value();
  auto runtime = rt::Runtime::Start(options.runtime);
  if (!runtime.ok()) {
    std::fprintf(stderr, "strom: the server cannot start: %s\n", runtime.error().message.c_str());
    return 1;
  }
  const int status = (*runtime)->Run([&options, &parts, &signal] { return ServeUntilStopped(&options, &parts, &signal); });
  runtime.value().reset();
  FlushLog();
  return status;
}

}  // namespace strom::server
