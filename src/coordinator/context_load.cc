#include "coordinator/context_load.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/log.h"
#include "coordinator/table_building.h"
#include "meta/paths.h"
#include "meta/records.h"

namespace strom::coordinator {
namespace {

using Parts = std::vector<std::string_view>;

struct LoadedTable {
  std::optional<meta::TableRecord> record;  // nothing: a creation that did not end
  std::map<SchemaId, std::shared_ptr<const meta::SchemaEntry>> schemas;
  std::map<std::string, meta::PartitionRecord> partitions;
};

struct LoadedAssignment {
  std::string path;
  std::optional<meta::AssignmentRecord> record;
  std::map<int64_t, model::LeaderAndIsr> leaders;  // by bucket
};

Result<int64_t> ParseNumber(std::string_view text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 0) {
    return MakeError(ErrorCode::kCorruptData, "'{}' is no id", text);
  }
  return number;
}

class ContextLoader {
 public:
  explicit ContextLoader(const std::string& default_remote_dir) : default_remote_dir_(default_remote_dir) {}

  Status Take(const meta::NodeEntry& entry) {
    Status taken = TakeNode(entry);
    if (taken.ok()) return taken;
    return MakeError(ErrorCode::kCorruptData, "metadata node {} cannot be read: {}", entry.path, taken.error().message);
  }

  Result<LoadedContext> Finish() {
    for (const auto& [name, record] : databases_) {
      context_.catalog.PutDatabase(name, record.descriptor, record.created_time, record.modified_time);
    }
    for (auto& [path, table] : tables_) {
      Status added = AddTable(path, table);
      if (!added.ok()) {
        return MakeError(ErrorCode::kCorruptData, "table {} cannot be loaded: {}", path.ToString(), added.error().message);
      }
    }
    AddDeletions();
    return std::move(context_);
  }

 private:
  Status TakeNode(const meta::NodeEntry& entry) {
    const Parts parts = meta::paths::Split(entry.path);
    const std::string& data = entry.node.data;
    if (entry.path == meta::paths::kTableCounter) return TakeCounter(data, &context_.next_table_id);
    if (entry.path == meta::paths::kPartitionCounter) return TakeCounter(data, &context_.next_partition_id);
    if (entry.path == meta::paths::kWriterCounter) return TakeCounter(data, &context_.next_writer_id);
    if (entry.path == meta::paths::kServerConfig && !data.empty()) {
      context_.config_version = entry.node.version;
      STROM_ASSIGN(context_.config, meta::ParseConfig(data));
      return Status::OK();
    }
    if (parts.size() >= 3 && parts[0] == "metadata" && parts[1] == "databases") return TakeMetadata(parts, data);
    if (parts.size() >= 3 && parts[0] == "tabletservers" && (parts[1] == "tables" || parts[1] == "partitions")) {
      return TakeAssignment(parts, entry);
    }
    return Status::OK();
  }

  static Status TakeCounter(const std::string& data, int64_t* counter) {
    if (data.empty()) return Status::OK();
    STROM_ASSIGN(*counter, meta::DecodeCounter(data));
    return Status::OK();
  }

  /// /metadata/databases/<db>[/tables/<table>[/schemas/<id> | /partitions/<name>]]
  Status TakeMetadata(const Parts& parts, const std::string& data) {
    const std::string database(parts[2]);
    if (parts.size() == 3) {
      STROM_ASSIGN(databases_[database], meta::ParseDatabaseRecord(data));
      return Status::OK();
    }
    if (parts.size() < 5 || parts[3] != "tables") return Status::OK();
    LoadedTable& table = tables_[model::TablePath{database, std::string(parts[4])}];
    if (parts.size() == 5 && !data.empty()) {
      STROM_ASSIGN(table.record, meta::ParseTableRecord(data));
    } else if (parts.size() == 7 && parts[5] == "schemas") {
      STROM_ASSIGN(const int64_t id, ParseNumber(parts[6]));
      STROM_ASSIGN(model::Schema schema, model::ParseSchemaJson(data));
      table.schemas[SchemaId(static_cast<int32_t>(id))] = MakeSchemaEntry(std::move(schema));
    } else if (parts.size() == 7 && parts[5] == "partitions" && !data.empty()) {
      STROM_ASSIGN(table.partitions[std::string(parts[6])], meta::ParsePartitionRecord(data));
    }
    return Status::OK();
  }

  /// /tabletservers/(tables|partitions)/<id>[/buckets/<bucket>/leader_isr]
  Status TakeAssignment(const Parts& parts, const meta::NodeEntry& entry) {
    STROM_ASSIGN(const int64_t id, ParseNumber(parts[2]));
    LoadedAssignment& assignment = parts[1] == "tables" ? table_assignments_[id] : partition_assignments_[id];
    if (parts.size() == 3) {
      assignment.path = entry.path;
      if (!entry.node.data.empty()) {
        STROM_ASSIGN(assignment.record, meta::ParseAssignmentRecord(entry.node.data));
      }
      return Status::OK();
    }
    if (parts.size() != 6 || parts[3] != "buckets" || parts[5] != "leader_isr") return Status::OK();
    STROM_ASSIGN(const int64_t bucket, ParseNumber(parts[4]));
    STROM_ASSIGN(assignment.leaders[bucket], meta::ParseLeaderAndIsr(entry.node.data));
    return Status::OK();
  }

