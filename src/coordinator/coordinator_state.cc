#include "coordinator/coordinator_state.h"

#include "base/log.h"
#include "meta/paths.h"
#include "model/dynamic_config.h"
#include "model/table_validation.h"

namespace strom::coordinator {
namespace {

template <typename T>
void AppendAll(std::vector<T>* to, std::vector<T> from) {
  for (T& each : from) to->push_back(std::move(each));
}

}  // namespace

void Outcome::Merge(Outcome other) {
  writes.Append(std::move(other.writes));
  AppendAll(&notify, std::move(other.notify));
  AppendAll(&await, std::move(other.await));
  AppendAll(&stops, std::move(other.stops));
  AppendAll(&deletions, std::move(other.deletions));
}

CoordinatorState::CoordinatorState(const CoordinatorOptions* options, CoordinatorEpoch epoch, LoadedContext loaded, uint64_t seed)
    : options_(options),
      epoch_(epoch),
      random_(seed),
      editor_(std::move(loaded.catalog)),
      next_table_id_(loaded.next_table_id),
      next_partition_id_(loaded.next_partition_id),
      next_writer_id_(loaded.next_writer_id),
      half_made_tables_(std::move(loaded.half_made_tables)) {
  editor_.SetCoordinator(epoch, options->endpoints);
  editor_.SetRemoteDataDir(options->remote_data_dir);
  SetConfig(loaded.config);
  view().ForEachTable([this](const meta::TableEntry& table) { NoteAutoPartition(*table.info); });
}

void CoordinatorState::SetConfig(const meta::ConfigMap& config) {
  std::vector<meta::ConfigValue> values;
  for (model::ConfigEntry& entry : model::DescribeConfig(options_->configuration, config)) {
    values.push_back({std::move(entry.key), std::move(entry.value), entry.is_dynamic});
  }
  editor_.SetClusterConfig(std::move(values));
}

std::pair<int64_t, Outcome> CoordinatorState::ReserveWriterIds(int64_t count) {
  const int64_t first = next_writer_id_;
  next_writer_id_ += count;
  Outcome outcome;
  outcome.writes.Put(meta::paths::kWriterCounter, meta::EncodeCounter(next_writer_id_));
  return {first, std::move(outcome)};
}

Result<Outcome> CoordinatorState::Apply(const CreateDatabase& command, TimestampMs now) {
  STROM_TRY(model::ValidateName("database", command.name, ErrorCode::kInvalidDatabase));
  if (view().FindDatabase(command.name) != nullptr) {
    if (command.ignore_if_exists) return Outcome();
    return MakeError(ErrorCode::kDatabaseAlreadyExist, "database {} exists already", command.name);
  }
  Outcome outcome;
  outcome.writes.Create(meta::paths::Database(command.name), meta::ToJson(meta::DatabaseRecord{command.descriptor, now, now}));
  editor_.PutDatabase(command.name, command.descriptor, now, now);
  return outcome;
}

Result<Outcome> CoordinatorState::Apply(const AlterDatabase& command, TimestampMs now) {
  const meta::DatabaseEntry* database = view().FindDatabase(command.name);
  if (database == nullptr) {
    if (command.ignore_if_not_exists) return Outcome();
    return MakeError(ErrorCode::kDatabaseNotExist, "database {} does not exist", command.name);
  }
  STROM_ASSIGN(model::DatabaseDescriptor descriptor,
               model::AlterDatabase(database->descriptor, command.changes, command.comment));
  const TimestampMs created = database->created_time;
  Outcome outcome;
  outcome.writes.Set(meta::paths::Database(command.name), meta::ToJson(meta::DatabaseRecord{descriptor, created, now}));
  editor_.PutDatabase(command.name, std::move(descriptor), created, now);
  return outcome;
}

Result<Outcome> CoordinatorState::Apply(const DropDatabase& command, TimestampMs) {
  const meta::DatabaseEntry* database = view().FindDatabase(command.name);
  if (database == nullptr) {
    if (command.ignore_if_not_exists) return Outcome();
    return MakeError(ErrorCode::kDatabaseNotExist, "database {} does not exist", command.name);
  }
  if (command.name == model::kDefaultDatabase) {
    return MakeError(ErrorCode::kInvalidDatabase, "database {} is the default database and cannot be dropped", command.name);
  }
  const std::vector<std::string> tables = database->TableNames();
  if (!tables.empty() && !command.cascade) {
    return MakeError(ErrorCode::kDatabaseNotEmpty, "database {} has {} tables ({}, ...); drop them first, or drop with cascade",
                     command.name, tables.size(), tables.front());
  }
  Outcome outcome;
  for (const std::string& name : tables) {
    // Hold the entry: removing it from the catalog must not free it.
    const TableId id = view().FindTable(model::TablePath{command.name, name})->info->table_id;
    const std::shared_ptr<const meta::TableEntry> table = view().ShareTable(id);
    outcome.Merge(RemoveTable(*table));
  }
  outcome.writes.DeleteTree(meta::paths::Database(command.name));
  std::erase_if(half_made_tables_, [&](const std::string& path) {
    return path.starts_with(meta::paths::Database(command.name) + "/");
  });
  editor_.RemoveDatabase(command.name);
  return outcome;
}

Outcome CoordinatorState::AddTabletServer(const meta::ServerEntry& server, TimestampMs now) {
  Outcome outcome;
  const std::string path = meta::paths::TabletServer(server.id);
  outcome.writes.DeleteTree(path);
  outcome.writes.Create(path, meta::ToJson(meta::TabletServerRecord{server.endpoints, now, server.rack}), true);
  editor_.PutServer(server);

  std::vector<std::shared_ptr<const meta::TableEntry>> tables;
  view().ForEachTable([&](const meta::TableEntry& table) { tables.push_back(view().ShareTable(table.info->table_id)); });
  for (const auto& table : tables) {
    auto next = std::make_shared<meta::TableEntry>(*table);
    bool changed = false;
    const auto elect = [&](std::optional<PartitionId> partition, std::vector<meta::BucketState>* buckets) {
      for (size_t i = 0; i < buckets->size(); ++i) {
        if (!Elect(server.id, &(*buckets)[i])) continue;
        const model::TableBucket id{table->info->table_id, partition, BucketId(static_cast<int32_t>(i))};
        outcome.writes.Put(meta::paths::LeaderAndIsr(id), meta::ToJson((*buckets)[i].state));
        outcome.notify.push_back(id);
        changed = true;
      }
    };
    elect(std::nullopt, &next->buckets);
    for (auto& [name, partition] : next->partitions) {
      auto next_partition = std::make_shared<meta::PartitionEntry>(*partition);
      elect(partition->id, &next_partition->buckets);
      partition = std::move(next_partition);
    }
    if (changed) editor_.PutTable(std::move(next));
  }
  outcome.await = outcome.notify;
  return outcome;
}

}  // namespace strom::coordinator
