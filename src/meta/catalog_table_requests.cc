#include <algorithm>

#include "meta/catalog_requests.h"
#include "meta/system_partition.h"

namespace strom::meta {
namespace {

/// Whether the partition has the values that the (partial) spec asks for; kPartitionSpecInvalid when it names a key that is none.
Result<bool> Matches(const TableEntry& table, const PartitionEntry& partition, const rpc::PbPartitionSpec& spec) {
  const std::vector<std::string>& keys = table.info->descriptor.partition_keys;
  bool matches = true;
  for (const rpc::PbKeyValue& wanted : spec.partition_key_values) {
    const auto key = std::find(keys.begin(), keys.end(), wanted.key);
    const auto index = static_cast<size_t>(key - keys.begin());
    if (key == keys.end()) {
      return MakeError(ErrorCode::kPartitionSpecInvalid, "table {} has no partition key '{}'; its partition keys are {}",
                       table.info->path.ToString(), wanted.key, fmt::join(keys, ", "));
    }
    matches = matches && index < partition.values.size() && partition.values[index] == wanted.value;
  }
  return matches;
}

rpc::PbPartitionInfo ToInfo(const TableEntry& table, const PartitionEntry& partition) {
  const std::vector<std::string>& keys = table.info->descriptor.partition_keys;
  rpc::PbPartitionInfo info;
  info.partition_id = partition.id.value();
  for (size_t i = 0; i < keys.size() && i < partition.values.size(); ++i) {
    info.partition_spec.partition_key_values.push_back({keys[i], partition.values[i]});
  }
  if (!partition.remote_data_dir.empty()) info.remote_data_dir = partition.remote_data_dir;
  // Without it, the Java client of 1.0.0 asks for the table as well.
  info.bucket_count = static_cast<int32_t>(partition.buckets.size());
  return info;
}

}  // namespace

Result<rt::Pieces> AnswerTableExists(const Catalog& catalog, const rpc::TableExistsRequest& request) {
  rpc::TableExistsResponse response;
  response.exists = RequireTable(catalog, request.table_path).ok();
  return rpc::Encode(response);
}

Result<rt::Pieces> AnswerGetTableInfo(const Catalog& catalog, const rpc::GetTableInfoRequest& request) {
  STROM_ASSIGN(const TableEntry* table, RequireTable(catalog, request.table_path));
  const model::TableInfo& info = *table->info;
  rpc::GetTableInfoResponse response;
  response.table_id = info.table_id.value();
  response.schema_id = info.schema_id.value();
  response.table_json = info.descriptor_json;
  response.created_time = info.created_time.value();
  response.modified_time = info.modified_time.value();
  if (!info.remote_data_dir.empty()) response.remote_data_dir = info.remote_data_dir;
  return rpc::Encode(response);
}

Result<rt::Pieces> AnswerGetTableSchema(const Catalog& catalog, const rpc::GetTableSchemaRequest& request) {
  STROM_ASSIGN(const TableEntry* table, RequireTable(catalog, request.table_path));
  const SchemaId id = request.schema_id ? SchemaId(*request.schema_id) : table->info->schema_id;
  const auto schema = table->schemas.find(id);
  if (schema == table->schemas.end()) {
    return MakeError(ErrorCode::kSchemaNotExist, "table {} has no schema {}; its latest is {}", table->info->path.ToString(), id,
                     table->info->schema_id);
  }
  rpc::GetTableSchemaResponse response;
  response.schema_id = id.value();
  response.schema_json = schema->second->json;
  return rpc::Encode(response);
}

Result<rt::Pieces> AnswerListPartitionInfos(const Catalog& catalog, const rpc::ListPartitionInfosRequest& request) {
  STROM_ASSIGN(const TableEntry* table, RequireTable(catalog, request.table_path));
  if (!table->info->descriptor.is_partitioned()) {
    return MakeError(ErrorCode::kTableNotPartitioned, "table {} is not partitioned", table->info->path.ToString());
  }
  const bool with_system = request.include_system_partitions.value_or(false);
  const rpc::PbPartitionSpec spec = request.partial_partition_spec.value_or(rpc::PbPartitionSpec{});
  // A wrong key is an error also where there is no partition to compare it with.
  STROM_TRY(Matches(*table, PartitionEntry{}, spec));
  rpc::ListPartitionInfosResponse response;
  for (const auto& [name, partition] : table->partitions) {
    if (!with_system && IsSystemPartition(*partition)) continue;
    STROM_ASSIGN(const bool matches, Matches(*table, *partition, spec));
    if (matches) response.partitions_info.push_back(ToInfo(*table, *partition));
  }
  if (with_system) response.system_partitions_included = true;
  return rpc::Encode(response);
}

}  // namespace strom::meta
