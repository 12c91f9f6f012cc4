#include "model/table_rules.h"

#include <algorithm>

#include "model/auto_partition.h"
#include "model/config_value.h"
#include "model/json_writer.h"
#include "model/names.h"
#include "model/option_table.h"
#include "model/partition.h"
#include "model/schema_validation.h"
#include "model/statistics_columns.h"

namespace strom::model {

namespace {

template <typename... Args>
Error Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(ErrorCode::kInvalidTable, format, std::forward<Args>(args)...);
}

template <typename... Args>
Error BadConfig(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(ErrorCode::kInvalidConfig, format, std::forward<Args>(args)...);
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string UnknownProperty(std::string_view key) {
  if (!key.starts_with("table.")) {
    return fmt::format("{} is not a table option (they start with 'table.'); set it as a custom property", Shown(key));
  }
  const std::string hint =
      NearestKeyHint(key, [](const Option& option) { return option.scope == OptionScope::kTable; });
  return fmt::format("{} is not a table option that this server knows{}{}", Shown(key), hint.empty() ? "" : "; ", hint);
}

/// Each name is a column, and none comes twice.
Status CheckNames(const Schema& schema, std::string_view what, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (!schema.FindColumn(names[i])) return Invalid("the {} {} is not a column of the table", what, Shown(names[i]));
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      return Invalid("the {} {} comes twice", what, Shown(names[i]));
    }
  }
  return Status::OK();
}

Status CheckPartitionKeys(const TableDescriptor& table) {
  const Schema& schema = table.schema;
  STROM_TRY(CheckNames(schema, "partition key", table.partition_keys));
  for (const std::string& key : table.partition_keys) {
    const DataType& type = schema.columns[*schema.FindColumn(key)].type;
    if (!IsPartitionKeyType(type)) {
      return Invalid("the partition key {} has the type {}; DECIMAL, ARRAY, MAP and ROW cannot be partition keys",
                     Shown(key), type.ToString());
    }
    if (schema.has_primary_key() && !Contains(schema.primary_key, key)) {
      return Invalid("the partition key {} is not in the primary key ({})", Shown(key), Joined(schema.primary_key));
    }
  }
  if (schema.has_primary_key() && schema.primary_key.size() == table.partition_keys.size()) {
    return Invalid("the primary key ({}) has no column besides the partition keys", Joined(schema.primary_key));
  }
  return Status::OK();
}

Status CheckBucketKeys(const TableDescriptor& table) {
  const Schema& schema = table.schema;
  STROM_TRY(CheckNames(schema, "bucket key", table.bucket_keys));
  for (const std::string& key : table.bucket_keys) {
    const DataType& type = schema.columns[*schema.FindColumn(key)].type;
    if (type.is_nested()) {
      return Invalid("the bucket key {} has the type {}; ARRAY, MAP and ROW cannot be keys", Shown(key),
                     type.ToString());
    }
    if (Contains(table.partition_keys, key)) return Invalid("the bucket key {} is a partition key, too", Shown(key));
    if (schema.has_primary_key() && !Contains(schema.primary_key, key)) {
      return Invalid("the bucket key {} is not in the primary key ({})", Shown(key), Joined(schema.primary_key));
    }
  }
  return Status::OK();
}

Status CheckVersionColumn(const TableDescriptor& table) {
  constexpr std::string_view kKey = "table.merge-engine.versioned.ver-column";
  const std::string name = TableOption(table.properties, kKey);
  if (name.empty()) return BadConfig("the option '{}' is missing: the merge engine VERSIONED needs it", kKey);
  const std::optional<size_t> at = table.schema.FindColumn(name);
  if (!at) return BadConfig("the option '{}': the table has no column {}", kKey, Shown(name));
  const DataType& type = table.schema.columns[*at].type;
  const TypeRoot root = type.root;
  if (root != TypeRoot::kInteger && root != TypeRoot::kBigInt && root != TypeRoot::kTimestamp &&
      root != TypeRoot::kTimestampLtz) {
    return BadConfig(
        "the option '{}': the column {} has the type {}; INT, BIGINT, TIMESTAMP or TIMESTAMP_LTZ is expected", kKey,
        Shown(name), type.ToString());
  }
  return Status::OK();
}

