#include "server/server_options.h"

#include <sys/resource.h>

#include <algorithm>

namespace strom::server {

namespace {

rt::Duration Milliseconds(const model::Configuration& configuration, std::string_view key) {
  return std::chrono::milliseconds(configuration.GetDurationMs(key));
}

LogLevel ParseLevel(const std::string& name) {
  if (name == "DEBUG") return LogLevel::kDebug;
  if (name == "WARN") return LogLevel::kWarn;
  if (name == "ERROR") return LogLevel::kError;
  if (name == "OFF") return LogLevel::kOff;
  return LogLevel::kInfo;
}

/// Descriptors are shared out: a fixed part for the process itself and the metadata store, a quarter of the rest for segment files, what is
/// left for connections.
struct DescriptorBudget {
  size_t files = 0;
  size_t connections = 0;
};

DescriptorBudget ShareDescriptors() {
  constexpr size_t kReserved = 128;
  rlimit limit{};
  size_t total = 1024;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    // The soft limit is often far below what the process may use.
    if (limit.rlim_cur < limit.rlim_max) {
      limit.rlim_cur = limit.rlim_max;
      setrlimit(RLIMIT_NOFILE, &limit);
      getrlimit(RLIMIT_NOFILE, &limit);
    }
    total = static_cast<size_t>(std::min<rlim_t>(limit.rlim_cur, 1U << 20));
  }
  const size_t free = total > 2 * kReserved ? total - kReserved : kReserved;
  return {.files = std::max<size_t>(64, free / 4), .connections = std::max<size_t>(64, free - free / 4)};
}

}  // namespace

tablet::TabletServer::DynamicOptions DynamicOptionsOf(const model::Configuration& configuration) {
  return {.roll_active_segment = configuration.GetBool("log.retention.roll-active-segment.enabled"),
          .min_isr = static_cast<size_t>(configuration.GetInt("log.replica.min-in-sync-replicas-number")),
          .disk_write_limit_ratio = configuration.GetDouble("server.data-disk.write-limit-ratio"),
          .disk_write_recover_ratio = configuration.GetDouble("server.data-disk.write-recover-ratio")};
}

Result<ServerOptions> MakeServerOptions(model::Configuration configuration) {
  STROM_TRY(configuration.CheckBuilt());
  ServerOptions options;
  STROM_ASSIGN(options.listeners, ListenersOf(configuration));
  options.server_id = configuration.Has("tablet-server.id") ? static_cast<int32_t>(configuration.GetInt("tablet-server.id")) : 0;
  if (configuration.Has("data.dirs")) {
    const std::vector<std::string> directories = configuration.GetList("data.dirs");
    if (directories.size() > 1) {
      return MakeError(ErrorCode::kInvalidConfig, "data.dirs: {} directories are named, one is supported so far", directories.size());
    }
    if (!directories.empty()) options.tablet_data_dir = directories.front();
  } else if (configuration.Has("data.dir")) {
    options.tablet_data_dir = configuration.GetString("data.dir");
  }
  if (configuration.Has("remote.data.dir")) options.remote_data_dir = configuration.GetString("remote.data.dir");

  options.log.level = ParseLevel(configuration.GetEnum("strom.log.level"));
  options.log.file = configuration.GetString("strom.log.file");
  options.log.file_size_max = static_cast<size_t>(configuration.GetBytes("strom.log.file-size"));
  options.log.files_count_max = static_cast<size_t>(configuration.GetInt("strom.log.files"));
  options.runtime.shards = static_cast<uint32_t>(configuration.GetInt("strom.shards"));
  options.runtime.blocking_threads = static_cast<uint32_t>(configuration.GetInt("strom.blocking-threads"));

  options.connection.frame_size_max = static_cast<size_t>(configuration.GetBytes("netty.server.max-request-size"));
  options.connection.idle_time_max = Milliseconds(configuration, "netty.connection.max-idle-time");
  options.connection.requests_in_flight_max = static_cast<size_t>(configuration.GetInt("netty.server.max-queued-requests"));
  options.request_memory_bytes = static_cast<size_t>(configuration.GetBytes("strom.memory.requests"));
  const DescriptorBudget descriptors = ShareDescriptors();
  options.connections_max = static_cast<size_t>(configuration.GetInt("strom.connections.max"));
  if (options.connections_max == 0) options.connections_max = descriptors.connections;
  options.open_files_max = static_cast<size_t>(configuration.GetInt("strom.files.max"));
  if (options.open_files_max == 0) options.open_files_max = descriptors.files;

  tablet::TabletOptions& tablet = options.tablet;
  tablet.server_id = ServerId(options.server_id);
  tablet.log.segment_size_max = static_cast<uint64_t>(configuration.GetBytes("log.segment.file-size"));
  tablet.log.index_interval = static_cast<uint32_t>(configuration.GetBytes("log.index.interval-size"));
  tablet.log.index_file_size = static_cast<uint64_t>(configuration.GetBytes("log.index.file-size"));
  tablet.log.flush_interval_messages = configuration.GetInt("log.flush.interval-messages");
  tablet.log.writer_expiry_ms = configuration.GetDurationMs("server.writer-id.expiration-time");
  tablet.min_isr = static_cast<size_t>(configuration.GetInt("log.replica.min-in-sync-replicas-number"));
  tablet.recovery_checkpoint_interval = Milliseconds(configuration, "log.flush.offset.checkpoint-interval");
  tablet.high_watermark_checkpoint_interval = Milliseconds(configuration, "log.replica.high-watermark.checkpoint-interval");
  tablet.retention_check_interval = Milliseconds(configuration, "log.retention.check-interval");
  tablet.writer_expiry_check_interval = Milliseconds(configuration, "server.writer-id.expiration-check-interval");
  tablet.disk_check_interval = Milliseconds(configuration, "server.data-disk.check-interval");

  coordinator::CoordinatorOptions& coordinator = options.coordinator;
  coordinator.default_bucket_number = static_cast<int32_t>(configuration.GetInt("default.bucket.number"));
  coordinator.default_replication_factor = static_cast<int32_t>(configuration.GetInt("default.replication.factor"));
  coordinator.max_partition_num = static_cast<int32_t>(configuration.GetInt("max.partition.num"));
  coordinator.max_bucket_num = static_cast<int32_t>(configuration.GetInt("max.bucket.num"));
  coordinator.allow_create_log_tables = configuration.GetBool("allow.create.log.tables");
  coordinator.auto_partition_check_interval = Milliseconds(configuration, "auto-partition.check.interval");
  options.configuration = std::move(configuration);
  return options;
}

}  // namespace strom::server
