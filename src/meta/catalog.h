#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meta/cow_map.h"
#include "model/leader_and_isr.h"
#include "model/table_bucket.h"
#include "model/table_descriptor.h"
#include "model/table_path.h"

namespace strom::meta {

/// Where a server listens under one listener's name.
struct Endpoint {
  std::string listener;
  std::string host;
  int32_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

/// The endpoint of `listener`, or null: such a server is left out of answers on that listener (spec/wire-protocol.md 4.4).
const Endpoint* FindEndpoint(const std::vector<Endpoint>& endpoints, std::string_view listener);

/// An alive tablet server.
struct ServerEntry {
  ServerId id;
  std::vector<Endpoint> endpoints;
  std::optional<std::string> rack;
};

/// One bucket: its replicas in order of preference, and who leads. `state.leader == kNoLeader`: nobody yet.
struct BucketState {
  std::vector<ServerId> replicas;
  model::LeaderAndIsr state;
};

/// A partition of a table. Immutable.
struct PartitionEntry {
  PartitionId id;
  std::string name;                 // values joined by '$'
  std::vector<std::string> values;  // in the order of the table's partition keys
  std::string remote_data_dir;
  std::vector<BucketState> buckets;  // index = bucket id
};

struct SchemaEntry {
  model::Schema schema;
  std::string json;  // ToJson(schema), made once
};

/// A table with all that is known of it. Immutable; replaced whole when something changes.
struct TableEntry {
  std::shared_ptr<const model::TableInfo> info;
  std::map<SchemaId, std::shared_ptr<const SchemaEntry>> schemas;  // all that it ever had
  std::vector<BucketState> buckets;                                // index = bucket id; empty for a partitioned table
  std::map<std::string, std::shared_ptr<const PartitionEntry>, std::less<>> partitions;  // by name

  const PartitionEntry* FindPartition(std::string_view name) const;
  const PartitionEntry* FindPartition(PartitionId id) const;
};

struct DatabaseEntry {
  std::string name;
  model::DatabaseDescriptor descriptor;
  TimestampMs created_time;
  TimestampMs modified_time;
  CowMap<std::string, std::shared_ptr<const TableEntry>> tables;

  std::vector<std::string> TableNames() const;  // sorted
};

/// One cluster option as DescribeClusterConfigs shows it; secrets are blanked out already.
struct ConfigValue {
  std::string key;
  std::optional<std::string> value;
  bool dynamic = false;
};

/// All metadata of the cluster at one moment. Immutable, shared by all shards, replaced whole after each change
/// (CatalogEditor). Pointers that it gives out live as long as it does: hold the shared_ptr.
class Catalog {
 public:
  /// Grows with every change.
  uint64_t version() const { return version_; }
  CoordinatorEpoch coordinator_epoch() const { return coordinator_epoch_; }

  /// Empty: not known.
  const std::vector<Endpoint>& coordinator_endpoints() const { return coordinator_endpoints_; }
  /// The alive ones, by id.
  const std::vector<ServerEntry>& tablet_servers() const { return tablet_servers_; }
  const ServerEntry* FindServer(ServerId id) const;

  const DatabaseEntry* FindDatabase(std::string_view name) const;
  std::vector<std::string> DatabaseNames() const;  // sorted
  const TableEntry* FindTable(const model::TablePath& path) const;
  const TableEntry* FindTable(TableId id) const;
  /// Shared ownership of the same entry, for who changes it or keeps it.
  std::shared_ptr<const TableEntry> ShareTable(TableId id) const;
  /// The table that owns a partition, or null.
  const TableEntry* FindTableOfPartition(PartitionId id) const;
  /// Null when the table, the partition or the bucket is not there.
  const BucketState* FindBucket(const model::TableBucket& bucket) const;

  size_t table_count() const { return tables_.size(); }
  /// No order.
  template <typename F>
  void ForEachTable(F&& function) const {
    tables_.ForEach([&function](TableId, const std::shared_ptr<const TableEntry>& table) { function(*table); });
  }

  /// Cluster options by key, for DescribeClusterConfigs.
  const std::vector<ConfigValue>& cluster_config() const { return *cluster_config_; }
  /// Where remote files are, as a URI ("file:///..."); its scheme goes into GetFileSystemSecurityToken.
  const std::string& remote_data_dir() const { return remote_data_dir_; }

 private:
  friend class CatalogEditor;

  uint64_t version_ = 0;
  CoordinatorEpoch coordinator_epoch_;
  std::vector<Endpoint> coordinator_endpoints_;
  std::vector<ServerEntry> tablet_servers_;
  CowMap<std::string, std::shared_ptr<const DatabaseEntry>> databases_;
  CowMap<TableId, std::shared_ptr<const TableEntry>> tables_;
  CowMap<PartitionId, TableId> partitions_;
  std::shared_ptr<const std::vector<ConfigValue>> cluster_config_ = std::make_shared<std::vector<ConfigValue>>();
  std::string remote_data_dir_;
};

/// Makes the next catalog from one before it. What did not change is shared: the cost is that of the change.
class CatalogEditor {
 public:
  CatalogEditor() = default;
  explicit CatalogEditor(const Catalog& base) : next_(base) {}

  void SetCoordinator(CoordinatorEpoch epoch, std::vector<Endpoint> endpoints);
  void SetRemoteDataDir(std::string uri) { next_.remote_data_dir_ = std::move(uri); }
  void SetClusterConfig(std::vector<ConfigValue> config);
  void PutServer(ServerEntry server);
  void RemoveServer(ServerId id);

  /// Makes or changes a database; its tables stay.
  void PutDatabase(std::string name, model::DatabaseDescriptor descriptor, TimestampMs created, TimestampMs modified);
  /// With all its tables.
  void RemoveDatabase(std::string_view name);
  /// Makes or replaces the table of that id. Its database must be there.
  void PutTable(std::shared_ptr<const TableEntry> table);
  void RemoveTable(TableId id);

  /// What has been built so far, for looking at while editing.
  const Catalog& view() const { return next_; }
  /// The next catalog. The editor may go on from it.
  std::shared_ptr<const Catalog> Build();

 private:
  void IndexPartitions(const TableEntry* before, const TableEntry* after);

  Catalog next_;
};

}  // namespace strom::meta
