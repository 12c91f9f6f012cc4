#include "model/table_validation.h"

#include <algorithm>

#include "model/config_value.h"
#include "model/json_writer.h"
#include "model/names.h"
#include "model/option_table.h"
#include "model/table_rules.h"

namespace strom::model {

namespace {

constexpr std::string_view kKvFormatVersion = "2";  // the newest key encoding (spec/server.md 5.1)

void SetDefault(Properties* properties, const std::string& key, std::string_view value) {
  properties->try_emplace(key, value);
}

/// The columns that tell rows of one partition apart.
std::vector<std::string> PhysicalPrimaryKey(const TableDescriptor& table) {
  std::vector<std::string> key;
  for (const std::string& name : table.schema.primary_key) {
    if (std::find(table.partition_keys.begin(), table.partition_keys.end(), name) == table.partition_keys.end())
      key.push_back(name);
  }
  return key;
}

void FillDefaults(TableDescriptor* table, const CreateDefaults& defaults) {
  Properties& properties = table->properties;
  if (!table->bucket_count) table->bucket_count = defaults.bucket_count;
  table->has_distribution = true;
  SetDefault(&properties, "table.replication.factor", fmt::format("{}", defaults.replication_factor));
  if (table->partition_keys.size() > 1 && TableFlag(properties, "table.auto-partition.enabled")) {
    SetDefault(&properties, "table.auto-partition.num-precreate", "0");
  }
  if (defaults.datalake_format) {
    std::string format = *defaults.datalake_format;
    for (char& c : format) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    SetDefault(&properties, "table.datalake.format", format);
  }
  if (!table->schema.has_primary_key()) return;
  if (table->bucket_keys.empty()) table->bucket_keys = PhysicalPrimaryKey(*table);
  if (!TableOption(properties, "table.merge-engine").empty())
    SetDefault(&properties, "table.delete.behavior", "IGNORE");
  SetDefault(&properties, "table.kv.format-version", kKvFormatVersion);
  SetDefault(&properties, "table.kv.standby-replica.enabled", "true");
}

Status CheckAllowed(const TableDescriptor& table, const CreateDefaults& defaults) {
  const bool keyed = table.schema.has_primary_key();
  if (keyed ? defaults.allow_kv_tables : defaults.allow_log_tables) return Status::OK();
  return MakeError(ErrorCode::kInvalidTable, "this cluster does not allow tables {} a primary key ('{}' is false)",
                   keyed ? "with" : "without", keyed ? "allow.create.kv.tables" : "allow.create.log.tables");
}

Status CheckSizes(const TableDescriptor& table, const CreateDefaults& defaults) {
  const int32_t buckets = table.bucket_count.value_or(0);
  if (buckets < 1) {
    return MakeError(ErrorCode::kInvalidTable, "the bucket count {} is not valid: 1 or more is expected", buckets);
  }
  if (buckets > defaults.buckets_max) {
    return MakeError(ErrorCode::kBucketMaxNum,
                     "the bucket count {} is above the limit {} of a table or partition (max.bucket.num)", buckets,
                     defaults.buckets_max);
  }
  const int64_t replicas = *ParseIntValue(TableOption(table.properties, "table.replication.factor"));
  if (replicas > defaults.live_servers) {
    return MakeError(ErrorCode::kInvalidReplicationFactor,
                     "the replication factor {} is above the number of live tablet servers, {}", replicas,
                     defaults.live_servers);
  }
  return Status::OK();
}

Status CheckClusterLake(const TableDescriptor& table, const std::optional<std::string>& cluster_format) {
  if (!TableFlag(table.properties, "table.datalake.enabled")) return Status::OK();
  if (!cluster_format) {
    return MakeError(ErrorCode::kLakeStorageNotConfigured,
                     "the option 'table.datalake.enabled': true is not allowed: this cluster has no lake");
  }
  const std::string format = TableOption(table.properties, "table.datalake.format");
  if (format == UpperCase(*cluster_format)) return Status::OK();
  return MakeError(ErrorCode::kInvalidConfig,
                   "the option 'table.datalake.format': {} is not allowed: the cluster's lake is {}", format,
                   *cluster_format);
}

/// What holds at creation and after each change of properties.
Status CheckRules(const TableDescriptor& table) {
  STROM_TRY(CheckProperties(table.properties));
  STROM_TRY(CheckCustomProperties(table.custom_properties, ErrorCode::kInvalidTable));
  STROM_TRY(CheckLogOptions(table));
  STROM_TRY(CheckMergeEngine(table));
  STROM_TRY(CheckLake(table));
  return CheckPartitioning(table);
}

template <typename... Args>
Error Unalterable(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(ErrorCode::kInvalidAlterTable, format, std::forward<Args>(args)...);
}

/// True where the table may get a lake although it was made without one: nothing of its distribution depends on the lake's format.
bool MayJoinLake(const TableDescriptor& table, std::string_view key) {
  return key == "table.datalake.enabled" && !table.schema.has_primary_key() && table.bucket_keys.empty();
}

Status CheckAlterable(const TableDescriptor& table, std::string_view key) {
  const Option* option = FindOption(key);
  if (option == nullptr || option->scope != OptionScope::kTable) {
    const std::string hint =
        NearestKeyHint(key, [](const Option& o) { return o.scope == OptionScope::kTable && o.alterable; });
    return Unalterable("{} is not a table option that this server knows{}{}", Shown(key), hint.empty() ? "" : "; ",
                       hint);
  }
  if (!option->alterable) return Unalterable("the option '{}' of a table cannot be changed after its creation", key);
  if (key == "table.kv.standby-replica.enabled" && !table.schema.has_primary_key()) {
    return Unalterable("the option '{}' can only be changed for tables with a primary key", key);
  }
  if (key.starts_with("table.datalake.") && !table.properties.contains("table.datalake.format") &&
      !MayJoinLake(table, key)) {
    return Unalterable("the option '{}' cannot be changed: the table was made while the cluster had no lake", key);
  }
  return Status::OK();
}

Status ApplyChange(const PropertyChange& change, Properties* properties) {
  switch (change.op) {
    case ConfigOp::kSet:
      if (!change.value) return Unalterable("the property {} cannot be set: a value is missing", Shown(change.key));
      (*properties)[change.key] = *change.value;
      return Status::OK();
    case ConfigOp::kDelete:
      properties->erase(change.key);
      return Status::OK();
    default:
      return Unalterable("the property {} can only be set or deleted", Shown(change.key));
  }
}

}  // namespace

Result<TableDescriptor> PrepareNewTable(TableDescriptor table, const CreateDefaults& defaults) {
  STROM_TRY(CheckAllowed(table, defaults));
  STROM_TRY(CheckProperties(table.properties));
  NormalizeSchema(&table.schema);
  STROM_TRY(ValidateSchema(table.schema));
  STROM_TRY(CheckKeys(table));
  FillDefaults(&table, defaults);
  STROM_TRY(CheckRules(table));
  STROM_TRY(CheckClusterLake(table, defaults.datalake_format));
  STROM_TRY(CheckSizes(table, defaults));
  return table;
}

Result<TableDescriptor> AlterProperties(const TableDescriptor& table, std::span<const PropertyChange> changes) {
  TableDescriptor changed = table;
  for (const PropertyChange& change : changes) {
    const bool is_option = change.key.starts_with("table.");
    if (is_option) STROM_TRY(CheckAlterable(table, change.key));
    STROM_TRY(ApplyChange(change, is_option ? &changed.properties : &changed.custom_properties));
  }
  STROM_TRY(CheckRules(changed));
  const bool joins_lake =
      TableFlag(changed.properties, "table.datalake.enabled") && !TableFlag(table.properties, "table.datalake.enabled");
  // Tiering is not built, so no cluster has a lake that a table could join.
  if (joins_lake) STROM_TRY(CheckClusterLake(changed, std::nullopt));
  return changed;
}

Result<TableDescriptor> AlterSchema(const TableDescriptor& table, std::span<const AddColumn> columns) {
  TableDescriptor changed = table;
  STROM_ASSIGN(changed.schema, AddColumns(table.schema, columns));
  STROM_TRY(CheckMergeEngine(changed));
  return changed;
}

Status CheckAlterShape(const AlterShape& shape) {
  const size_t schema_changes =
      shape.added_columns + shape.dropped_columns + shape.renamed_columns + shape.modified_columns;
  if (shape.property_changes > 0 && schema_changes > 0) {
    return Unalterable("one request cannot change both properties ({}) and columns ({}); send two",
                       shape.property_changes, schema_changes);
  }
  if (shape.changes_bucket_count) return Unalterable("the bucket count of a table cannot be changed yet");
  if (shape.dropped_columns > 0) return Unalterable("columns cannot be dropped; only new ones can be added at the end");
  if (shape.renamed_columns > 0) return Unalterable("columns cannot be renamed; only new ones can be added at the end");
  if (shape.modified_columns > 0)
    return Unalterable("columns cannot be modified; only new ones can be added at the end");
  return Status::OK();
}

Result<DatabaseDescriptor> AlterDatabase(const DatabaseDescriptor& database, std::span<const PropertyChange> changes,
                                         const std::optional<std::string>& comment) {
  DatabaseDescriptor changed = database;
  for (const PropertyChange& change : changes) {
    if (const Status applied = ApplyChange(change, &changed.custom_properties); !applied.ok()) {
      return MakeError(ErrorCode::kInvalidDatabase, "{}", applied.error().message);
    }
  }
  if (comment) changed.comment = comment;
  if (changed.comment && !IsUtf8(*changed.comment))
    return MakeError(ErrorCode::kInvalidDatabase, "the comment is not UTF-8 text");
  STROM_TRY(CheckCustomProperties(changed.custom_properties, ErrorCode::kInvalidDatabase));
  return changed;
}

}  // namespace strom::model
