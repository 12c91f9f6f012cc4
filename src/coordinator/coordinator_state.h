#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordinator/commands.h"
#include "coordinator/coordinator.h"
#include "meta/catalog.h"
#include "meta/meta_store.h"
#include "meta/records.h"
#include "model/auto_partition.h"

namespace strom::coordinator {

/// A replica to stop on a server.
struct StopRequest {
  ServerId server;
  model::StopReplicaNotice notice;
};

/// Data of a dropped table or partition: its replicas are to be deleted everywhere, then its node below /tabletservers.
struct Deletion {
  std::string assignment_path;
  struct Replica {
    ServerId server;
    model::TableBucket bucket;
    LeaderEpoch leader_epoch;
  };
  std::vector<Replica> replicas;
};

/// What follows from one event: to be written, then published (the state's catalog), then told, then answered.
struct Outcome {
  meta::Transaction writes;
  std::vector<model::TableBucket> notify;  // the leader is to be told
  std::vector<model::TableBucket> await;   // the answer waits until these serve
  std::vector<StopRequest> stops;          // the answer waits for these
  std::vector<Deletion> deletions;         // in the background

  void Merge(Outcome other);
};

/// What the store says at the start (context_load.h).
struct LoadedContext {
  meta::CatalogEditor catalog;
  int64_t next_table_id = 0;
  int64_t next_partition_id = 0;
  int64_t next_writer_id = 0;
  std::optional<int32_t> config_version;    // of /config/server/global
  meta::ConfigMap config;
  std::vector<Deletion> deletions;          // drops that did not end
  std::set<std::string> half_made_tables;   // nodes of creations that did not end
};

/// The state machine: the metadata as it will be once everything that was planned is durable. Synchronous and without I/O; each verb is one step.
/// A verb that returns an error has changed nothing.
///
/// Invariants:
/// 1. Ids of tables and partitions only grow, and the counter is written in the transaction that uses the id (M6).
/// 2. A new record of a bucket has a higher bucket epoch; with another leader, or after a restart, a higher leader epoch (M2).
/// 3. The leader is in the ISR, the ISR in the assignment (M3).
class CoordinatorState {
 public:
  CoordinatorState(const CoordinatorOptions* options, CoordinatorEpoch epoch, LoadedContext loaded, uint64_t seed);

  Result<Outcome> Apply(const CreateDatabase& command, TimestampMs now);
  Result<Outcome> Apply(const AlterDatabase& command, TimestampMs now);
  Result<Outcome> Apply(const DropDatabase& command, TimestampMs now);
  Result<Outcome> Apply(const CreateTable& command, TimestampMs now);
  Result<Outcome> Apply(const AlterTable& command, TimestampMs now);
  Result<Outcome> Apply(const DropTable& command, TimestampMs now);
  Result<Outcome> Apply(const CreatePartition& command, TimestampMs now);
  Result<Outcome> Apply(const DropPartition& command, TimestampMs now);

  /// A tablet server has come (again): it leads what it should, under new leader epochs.
  Outcome AddTabletServer(const meta::ServerEntry& server, TimestampMs now);
  /// Makes and drops time partitions of all tables; what cannot be made now is logged.
  /// `forced`: at the start, without the delays of periodic runs.
  Outcome RunAutoPartitions(TimestampMs now, bool forced);
  /// The first writer id of `count` that nobody else gets.
  std::pair<int64_t, Outcome> ReserveWriterIds(int64_t count);
  /// The dynamic configuration is now this one (durable already).
  void SetConfig(const meta::ConfigMap& config);

  CoordinatorEpoch epoch() const { return epoch_; }
  const meta::Catalog& view() const { return editor_.view(); }
  std::shared_ptr<const meta::Catalog> BuildCatalog() { return editor_.Build(); }

 private:
  struct AutoTable {
    model::AutoPartition partitioning;
    int64_t delay_ms = 0;  // of periodic creation; DAY tables only
  };

  // state_tables.cc
  Status CheckMayCreate(const CreateTable& command) const;
  Outcome MakeTable(const CreateTable& command, model::TableDescriptor descriptor, meta::TableRecord record,
                    std::shared_ptr<const model::TableInfo> info, std::vector<meta::BucketState> buckets);
  Outcome RemoveTable(const meta::TableEntry& table);
  void ReplaceTable(const meta::TableEntry& before, std::shared_ptr<const model::TableInfo> info, SchemaId schema_id,
                    std::shared_ptr<const meta::SchemaEntry> schema);

  // state_partitions.cc
  Result<Outcome> MakePartition(TableId table, const std::string& name, const std::vector<std::string>& values);
  Outcome RemovePartition(TableId table, const std::string& name);
  /// `forced`: a table is new or has changed, so no delay.
  Outcome RunAutoPartition(TableId table, TimestampMs now, bool forced);
  void NoteAutoPartition(const model::TableInfo& info);

  // state_buckets.cc
  Result<std::vector<meta::BucketState>> NewBuckets(int32_t count, int32_t replication_factor);
  void WriteBuckets(TableId table, std::optional<PartitionId> partition, const std::vector<meta::BucketState>& buckets,
                    Outcome* outcome) const;
  /// Replicas to stop now, and to delete later.
  void StopBuckets(TableId table, std::optional<PartitionId> partition, const std::vector<meta::BucketState>& buckets,
                   Outcome* outcome) const;
  bool Elect(ServerId returned, meta::BucketState* bucket) const;

  const CoordinatorOptions* options_;
  CoordinatorEpoch epoch_;
  Random random_;
  meta::CatalogEditor editor_;
  int64_t next_table_id_;
  int64_t next_partition_id_;
  int64_t next_writer_id_;
  std::set<std::string> half_made_tables_;
  std::map<TableId, AutoTable> auto_tables_;
};

}  // namespace strom::coordinator
