#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/commands.h"
#include "coordinator/tablet_gateway.h"
#include "meta/catalog.h"
#include "meta/meta_store.h"
#include "meta/records.h"
#include "model/configuration.h"
#include "rt/task.h"
#include "rt/time.h"

namespace strom::coordinator {

struct CoordinatorOptions {
  std::vector<meta::Endpoint> endpoints;  // of the coordinator itself, per listener
  std::string remote_data_dir;            // URI

  int32_t default_bucket_number = 1;       // default.bucket.number
  int32_t default_replication_factor = 1;  // default.replication.factor
  int32_t max_partition_num = 1000;        // max.partition.num, of one table
  int32_t max_bucket_num = 4096;           // max.bucket.num, of one table or partition
  bool allow_create_log_tables = true;     // allow.create.log.tables
  rt::Duration auto_partition_check_interval = std::chrono::minutes(10);  // auto-partition.check.interval
  /// How long a creation waits for its buckets to serve before it answers anyway (design.md 5).
  rt::Duration serve_wait_max = std::chrono::seconds(5);
  uint64_t seed = 0;  // of assignment and of the random delay of DAY partitions; 0: from the clock

  /// The server's own configuration, for DescribeClusterConfigs and as what dynamic options fall back to. Set what the server decided by
  /// itself, too (bind.listeners).
  model::Configuration configuration;
  /// Called on shard 0 with the whole dynamic configuration: at start and, once it is durable, after each change. Optional.
  std::function<void(const meta::ConfigMap&)> on_dynamic_config;
};

/// Owns the metadata: one per cluster, on shard 0. Every public verb is called on shard 0 (others: rt::CallOn(0, ...)) and may
/// run at the same time as others: changes are put in order inside, their fsyncs are shared.
///
/// What it guarantees: a change is durable, then published to all shards (TabletGateway::PublishCatalog), then told to tablet
/// servers, then answered. Every start has a higher coordinator epoch, and gives every bucket a new leader epoch. Store writes
/// are fenced by the version of /coordinators/epoch; once that check fails the coordinator is deposed and refuses everything with
/// kNotCoordinatorLeader.
class Coordinator {
 public:
  /// Fences off earlier coordinators, loads the metadata, makes the database "fluss" if there is none and publishes the first catalog (without
  /// tablet servers). `store` and `gateway` outlive the coordinator.
  static rt::Task<Result<std::unique_ptr<Coordinator>>> Start(CoordinatorOptions options, meta::MetaStore* store,
                                                              TabletGateway* gateway);
  virtual ~Coordinator() = default;
  /// Ends background work. Nothing may be called after it.
  virtual rt::Task<void> Stop() = 0;

  /// A tablet server has come (for the one of this process: when its logs are loaded and its listener is open). It becomes part of
  /// the catalog, leads the buckets that it should, and has been told so when this returns.
  virtual rt::Task<Status> AddTabletServer(meta::ServerEntry server) = 0;

  virtual rt::Task<Status> Execute(CreateDatabase command) = 0;
  virtual rt::Task<Status> Execute(AlterDatabase command) = 0;
  virtual rt::Task<Status> Execute(DropDatabase command) = 0;
  /// Answers when the buckets of the table have leaders that serve, or after `serve_wait_max`.
  virtual rt::Task<Status> Execute(CreateTable command) = 0;
  virtual rt::Task<Status> Execute(AlterTable command) = 0;
  /// The name is free at once; the data goes in the background, by id.
  virtual rt::Task<Status> Execute(DropTable command) = 0;
  virtual rt::Task<Status> Execute(CreatePartition command) = 0;
  virtual rt::Task<Status> Execute(DropPartition command) = 0;
  /// All of them or none (spec/server.md 15.3).
  virtual rt::Task<Status> AlterClusterConfigs(std::vector<model::PropertyChange> changes) = 0;

  /// A writer id that was never given out before, over restarts too.
  virtual rt::Task<Result<WriterId>> NewWriterId() = 0;
  virtual ClusterHealth Health() const = 0;

  /// The newest catalog that is published.
  virtual std::shared_ptr<const meta::Catalog> catalog() const = 0;
};

}  // namespace strom::coordinator