  Status AddTable(const model::TablePath& path, LoadedTable& table) {
    if (!table.record) {
      STROM_LOG_WARN("metadata: the creation of table {} did not end; its name is free", path.ToString());
      context_.half_made_tables.insert(meta::paths::Table(path));
      return Status::OK();
    }
    if (table.schemas.empty()) return MakeError(ErrorCode::kCorruptData, "it has no schema");
    if (!databases_.contains(path.database)) return MakeError(ErrorCode::kCorruptData, "it has no database");
    const auto& [schema_id, schema] = *table.schemas.rbegin();
    auto entry = std::make_shared<meta::TableEntry>();
    STROM_ASSIGN(entry->info, MakeTableInfo(path, *table.record, schema_id, schema->schema, default_remote_dir_));
    entry->schemas = std::move(table.schemas);
    const model::TableInfo& info = *entry->info;
    context_.next_table_id = std::max(context_.next_table_id, info.table_id.value() + 1);
    live_tables_.insert(info.table_id.value());
    if (!info.descriptor.is_partitioned()) {
      STROM_ASSIGN(entry->buckets, Buckets(info, table_assignments_[info.table_id.value()]));
    }
    for (const auto& [name, record] : table.partitions) {
      if (record.table_id != info.table_id) continue;  // of an earlier table of that name: its drop did not end
      auto partition = std::make_shared<meta::PartitionEntry>();
      partition->id = record.partition_id;
      partition->name = name;
      partition->values = PartitionValues(name);
      partition->remote_data_dir = record.remote_data_dir.value_or(default_remote_dir_);
      STROM_ASSIGN(partition->buckets, Buckets(info, partition_assignments_[record.partition_id.value()]));
      context_.next_partition_id = std::max(context_.next_partition_id, record.partition_id.value() + 1);
      live_partitions_.insert(record.partition_id.value());
      entry->partitions[name] = std::move(partition);
    }
    context_.catalog.PutTable(std::move(entry));
    return Status::OK();
  }

  static Result<std::vector<meta::BucketState>> Buckets(const model::TableInfo& info, const LoadedAssignment& assignment) {
    if (!assignment.record) return MakeError(ErrorCode::kCorruptData, "the assignment of its buckets is missing");
    if (assignment.record->replicas.size() != static_cast<size_t>(info.bucket_count())) {
      return MakeError(ErrorCode::kCorruptData, "{} buckets are assigned, and it has {}", assignment.record->replicas.size(),
                       info.bucket_count());
    }
    std::vector<meta::BucketState> buckets;
    for (size_t i = 0; i < assignment.record->replicas.size(); ++i) {
      meta::BucketState& bucket = buckets.emplace_back();
      bucket.replicas = assignment.record->replicas[i];
      const auto leader = assignment.leaders.find(static_cast<int64_t>(i));
      if (leader != assignment.leaders.end()) {
        bucket.state = leader->second;
      } else {
        // The creation did not come so far: the first election finds all replicas in step, since there is nothing yet.
        bucket.state.isr = bucket.replicas;
        bucket.state.leader_epoch = LeaderEpoch(-1);
        bucket.state.bucket_epoch = BucketEpoch(-1);
      }
    }
    return buckets;
  }

  void AddDeletions() {
    for (const auto& [id, assignment] : table_assignments_) {
      context_.next_table_id = std::max(context_.next_table_id, id + 1);
      if (!live_tables_.contains(id)) AddDeletion(TableId(id), std::nullopt, assignment);
    }
    for (const auto& [id, assignment] : partition_assignments_) {
      context_.next_partition_id = std::max(context_.next_partition_id, id + 1);
      if (live_partitions_.contains(id)) continue;
      const TableId table = assignment.record && assignment.record->table_id ? *assignment.record->table_id : TableId(-1);
      context_.next_table_id = std::max(context_.next_table_id, table.value() + 1);
      AddDeletion(table, PartitionId(id), assignment);
    }
  }

  void AddDeletion(TableId table, std::optional<PartitionId> partition, const LoadedAssignment& assignment) {
    // Looked up for a table that has no node below /tabletservers.
    if (assignment.path.empty()) return;
    Deletion deletion;
    deletion.assignment_path = assignment.path;
    const size_t buckets = assignment.record ? assignment.record->replicas.size() : 0;
    for (size_t i = 0; i < buckets; ++i) {
      const model::TableBucket bucket{table, partition, BucketId(static_cast<int32_t>(i))};
      const auto leader = assignment.leaders.find(static_cast<int64_t>(i));
      const LeaderEpoch epoch = leader == assignment.leaders.end() ? LeaderEpoch(0) : leader->second.leader_epoch;
      for (ServerId server : assignment.record->replicas[i]) deletion.replicas.push_back({server, bucket, epoch});
    }
    context_.deletions.push_back(std::move(deletion));
  }

  const std::string& default_remote_dir_;
  LoadedContext context_;
  std::map<std::string, meta::DatabaseRecord> databases_;
  std::map<model::TablePath, LoadedTable> tables_;
  std::map<int64_t, LoadedAssignment> table_assignments_;
  std::map<int64_t, LoadedAssignment> partition_assignments_;
  std::set<int64_t> live_tables_;
  std::set<int64_t> live_partitions_;
};

}  // namespace

Result<LoadedContext> LoadContext(const std::vector<meta::NodeEntry>& nodes, const std::string& default_remote_dir) {
  ContextLoader loader(default_remote_dir);
  for (const meta::NodeEntry& node : nodes) {
    STROM_TRY(loader.Take(node));
  }
  return loader.Finish();
}

}  // namespace strom::coordinator