Status CheckAggregates(const TableDescriptor& table, bool aggregation) {
  for (const Column& column : table.schema.columns) {
    if (!column.aggregate) continue;
    if (!aggregation) {
      return BadConfig("the column {} has the aggregate function {}, which needs 'table.merge-engine' = 'aggregation'",
                       Shown(column.name), column.aggregate->type);
    }
    STROM_TRY(ValidateAggregate(column));
  }
  return Status::OK();
}

Status CheckDeleteBehavior(const TableDescriptor& table, std::string_view engine) {
  constexpr std::string_view kKey = "table.delete.behavior";
  if (!table.properties.contains(std::string(kKey))) return Status::OK();
  if (!table.schema.has_primary_key()) return BadConfig("the option '{}' needs a table with a primary key", kKey);
  if ((engine == "FIRST_ROW" || engine == "VERSIONED") && TableOption(table.properties, kKey) == "ALLOW") {
    return BadConfig("the option '{}': ALLOW is not allowed with the merge engine {}; IGNORE or DISABLE is expected",
                     kKey, engine);
  }
  return Status::OK();
}

Status CheckTimeKey(const TableDescriptor& table, const AutoPartition& partitioning) {
  const std::vector<std::string>& keys = table.partition_keys;
  if (keys.size() > 1) {
    if (partitioning.key.empty()) {
      return Invalid("the option 'table.auto-partition.key' is missing: the table has several partition keys ({})",
                     Joined(keys));
    }
    if (partitioning.num_precreate > 0) {
      return Invalid(
          "the option 'table.auto-partition.num-precreate': {} is not allowed: with several partition keys it must be "
          "0",
          partitioning.num_precreate);
    }
  }
  if (!partitioning.key.empty() && !Contains(keys, partitioning.key)) {
    return Invalid("the option 'table.auto-partition.key': {} is not a partition key ({})", Shown(partitioning.key),
                   Joined(keys));
  }
  const std::string& key = keys[partitioning.KeyPosition(keys)];
  if (table.schema.columns[*table.schema.FindColumn(key)].type.root != TypeRoot::kDate) return Status::OK();
  if (partitioning.unit != PartitionTimeUnit::kDay) {
    return Invalid(
        "the option 'table.auto-partition.time-unit': {} is not allowed: the partition key {} is a DATE, which needs "
        "DAY",
        PartitionTimeUnitName(partitioning.unit), Shown(key));
  }
  if (partitioning.time_format != "yyyy-MM-dd") {
    return Invalid(
        "the option 'table.auto-partition.time-format': '{}' is not allowed: the partition key {} is a DATE, which "
        "needs "
        "'yyyy-MM-dd'",
        partitioning.time_format, Shown(key));
  }
  return Status::OK();
}

}  // namespace

std::string TableOption(const Properties& properties, std::string_view key) {
  const Option* option = FindOption(key);
  STROM_ASSERT(option != nullptr && option->scope == OptionScope::kTable, "'{}' is not a table option", key);
  const auto found = properties.find(std::string(key));
  const std::string value(found == properties.end() ? option->default_value : std::string_view(found->second));
  return option->type == OptionType::kEnum ? UpperCase(Trimmed(value)) : value;
}

bool TableFlag(const Properties& properties, std::string_view key) {
  return UpperCase(Trimmed(TableOption(properties, key))) == "TRUE";
}

Status CheckProperties(const Properties& properties) {
  for (const auto& [key, value] : properties) {
    const Option* option = FindOption(key);
    if (option == nullptr || option->scope != OptionScope::kTable || option->is_pattern || option->key != key) {
      return BadConfig("{}", UnknownProperty(key));
    }
    if (!IsUtf8(value)) return BadConfig("the option '{}': its value is not UTF-8 text", key);
    STROM_TRY(CheckOptionValue(*option, key, value));
  }
  return Status::OK();
}

