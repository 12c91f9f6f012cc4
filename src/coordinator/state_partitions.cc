#include "base/log.h"
#include "coordinator/auto_partition_plan.h"
#include "coordinator/coordinator_state.h"
#include "coordinator/table_building.h"
#include "meta/paths.h"
#include "meta/system_partition.h"

namespace strom::coordinator {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr uint64_t kDayDelayMinutes = 23 * 60;

Result<const meta::TableEntry*> RequireTable(const meta::Catalog& catalog, const model::TablePath& path) {
  const meta::TableEntry* table = catalog.FindTable(path);
  if (table == nullptr) return MakeError(ErrorCode::kTableNotExist, "table {} does not exist", path.ToString());
  return table;
}

}  // namespace

Result<Outcome> CoordinatorState::Apply(const CreatePartition& command, TimestampMs now) {
  STROM_ASSIGN(const meta::TableEntry* table, RequireTable(view(), command.path));
  const model::TableInfo& info = *table->info;
  STROM_ASSIGN(const model::ResolvedPartitionSpec spec,
               model::ResolvePartitionSpec(info.path, info.descriptor.partition_keys, command.spec, true));
  const std::string name = spec.Name();
  if (const meta::PartitionEntry* partition = table->FindPartition(name)) {
    if (!command.ignore_if_exists) {
      return MakeError(ErrorCode::kPartitionAlreadyExists, "partition '{}' of table {} exists already", name,
                       info.path.ToString());
    }
    Outcome nothing;
    for (size_t i = 0; i < partition->buckets.size(); ++i) {
      nothing.await.push_back({info.table_id, partition->id, BucketId(static_cast<int32_t>(i))});
    }
    return nothing;
  }
  STROM_ASSIGN(const model::AutoPartition partitioning, model::ParseAutoPartition(info.descriptor.properties));
  STROM_TRY(model::CheckNewPartitionTime(partitioning, now, spec));
  return MakePartition(info.table_id, name, spec.values);
}

Result<Outcome> CoordinatorState::MakePartition(TableId table_id, const std::string& name,
                                                const std::vector<std::string>& values) {
  const meta::TableEntry& table = *view().FindTable(table_id);
  const model::TableInfo& info = *table.info;
  if (table.partitions.size() + 1 > static_cast<size_t>(options_->max_partition_num)) {
    return MakeError(ErrorCode::kPartitionMaxNum, "table {} has {} partitions, and the limit is {} (max.partition.num)",
                     info.path.ToString(), table.partitions.size(), options_->max_partition_num);
  }
  if (info.bucket_count() > options_->max_bucket_num) {
    return MakeError(ErrorCode::kBucketMaxNum, "a partition of table {} has {} buckets, and the limit is {} (max.bucket.num)",
                     info.path.ToString(), info.bucket_count(), options_->max_bucket_num);
  }
  auto partition = std::make_shared<meta::PartitionEntry>();
  STROM_ASSIGN(partition->buckets, NewBuckets(info.bucket_count(), info.config.replication_factor));
  partition->id = PartitionId(next_partition_id_++);
  partition->name = name;
  partition->values = values;
  partition->remote_data_dir = options_->remote_data_dir;

  Outcome outcome;
  outcome.writes.Put(meta::paths::kPartitionCounter, meta::EncodeCounter(next_partition_id_));
  WriteBuckets(table_id, partition->id, partition->buckets, &outcome);
  outcome.writes.Create(meta::paths::Partition(info.path, name),
                        meta::ToJson(meta::PartitionRecord{table_id, partition->id, partition->remote_data_dir}));
  auto entry = std::make_shared<meta::TableEntry>(table);
  entry->partitions[name] = std::move(partition);
  editor_.PutTable(std::move(entry));
  return outcome;
}

