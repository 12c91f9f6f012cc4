#include <algorithm>

#include "meta/catalog_requests.h"

namespace strom::meta {
namespace {

/// The coordinator's id in metadata: clients keep coordinators and tablet servers apart by kind.
constexpr int32_t kCoordinatorNodeId = 0;

void AddBuckets(const std::vector<BucketState>& buckets, std::vector<rpc::PbBucketMetadata>* into) {
  into->reserve(buckets.size());
  for (size_t i = 0; i < buckets.size(); ++i) {
    const BucketState& bucket = buckets[i];
    rpc::PbBucketMetadata& entry = into->emplace_back();
    entry.bucket_id = static_cast<int32_t>(i);
    if (bucket.state.leader != kNoLeader) entry.leader_id = bucket.state.leader.value();
    for (ServerId replica : bucket.replicas) entry.replica_id.push_back(replica.value());
    entry.leader_epoch = bucket.state.leader_epoch.value();
  }
}

void AddTable(const TableEntry& table, rpc::MetadataResponse* response) {
  const model::TableInfo& info = *table.info;
  rpc::PbTableMetadata& entry = response->table_metadata.emplace_back();
  entry.table_path = {info.path.database, info.path.table};
  entry.table_id = info.table_id.value();
  entry.schema_id = info.schema_id.value();
  entry.table_json = info.descriptor_json;
  entry.created_time = info.created_time.value();
  entry.modified_time = info.modified_time.value();
  if (!info.remote_data_dir.empty()) entry.remote_data_dir = info.remote_data_dir;
  AddBuckets(table.buckets, &entry.bucket_metadata);
}

void AddPartition(const TableEntry& table, const PartitionEntry& partition, rpc::MetadataResponse* response) {
  rpc::PbPartitionMetadata& entry = response->partition_metadata.emplace_back();
  entry.table_id = table.info->table_id.value();
  entry.partition_name = partition.name;
  entry.partition_id = partition.id.value();
  AddBuckets(partition.buckets, &entry.bucket_metadata);
}

void AddServers(const Catalog& catalog, std::string_view listener, rpc::MetadataResponse* response) {
  if (const Endpoint* endpoint = FindEndpoint(catalog.coordinator_endpoints(), listener)) {
    rpc::PbServerNode& node = response->coordinator_server.emplace();
    node.node_id = kCoordinatorNodeId;
    node.host = endpoint->host;
    node.port = endpoint->port;
  }
  for (const ServerEntry& server : catalog.tablet_servers()) {
    const Endpoint* endpoint = FindEndpoint(server.endpoints, listener);
    if (endpoint == nullptr) continue;
    rpc::PbServerNode& node = response->tablet_servers.emplace_back();
    node.node_id = server.id.value();
    node.host = endpoint->host;
    node.port = endpoint->port;
    if (server.rack) node.rack = *server.rack;
  }
}

Status AddPartitionByPath(const Catalog& catalog, const rpc::PbPhysicalTablePath& path, rpc::MetadataResponse* response) {
  const TableEntry* table =
      catalog.FindTable(model::TablePath{std::string(path.database_name), std::string(path.table_name)});
  const std::string_view name = path.partition_name.value_or(std::string_view());
  const PartitionEntry* partition = table == nullptr ? nullptr : table->FindPartition(name);
  // 36 also for a partition of a missing table: it is what writers expect of a partition that may still be made.
  if (partition == nullptr) {
    return MakeError(ErrorCode::kPartitionNotExists, "partition '{}' of table {}.{} does not exist", name, path.database_name,
                     path.table_name);
  }
  AddPartition(*table, *partition, response);
  return Status::OK();
}

}  // namespace

Result<rt::Pieces> AnswerMetadata(const Catalog& catalog, const rpc::ConnectionInfo& connection,
                                  const rpc::MetadataRequest& request) {
  rpc::MetadataResponse response;
  AddServers(catalog, connection.listener_name, &response);
  for (const rpc::PbTablePath& path : request.table_path) {
    STROM_ASSIGN(const TableEntry* table, RequireTable(catalog, path));
    AddTable(*table, &response);
  }
  for (const rpc::PbPhysicalTablePath& path : request.partitions_path) {
    STROM_TRY(AddPartitionByPath(catalog, path, &response));
  }
  for (const int64_t raw_id : request.partitions_id) {
    const PartitionId id(raw_id);
    const TableEntry* table = catalog.FindTableOfPartition(id);
    const PartitionEntry* partition = table == nullptr ? nullptr : table->FindPartition(id);
    if (partition == nullptr) return MakeError(ErrorCode::kPartitionNotExists, "partition with id {} does not exist", id);
    AddPartition(*table, *partition, &response);
  }
  return rpc::Encode(response);
}

Result<rt::Pieces> AnswerGetLatestKvSnapshots(const Catalog& catalog, const rpc::GetLatestKvSnapshotsRequest& request) {
  STROM_ASSIGN(const TableEntry* table, RequireTable(catalog, request.table_path));
  const model::TableInfo& info = *table->info;
  if (!info.has_primary_key()) {
    return MakeError(ErrorCode::kNonPrimaryKeyTable, "table {} has no primary key, so it has no snapshots", info.path.ToString());
  }
  rpc::GetLatestKvSnapshotsResponse response;
  response.table_id = info.table_id.value();
  size_t buckets = table->buckets.size();
  if (request.partition_name) {
    if (!info.descriptor.is_partitioned()) {
      return MakeError(ErrorCode::kTableNotPartitioned, "table {} is not partitioned", info.path.ToString());
    }
    const PartitionEntry* partition = table->FindPartition(*request.partition_name);
    if (partition == nullptr) {
      return MakeError(ErrorCode::kPartitionNotExists, "partition '{}' of table {} does not exist", *request.partition_name,
                       info.path.ToString());
    }
    response.partition_id = partition->id.value();
    buckets = partition->buckets.size();
  } else if (info.descriptor.is_partitioned()) {
    return MakeError(ErrorCode::kPartitionNotExists, "table {} is partitioned: name the partition", info.path.ToString());
  }
  for (size_t i = 0; i < buckets; ++i) {
    response.latest_snapshots.emplace_back().bucket_id = static_cast<int32_t>(i);
  }
  return rpc::Encode(response);
}

Result<rt::Pieces> AnswerGetKvSnapshotMetadata(const Catalog&, const rpc::GetKvSnapshotMetadataRequest& request) {
  return MakeError(ErrorCode::kKvSnapshotNotExist, "bucket {} of table {} has no snapshot {}", request.bucket_id, request.table_id,
                   request.snapshot_id);
}

Result<rt::Pieces> AnswerGetLakeSnapshot(const Catalog& catalog, const rpc::GetLakeSnapshotRequest& request) {
  STROM_ASSIGN(const TableEntry* table, RequireTable(catalog, request.table_path));
  return MakeError(ErrorCode::kLakeSnapshotNotExist, "table {} has no lake snapshot", table->info->path.ToString());
}

Result<rt::Pieces> AnswerGetFileSystemSecurityToken(const Catalog& catalog) {
  const std::string& directory = catalog.remote_data_dir();
  const size_t scheme = directory.find("://");
  rpc::GetFileSystemSecurityTokenResponse response;
  response.schema = scheme == std::string::npos ? std::string_view("file") : std::string_view(directory).substr(0, scheme);
  return rpc::Encode(response);
}

Result<rt::Pieces> AnswerDescribeClusterConfigs(const Catalog& catalog) {
  rpc::DescribeClusterConfigsResponse response;
  for (const ConfigValue& each : catalog.cluster_config()) {
    rpc::PbDescribeConfig& entry = response.configs.emplace_back();
    entry.config_key = each.key;
    if (each.value) entry.config_value = *each.value;
    entry.config_source = each.dynamic ? "DYNAMIC_SERVER_CONFIG" : "INITIAL_SERVER_CONFIG";
  }
  return rpc::Encode(response);
}

}  // namespace strom::meta