Status CheckCustomProperties(const Properties& properties, ErrorCode code) {
  for (const auto& [key, value] : properties) {
    if (key.empty()) return MakeError(code, "a custom property has an empty key");
    if (!IsUtf8(key) || !IsUtf8(value)) return MakeError(code, "the custom property {} is not UTF-8 text", Shown(key));
  }
  return Status::OK();
}

Status CheckKeys(const TableDescriptor& table) {
  STROM_TRY(CheckPartitionKeys(table));
  return CheckBucketKeys(table);
}

Status CheckLogOptions(const TableDescriptor& table) {
  const Properties& properties = table.properties;
  const bool keyed = table.schema.has_primary_key();
  if (keyed && TableOption(properties, "table.kv.format") == "COMPACTED" &&
      TableOption(properties, "table.log.format") == "INDEXED") {
    return BadConfig(
        "the option 'table.log.format': INDEXED is not allowed for a table with a primary key and 'table.kv.format' = "
        "'COMPACTED'; ARROW or COMPACTED is expected");
  }
  STROM_ASSIGN(const TableConfig config, ParseTableConfig(properties));
  if (config.log_ttl_ms > 0 && config.local_log_ttl_ms > config.log_ttl_ms) {
    return BadConfig("the option 'table.log.local-ttl' ({}) must not be above 'table.log.ttl' ({})",
                     FormatDuration(config.local_log_ttl_ms), FormatDuration(config.log_ttl_ms));
  }
  if (!config.statistics_columns) return Status::OK();
  if (keyed) return BadConfig("the option 'table.statistics.columns' needs a table without a primary key");
  return FindStatisticsColumns(table.schema, *config.statistics_columns).status();
}

Status CheckMergeEngine(const TableDescriptor& table) {
  const std::string engine = TableOption(table.properties, "table.merge-engine");
  if (!engine.empty() && !table.schema.has_primary_key()) {
    return BadConfig(
        "the option 'table.merge-engine': {} is not allowed: a merge engine needs a table with a primary key", engine);
  }
  STROM_TRY(CheckAggregates(table, engine == "AGGREGATION"));
  if (engine == "VERSIONED") STROM_TRY(CheckVersionColumn(table));
  if (engine == "AGGREGATION" && TableOption(table.properties, "table.changelog.image") == "WAL") {
    return BadConfig(
        "the option 'table.changelog.image': WAL is not allowed with the merge engine AGGREGATION, which needs the old "
        "rows; FULL is expected");
  }
  return CheckDeleteBehavior(table, engine);
}

Status CheckPartitioning(const TableDescriptor& table) {
  STROM_ASSIGN(const AutoPartition partitioning, ParseAutoPartition(table.properties));
  if (!table.is_partitioned()) {
    if (!partitioning.enabled) return Status::OK();
    return BadConfig("the option 'table.auto-partition.enabled': true is not allowed: the table has no partition keys");
  }
  if (partitioning.has_time_format) STROM_TRY(ValidateTimeFormat(partitioning.time_format, partitioning.unit));
  return partitioning.enabled ? CheckTimeKey(table, partitioning) : Status::OK();
}

Status CheckLake(const TableDescriptor& table) {
  constexpr std::string_view kKey = "table.datalake.historical-partition.enabled";
  if (!TableFlag(table.properties, kKey)) return Status::OK();
  std::vector<std::string> missing;
  if (!TableFlag(table.properties, "table.auto-partition.enabled"))
    missing.emplace_back("'table.auto-partition.enabled' = 'true'");
  if (!TableFlag(table.properties, "table.datalake.enabled")) missing.emplace_back("'table.datalake.enabled' = 'true'");
  if (TableOption(table.properties, "table.datalake.format") != "PAIMON")
    missing.emplace_back("'table.datalake.format' = 'paimon'");
  if (!table.schema.has_primary_key()) missing.emplace_back("a primary key");
  if (table.partition_keys.size() != 1) missing.emplace_back("exactly one partition key");
  if (missing.empty()) return Status::OK();
  return BadConfig("the option '{}' also needs {}", kKey, Joined(missing));
}

}  // namespace strom::model