Result<Outcome> CoordinatorState::Apply(const DropPartition& command, TimestampMs) {
  STROM_ASSIGN(const meta::TableEntry* table, RequireTable(view(), command.path));
  const model::TableInfo& info = *table->info;
  STROM_ASSIGN(const model::ResolvedPartitionSpec spec,
               model::ResolvePartitionSpec(info.path, info.descriptor.partition_keys, command.spec, false));
  const std::string name = spec.Name();
  const meta::PartitionEntry* partition = table->FindPartition(name);
  if (partition == nullptr) {
    if (command.ignore_if_not_exists) return Outcome();
    return MakeError(ErrorCode::kPartitionNotExists, "partition '{}' of table {} does not exist", name, info.path.ToString());
  }
  if (meta::IsSystemPartition(*partition)) {
    return MakeError(ErrorCode::kPartitionSpecInvalid, "partition '{}' of table {} belongs to the system and cannot be dropped",
                     name, info.path.ToString());
  }
  return RemovePartition(info.table_id, name);
}

Outcome CoordinatorState::RemovePartition(TableId table_id, const std::string& name) {
  const meta::TableEntry& table = *view().FindTable(table_id);
  auto entry = std::make_shared<meta::TableEntry>(table);
  auto found = entry->partitions.find(name);
  const std::shared_ptr<const meta::PartitionEntry> partition = found->second;
  entry->partitions.erase(found);
  Outcome outcome;
  outcome.writes.DeleteTree(meta::paths::Partition(table.info->path, name));
  StopBuckets(table_id, partition->id, partition->buckets, &outcome);
  editor_.PutTable(std::move(entry));
  return outcome;
}

void CoordinatorState::NoteAutoPartition(const model::TableInfo& info) {
  Result<model::AutoPartition> parsed = model::ParseAutoPartition(info.descriptor.properties);
  if (!info.descriptor.is_partitioned() || !parsed.ok() || !parsed->enabled) {
    auto_tables_.erase(info.table_id);
    return;
  }
  AutoTable& table = auto_tables_.try_emplace(info.table_id, AutoTable{*parsed, -1}).first->second;
  table.partitioning = *parsed;
  if (table.delay_ms >= 0) return;
  const bool is_daily = table.partitioning.unit == model::PartitionTimeUnit::kDay;
  table.delay_ms = is_daily ? static_cast<int64_t>(random_.Below(kDayDelayMinutes)) * kMinuteMs : 0;
}

Outcome CoordinatorState::RunAutoPartitions(TimestampMs now, bool forced) {
  std::vector<TableId> tables;
  for (const auto& [id, table] : auto_tables_) tables.push_back(id);
  Outcome outcome;
  for (TableId id : tables) outcome.Merge(RunAutoPartition(id, now, forced));
  return outcome;
}

Outcome CoordinatorState::RunAutoPartition(TableId id, TimestampMs now, bool forced) {
  Outcome outcome;
  const auto found = auto_tables_.find(id);
  if (found == auto_tables_.end()) return outcome;
  const TimestampMs creation_now(now.value() - (forced ? 0 : found->second.delay_ms));
  const AutoPartitionPlan plan = PlanAutoPartitions(*view().FindTable(id), found->second.partitioning, now, creation_now,
                                                    static_cast<size_t>(options_->max_partition_num));
  const std::string path = view().FindTable(id)->info->path.ToString();
  for (const std::string& name : plan.drop) {
    outcome.Merge(RemovePartition(id, name));
    STROM_LOG_INFO("auto partition: table {} drops partition '{}'", path, name);
  }
  for (const std::string& name : plan.create) {
    Result<Outcome> made = MakePartition(id, name, PartitionValues(name));
    if (!made.ok()) {
      STROM_LOG_WARN("auto partition: table {} cannot make partition '{}', tried again later: {}", path, name,
                     made.error().message);
      break;
    }
    outcome.Merge(std::move(*made));
    STROM_LOG_INFO("auto partition: table {} makes partition '{}'", path, name);
  }
  return outcome;
}

}  // namespace strom::coordinator
