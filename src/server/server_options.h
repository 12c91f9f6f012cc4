#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "coordinator/coordinator.h"
#include "model/configuration.h"
#include "rpc/server_connection.h"
#include "rt/runtime.h"
#include "server/listeners.h"
#include "tablet/tablet_server.h"

namespace strom::server {

/// Everything that a start needs, taken from the command line and the configuration.
struct ServerOptions {
  std::string data_dir = "./strom-data";
  std::string ready_file;                  // empty: none
  model::Configuration configuration;

  std::vector<ListenerOptions> listeners;
  int32_t server_id = 0;
  std::string tablet_data_dir;             // empty: the folder tablet of data_dir
  std::string remote_data_dir;             // empty: the folder remote of data_dir
  LogOptions log;
  rt::RuntimeOptions runtime;
  rpc::ConnectionOptions connection;
  size_t connections_max = 0;
  size_t request_memory_bytes = 0;         // of all shards together
  size_t open_files_max = 0;               // segment files, of all shards together
  tablet::TabletOptions tablet;
  coordinator::CoordinatorOptions coordinator;
};

/// Fills the options from `configuration`, which holds what file and command line say. kInvalidConfig with key, value and what is allowed.
Result<ServerOptions> MakeServerOptions(model::Configuration configuration);

/// The part that may change while the server runs (spec/server.md 15.3).
tablet::TabletServer::DynamicOptions DynamicOptionsOf(const model::Configuration& configuration);

/// Reads Fluss's own `server.yaml`: flat keys, or nested maps whose names are joined with dots. kInvalidConfig names file and line.
Status ReadConfigurationFile(const std::string& path, model::Configuration* configuration);

}  // namespace strom::server
