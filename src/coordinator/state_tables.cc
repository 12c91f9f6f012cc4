#include "coordinator/coordinator_state.h"
#include "coordinator/table_building.h"
#include "meta/paths.h"
#include "model/table_validation.h"

namespace strom::coordinator {
namespace {

constexpr SchemaId kFirstSchema{1};

Error TableMissing(const model::TablePath& path) {
  return MakeError(ErrorCode::kTableNotExist, "table {} does not exist", path.ToString());
}

meta::TableRecord NewRecord(const model::TableDescriptor& descriptor, TableId id, const std::string& remote_data_dir,
                            TimestampMs now) {
  meta::TableRecord record;
  record.table_id = id;
  record.comment = descriptor.comment;
  record.partition_keys = descriptor.partition_keys;
  record.bucket_keys = descriptor.bucket_keys;
  record.bucket_count = descriptor.bucket_count.value_or(1);
  record.properties = descriptor.properties;
  record.custom_properties = descriptor.custom_properties;
  record.remote_data_dir = remote_data_dir;
  record.created_time = now;
  record.modified_time = now;
  return record;
}

}  // namespace

Status CoordinatorState::CheckMayCreate(const CreateTable& command) const {
  if (view().FindDatabase(command.path.database) == nullptr) {
    return MakeError(ErrorCode::kDatabaseNotExist, "database {} does not exist", command.path.database);
  }
  if (view().FindTable(command.path) != nullptr && !command.ignore_if_exists) {
    return MakeError(ErrorCode::kTableAlreadyExist, "table {} exists already", command.path.ToString());
  }
  return Status::OK();
}

Result<Outcome> CoordinatorState::Apply(const CreateTable& command, TimestampMs now) {
  STROM_TRY(model::ValidateName("table", command.path.table, ErrorCode::kInvalidTable));
  model::CreateDefaults defaults;
  defaults.bucket_count = options_->default_bucket_number;
  defaults.replication_factor = options_->default_replication_factor;
  defaults.live_servers = static_cast<int32_t>(view().tablet_servers().size());
  defaults.buckets_max = options_->max_bucket_num;
  defaults.allow_log_tables = options_->allow_create_log_tables;
  STROM_ASSIGN(model::TableDescriptor descriptor, model::PrepareNewTable(command.descriptor, defaults));
  if (descriptor.schema.has_primary_key()) {
    return MakeError(ErrorCode::kInvalidTable, "table {}: primary-key tables arrive with step 2 of this server",
                     command.path.ToString());
  }
  STROM_TRY(CheckMayCreate(command));
  if (const meta::TableEntry* table = view().FindTable(command.path)) {
    Outcome nothing;
    for (size_t i = 0; i < table->buckets.size(); ++i) {
      nothing.await.push_back({table->info->table_id, std::nullopt, BucketId(static_cast<int32_t>(i))});
    }
    return nothing;
  }
  const TableId id(next_table_id_);
  meta::TableRecord record = NewRecord(descriptor, id, options_->remote_data_dir, now);
  STROM_ASSIGN(auto info, MakeTableInfo(command.path, record, kFirstSchema, descriptor.schema, options_->remote_data_dir));
  std::vector<meta::BucketState> buckets;
  if (!descriptor.is_partitioned()) {
    STROM_ASSIGN(buckets, NewBuckets(info->bucket_count(), info->config.replication_factor));
  }
  Outcome outcome = MakeTable(command, std::move(descriptor), std::move(record), std::move(info), std::move(buckets));
  outcome.Merge(RunAutoPartition(id, now, true));
  return outcome;
}

Outcome CoordinatorState::MakeTable(const CreateTable& command, model::TableDescriptor descriptor, meta::TableRecord record,
                                    std::shared_ptr<const model::TableInfo> info, std::vector<meta::BucketState> buckets) {
  const std::string path = meta::paths::Table(command.path);
  Outcome outcome;
  if (half_made_tables_.erase(path) > 0) outcome.writes.DeleteTree(path);
  outcome.writes.Put(meta::paths::kTableCounter, meta::EncodeCounter(++next_table_id_));
  outcome.writes.Create(path, meta::ToJson(record));
  outcome.writes.Create(meta::paths::TableSchema(command.path, kFirstSchema), model::ToJson(descriptor.schema));
  if (!info->descriptor.is_partitioned()) WriteBuckets(info->table_id, std::nullopt, buckets, &outcome);

  auto entry = std::make_shared<meta::TableEntry>();
  entry->schemas[kFirstSchema] = MakeSchemaEntry(std::move(descriptor.schema));
  entry->buckets = std::move(buckets);
  entry->info = std::move(info);
  NoteAutoPartition(*entry->info);
  editor_.PutTable(std::move(entry));
  return outcome;
}

Result<Outcome> CoordinatorState::Apply(const AlterTable& command, TimestampMs now) {
  const meta::TableEntry* table = view().FindTable(command.path);
  if (table == nullptr) {
    if (command.ignore_if_not_exists) return Outcome();
    return TableMissing(command.path);
  }
  const model::TableInfo& info = *table->info;
  const TableId id = info.table_id;
  Outcome outcome;
  if (!command.add_columns.empty()) {
    STROM_ASSIGN(model::TableDescriptor descriptor, model::AlterSchema(info.descriptor, command.add_columns));
    const SchemaId next(info.schema_id.value() + 1);
    meta::TableRecord record = meta::TableRecord::Of(info);
    STROM_ASSIGN(auto changed, MakeTableInfo(info.path, record, next, descriptor.schema, options_->remote_data_dir));
    std::shared_ptr<const meta::SchemaEntry> schema = MakeSchemaEntry(std::move(descriptor.schema));
    outcome.writes.Create(meta::paths::TableSchema(command.path, next), schema->json);
    ReplaceTable(*table, std::move(changed), next, std::move(schema));
    return outcome;
  }
  if (command.changes.empty()) return outcome;
  STROM_ASSIGN(model::TableDescriptor descriptor, model::AlterProperties(info.descriptor, command.changes));
  meta::TableRecord record = meta::TableRecord::Of(info);
  record.properties = std::move(descriptor.properties);
  record.custom_properties = std::move(descriptor.custom_properties);
  record.modified_time = now;
  STROM_ASSIGN(auto changed,
               MakeTableInfo(info.path, record, info.schema_id, info.descriptor.schema, options_->remote_data_dir));
  outcome.writes.Set(meta::paths::Table(command.path), meta::ToJson(record));
  ReplaceTable(*table, std::move(changed), info.schema_id, nullptr);
  outcome.Merge(RunAutoPartition(id, now, true));
  return outcome;
}

void CoordinatorState::ReplaceTable(const meta::TableEntry& before, std::shared_ptr<const model::TableInfo> info,
                                    SchemaId schema_id, std::shared_ptr<const meta::SchemaEntry> schema) {
  auto entry = std::make_shared<meta::TableEntry>(before);
  entry->info = std::move(info);
  if (schema != nullptr) entry->schemas[schema_id] = std::move(schema);
  NoteAutoPartition(*entry->info);
  editor_.PutTable(std::move(entry));
}

Result<Outcome> CoordinatorState::Apply(const DropTable& command, TimestampMs) {
  const meta::TableEntry* table = view().FindTable(command.path);
  if (table == nullptr) {
    if (command.ignore_if_not_exists) return Outcome();
    return TableMissing(command.path);
  }
  const std::shared_ptr<const meta::TableEntry> held = view().ShareTable(table->info->table_id);
  return RemoveTable(*held);
}

Outcome CoordinatorState::RemoveTable(const meta::TableEntry& table) {
  const TableId id = table.info->table_id;
  Outcome outcome;
  outcome.writes.DeleteTree(meta::paths::Table(table.info->path));
  if (table.info->descriptor.is_partitioned()) {
    // Nothing hangs on the table's own node but what was known of the lake.
    outcome.writes.DeleteTree(meta::paths::Assignment(id, std::nullopt));
    for (const auto& [name, partition] : table.partitions) StopBuckets(id, partition->id, partition->buckets, &outcome);
  } else {
    StopBuckets(id, std::nullopt, table.buckets, &outcome);
  }
  auto_tables_.erase(id);
  editor_.RemoveTable(id);
  return outcome;
}

}  // namespace strom::coordinator
