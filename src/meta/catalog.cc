#include "meta/catalog.h"

#include <algorithm>

namespace strom::meta {

const Endpoint* FindEndpoint(const std::vector<Endpoint>& endpoints, std::string_view listener) {
  auto found = std::find_if(endpoints.begin(), endpoints.end(), [&](const Endpoint& each) { return each.listener == listener; });
  return found == endpoints.end() ? nullptr : &*found;
}

const PartitionEntry* TableEntry::FindPartition(std::string_view name) const {
  auto found = partitions.find(name);
  return found == partitions.end() ? nullptr : found->second.get();
}

const PartitionEntry* TableEntry::FindPartition(PartitionId id) const {
  for (const auto& [name, partition] : partitions) {
    if (partition->id == id) return partition.get();
  }
  return nullptr;
}

std::vector<std::string> DatabaseEntry::TableNames() const {
  std::vector<std::string> names;
  names.reserve(tables.size());
  tables.ForEach([&names](const std::string& table, const auto&) { names.push_back(table); });
  std::sort(names.begin(), names.end());
  return names;
}

const ServerEntry* Catalog::FindServer(ServerId id) const {
  for (const ServerEntry& server : tablet_servers_) {
    if (server.id == id) return &server;
  }
  return nullptr;
}

const DatabaseEntry* Catalog::FindDatabase(std::string_view name) const {
  const auto* found = databases_.Find(std::string(name));
  return found == nullptr ? nullptr : found->get();
}

std::vector<std::string> Catalog::DatabaseNames() const {
  std::vector<std::string> names;
  names.reserve(databases_.size());
  databases_.ForEach([&names](const std::string& name, const auto&) { names.push_back(name); });
  std::sort(names.begin(), names.end());
  return names;
}

const TableEntry* Catalog::FindTable(const model::TablePath& path) const {
  const DatabaseEntry* database = FindDatabase(path.database);
  if (database == nullptr) return nullptr;
  const auto* found = database->tables.Find(path.table);
  return found == nullptr ? nullptr : found->get();
}

const TableEntry* Catalog::FindTable(TableId id) const {
  const auto* found = tables_.Find(id);
  return found == nullptr ? nullptr : found->get();
}

std::shared_ptr<const TableEntry> Catalog::ShareTable(TableId id) const {
  const auto* found = tables_.Find(id);
  return found == nullptr ? nullptr : *found;
}

const TableEntry* Catalog::FindTableOfPartition(PartitionId id) const {
  const TableId* table = partitions_.Find(id);
  return table == nullptr ? nullptr : FindTable(*table);
}

const BucketState* Catalog::FindBucket(const model::TableBucket& bucket) const {
  const TableEntry* table = FindTable(bucket.table_id);
  if (table == nullptr) return nullptr;
  const std::vector<BucketState>* buckets = &table->buckets;
  if (bucket.partition_id) {
    const PartitionEntry* partition = table->FindPartition(*bucket.partition_id);
    if (partition == nullptr) return nullptr;
    buckets = &partition->buckets;
  }
  const auto index = static_cast<size_t>(bucket.bucket.value());
  return bucket.bucket.value() < 0 || index >= buckets->size() ? nullptr : &(*buckets)[index];
}

void CatalogEditor::SetCoordinator(CoordinatorEpoch epoch, std::vector<Endpoint> endpoints) {
  next_.coordinator_epoch_ = epoch;
  next_.coordinator_endpoints_ = std::move(endpoints);
}

void CatalogEditor::SetClusterConfig(std::vector<ConfigValue> config) {
  std::sort(config.begin(), config.end(), [](const ConfigValue& a, const ConfigValue& b) { return a.key < b.key; });
  next_.cluster_config_ = std::make_shared<std::vector<ConfigValue>>(std::move(config));
}

void CatalogEditor::PutServer(ServerEntry server) {
  RemoveServer(server.id);
  auto& servers = next_.tablet_servers_;
  auto place = std::upper_bound(servers.begin(), servers.end(), server.id,
                                [](ServerId id, const ServerEntry& each) { return id < each.id; });
  servers.insert(place, std::move(server));
}

void CatalogEditor::RemoveServer(ServerId id) {
  std::erase_if(next_.tablet_servers_, [id](const ServerEntry& each) { return each.id == id; });
}

void CatalogEditor::PutDatabase(std::string name, model::DatabaseDescriptor descriptor, TimestampMs created,
                                TimestampMs modified) {
  auto database = std::make_shared<DatabaseEntry>();
  if (const DatabaseEntry* old = next_.FindDatabase(name)) database->tables = old->tables;
  database->name = name;
  database->descriptor = std::move(descriptor);
  database->created_time = created;
  database->modified_time = modified;
  next_.databases_.Set(name, std::move(database));
}

void CatalogEditor::RemoveDatabase(std::string_view name) {
  const DatabaseEntry* database = next_.FindDatabase(name);
  if (database == nullptr) return;
  std::vector<TableId> ids;
  database->tables.ForEach([&ids](const std::string&, const auto& table) { ids.push_back(table->info->table_id); });
  for (TableId id : ids) RemoveTable(id);
  next_.databases_.Erase(std::string(name));
}

void CatalogEditor::PutTable(std::shared_ptr<const TableEntry> table) {
  const model::TableInfo& info = *table->info;
  const DatabaseEntry* old_database = next_.FindDatabase(info.path.database);
  STROM_ASSERT(old_database != nullptr, "table {} in a database that is not there", info.path.ToString());
  // Hold the entry of before: replacing it below must not free what we still look at.
  std::shared_ptr<const TableEntry> before = next_.ShareTable(info.table_id);
  IndexPartitions(before.get(), table.get());
  auto database = std::make_shared<DatabaseEntry>(*old_database);
  database->tables.Set(info.path.table, table);
  next_.databases_.Set(info.path.database, std::move(database));
  next_.tables_.Set(info.table_id, std::move(table));
}

void CatalogEditor::RemoveTable(TableId id) {
  std::shared_ptr<const TableEntry> table = next_.ShareTable(id);
  if (table == nullptr) return;
  IndexPartitions(table.get(), nullptr);
  next_.tables_.Erase(id);
  const model::TablePath& path = table->info->path;
  const DatabaseEntry* old_database = next_.FindDatabase(path.database);
  const auto* named = old_database == nullptr ? nullptr : old_database->tables.Find(path.table);
  // A table that was made again under the name stays.
  if (named == nullptr || (*named)->info->table_id != id) return;
  auto database = std::make_shared<DatabaseEntry>(*old_database);
  database->tables.Erase(path.table);
  next_.databases_.Set(path.database, std::move(database));
}

void CatalogEditor::IndexPartitions(const TableEntry* before, const TableEntry* after) {
  // Most changes of a table with many partitions touch one of them: entries that stayed are the same pointers.
  if (before != nullptr) {
    for (const auto& [name, partition] : before->partitions) {
      if (after == nullptr || after->FindPartition(name) == nullptr || after->FindPartition(name)->id != partition->id) {
        next_.partitions_.Erase(partition->id);
      }
    }
  }
  if (after == nullptr) return;
  for (const auto& [name, partition] : after->partitions) {
    const TableId* owner = next_.partitions_.Find(partition->id);
    if (owner == nullptr) next_.partitions_.Set(partition->id, after->info->table_id);
  }
}

std::shared_ptr<const Catalog> CatalogEditor::Build() {
  ++next_.version_;
  return std::make_shared<const Catalog>(next_);
}

}  // namespace strom::meta
