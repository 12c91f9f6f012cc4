#include "model/table_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/statistics_columns.h"

namespace strom::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct ColumnOf {
  std::string name;
  DataType type;
};

TableDescriptor Table(std::vector<ColumnOf> columns, std::vector<std::string> primary_key = {}) {
  TableDescriptor table;
  for (ColumnOf& column : columns) table.schema.columns.push_back({column.name, column.type, {}, {}, -1});
  table.schema.primary_key = std::move(primary_key);
  return table;
}

DataType Int() { return DataType::Of(TypeRoot::kInteger); }
DataType String() { return DataType::Of(TypeRoot::kString); }

TableDescriptor LogTable() { return Table({{"id", Int()}, {"dt", String()}, {"raw", DataType::Of(TypeRoot::kBytes)}}); }
TableDescriptor KeyTable() {
  return Table({{"id", Int()}, {"dt", String()}, {"n", DataType::Of(TypeRoot::kBigInt)}}, {"id", "dt"});
}

Result<TableDescriptor> Prepare(TableDescriptor table) { return PrepareNewTable(std::move(table), CreateDefaults{}); }

TableDescriptor With(TableDescriptor table, Properties properties) {
  table.properties = std::move(properties);
  return table;
}

/// The code and message of preparing a table with these properties.
Result<TableDescriptor> PrepareWith(TableDescriptor table, Properties properties) {
  return Prepare(With(std::move(table), std::move(properties)));
}

TableDescriptor PartitionedBy(TableDescriptor table, std::vector<std::string> keys) {
  table.partition_keys = std::move(keys);
  return table;
}

TEST(NewTable, LeftOpenValuesAreFilledIn) {
  CreateDefaults defaults;
  defaults.bucket_count = 3;
  defaults.replication_factor = 2;
  defaults.live_servers = 2;
  const auto log = PrepareNewTable(LogTable(), defaults);
  ASSERT_TRUE(log.ok()) << log.ToString();
  EXPECT_EQ(log->bucket_count, 3);
  EXPECT_TRUE(log->has_distribution);
  EXPECT_EQ(log->properties, (Properties{{"table.replication.factor", "2"}}));
  EXPECT_EQ(log->schema.columns[2].id, 2);
  EXPECT_EQ(log->schema.highest_field_id, 2);

  const auto keyed = PrepareNewTable(PartitionedBy(KeyTable(), {"dt"}), defaults);
  ASSERT_TRUE(keyed.ok()) << keyed.ToString();
  EXPECT_THAT(keyed->bucket_keys, ElementsAre("id"));
  EXPECT_FALSE(keyed->schema.columns[0].type.nullable);
  EXPECT_TRUE(keyed->schema.columns[2].type.nullable);
  EXPECT_EQ(keyed->properties, (Properties{{"table.kv.format-version", "2"},
                                           {"table.kv.standby-replica.enabled", "true"},
                                           {"table.replication.factor", "2"}}));
  const auto merged = PrepareWith(KeyTable(), {{"table.merge-engine", "first_row"}});
  ASSERT_TRUE(merged.ok()) << merged.ToString();
  EXPECT_EQ(merged->properties.at("table.delete.behavior"), "IGNORE");
}

TEST(NewTable, APreparedTableComesBackFromItsJsonAndIsPreparedTheSame) {
  const auto first = Prepare(PartitionedBy(KeyTable(), {"dt"}));
  ASSERT_TRUE(first.ok());
  const auto read = ParseTableDescriptorJson(ToJson(*first));
  ASSERT_TRUE(read.ok()) << read.ToString();
  const auto second = Prepare(*read);
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(ToJson(*second), ToJson(*first));
}

TEST(NewTable, ColumnsAreChecked) {
  EXPECT_EQ(Prepare(Table({})).code(), ErrorCode::kInvalidTable);
  for (const std::string name :
       {"__offset", "__timestamp", "__bucket", "_change_type", "_log_offset", "_commit_timestamp", ""}) {
    EXPECT_EQ(Prepare(Table({{name, Int()}})).code(), ErrorCode::kInvalidTable) << name;
  }
  EXPECT_EQ(Prepare(Table({{"a", Int()}, {"a", Int()}})).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Prepare(Table({{"r", DataType::Row({{"x", Int(), {}, -1}, {"x", Int(), {}, -1}})}})).code(),
            ErrorCode::kInvalidTable);
  TableDescriptor ids = Table({{"a", Int()}, {"b", Int()}});
  ids.schema.columns[0].id = ids.schema.columns[1].id = 0;
  ids.schema.highest_field_id = 0;
  EXPECT_EQ(Prepare(ids).code(), ErrorCode::kInvalidTable);
  ids.schema.columns[1].id = 5;
  EXPECT_THAT(Prepare(ids).ToString(), HasSubstr("highest_field_id is 0"));
}

TEST(NewTable, PrimaryKeysAreChecked) {
  EXPECT_EQ(Prepare(Table({{"a", Int()}}, {"b"})).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Prepare(Table({{"a", Int()}}, {"a", "a"})).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Prepare(Table({{"a", DataType::Array(Int())}}, {"a"})).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Prepare(Table({{"a", DataType::Decimal(5, 2)}}, {"a"})).code(), ErrorCode::kNone);
  TableDescriptor counted = KeyTable();
  counted.schema.auto_increment_columns = {"n"};
  EXPECT_EQ(Prepare(counted).code(), ErrorCode::kNone);
  counted.schema.auto_increment_columns = {"id"};
  EXPECT_EQ(Prepare(counted).code(), ErrorCode::kInvalidTable);
  counted = LogTable();
  counted.schema.auto_increment_columns = {"id"};
  EXPECT_EQ(Prepare(counted).code(), ErrorCode::kInvalidTable);
}

TEST(NewTable, PartitionAndBucketKeysAreChecked) {
  EXPECT_EQ(Prepare(PartitionedBy(LogTable(), {"dt"})).code(), ErrorCode::kNone);
  EXPECT_EQ(Prepare(PartitionedBy(LogTable(), {"no"})).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Prepare(PartitionedBy(LogTable(), {"dt", "dt"})).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Prepare(PartitionedBy(Table({{"a", DataType::Decimal(5, 2)}}), {"a"})).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Prepare(PartitionedBy(KeyTable(), {"n"})).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Prepare(PartitionedBy(KeyTable(), {"dt", "id"})).code(), ErrorCode::kInvalidTable);
  const auto code = [](TableDescriptor table, std::vector<std::string> keys) {
    table.bucket_keys = std::move(keys);
    return Prepare(std::move(table)).code();
  };
  EXPECT_EQ(code(LogTable(), {"id"}), ErrorCode::kNone);
  EXPECT_EQ(code(LogTable(), {"no"}), ErrorCode::kInvalidTable);
  EXPECT_EQ(code(LogTable(), {"id", "id"}), ErrorCode::kInvalidTable);
  EXPECT_EQ(code(Table({{"a", DataType::Row({})}}), {"a"}), ErrorCode::kInvalidTable);
  EXPECT_EQ(code(PartitionedBy(LogTable(), {"dt"}), {"dt"}), ErrorCode::kInvalidTable);
  EXPECT_EQ(code(KeyTable(), {"n"}), ErrorCode::kInvalidTable);
}

TEST(NewTable, SizesAreWithinTheClustersLimits) {
  const auto code = [](int32_t buckets) {
    TableDescriptor table = LogTable();
    table.bucket_count = buckets;
    return Prepare(std::move(table)).code();
  };
  EXPECT_EQ(code(1), ErrorCode::kNone);
  EXPECT_EQ(code(4096), ErrorCode::kNone);
  EXPECT_EQ(code(0), ErrorCode::kInvalidTable);
  EXPECT_EQ(code(-1), ErrorCode::kInvalidTable);
  EXPECT_EQ(code(4097), ErrorCode::kBucketMaxNum);
  EXPECT_EQ(code(1'000'000), ErrorCode::kBucketMaxNum);
  EXPECT_EQ(PrepareWith(LogTable(), {{"table.replication.factor", "2"}}).code(), ErrorCode::kInvalidReplicationFactor);
  CreateDefaults defaults;
  defaults.allow_log_tables = false;
  EXPECT_THAT(PrepareNewTable(LogTable(), defaults).ToString(), HasSubstr("allow.create.log.tables"));
  EXPECT_TRUE(PrepareNewTable(KeyTable(), defaults).ok());
}

TEST(NewTable, BadPropertiesNameKeyValueAndWhatIsAllowed) {
  const std::vector<std::pair<std::string, std::string>> bad = {{"table.log.format", "parchment"},
                                                                {"table.replication.factor", "two"},
                                                                {"table.replication.factor", "0"},
                                                                {"table.log.ttl", "soon"},
                                                                {"table.log.arrow.compression.type", "rar"},
                                                                {"table.log.arrow.compression.zstd.level", "99"},
                                                                {"table.log.tiered.local-segments", "-1"},
                                                                {"table.log.tiered.local-segments", "many"},
                                                                {"table.log.local-ttl", "8d"},
                                                                {"table.kv.format-version", "3"},
                                                                {"table.auto-partition.time-zone", "Mars/Olympus"},
                                                                {"table.auto-partition.time-unit", "week"},
                                                                {"table.datalake.freshness", "x"},
                                                                {"table.auto-partition.enabled", "true"},
                                                                {"table.delete.behavior", "allow"},
                                                                {"table.merge-engine", "first_row"},
                                                                {"table.statistics.columns", "raw"},
                                                                {"table.statistics.columns", "no"},
                                                                {"table.statistics.columns", " , "}};
  for (const auto& [key, value] : bad) {
    const auto refused = PrepareWith(LogTable(), {{key, value}});
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidConfig) << key << "=" << value << " " << refused.ToString();
    EXPECT_THAT(refused.ToString(), HasSubstr(key));
  }
  EXPECT_THAT(PrepareWith(LogTable(), {{"table.no-such-option", "1"}}).ToString(),
              HasSubstr("not a table option that this server knows"));
  EXPECT_THAT(PrepareWith(LogTable(), {{"table.log.tll", "1d"}}).ToString(),
              HasSubstr("did you mean 'table.log.ttl'?"));
  EXPECT_THAT(PrepareWith(LogTable(), {{"some.other", "1"}}).ToString(), HasSubstr("custom property"));
  EXPECT_EQ(PrepareWith(LogTable(), {{"paimon.x", "1"}}).code(), ErrorCode::kInvalidConfig);
  EXPECT_EQ(PrepareWith(LogTable(), {{"table.log.format", "Compacted"}, {"table.log.ttl", "3 d"}}).code(),
            ErrorCode::kNone);
}

TEST(NewTable, LogAndKvFormatsFitTogether) {
  EXPECT_EQ(PrepareWith(LogTable(), {{"table.log.format", "indexed"}}).code(), ErrorCode::kNone);
  EXPECT_EQ(PrepareWith(KeyTable(), {{"table.log.format", "indexed"}}).code(), ErrorCode::kInvalidConfig);
  EXPECT_EQ(PrepareWith(KeyTable(), {{"table.log.format", "compacted"}}).code(), ErrorCode::kNone);
  EXPECT_EQ(PrepareWith(KeyTable(), {{"table.log.format", "indexed"}, {"table.kv.format", "indexed"}}).code(),
            ErrorCode::kNone);
}

TEST(NewTable, MergeEnginesAreChecked) {
  TableDescriptor sum = KeyTable();
  sum.schema.columns[2].aggregate = AggregateFunction{"sum", {}};
  EXPECT_EQ(Prepare(sum).code(), ErrorCode::kInvalidConfig);
  EXPECT_EQ(PrepareWith(sum, {{"table.merge-engine", "aggregation"}}).code(), ErrorCode::kNone);
  EXPECT_THAT(PrepareWith(sum, {{"table.merge-engine", "aggregation"}, {"table.changelog.image", "wal"}}).ToString(),
              HasSubstr("WAL"));
  EXPECT_EQ(PrepareWith(KeyTable(), {{"table.changelog.image", "wal"}}).code(), ErrorCode::kNone);
  EXPECT_EQ(PrepareWith(KeyTable(), {{"table.merge-engine", "versioned"}}).code(), ErrorCode::kInvalidConfig);
  EXPECT_EQ(
      PrepareWith(KeyTable(), {{"table.merge-engine", "versioned"}, {"table.merge-engine.versioned.ver-column", "n"}})
          .code(),
      ErrorCode::kNone);
  EXPECT_EQ(
      PrepareWith(KeyTable(), {{"table.merge-engine", "versioned"}, {"table.merge-engine.versioned.ver-column", "dt"}})
          .code(),
      ErrorCode::kInvalidConfig);
  EXPECT_EQ(PrepareWith(KeyTable(), {{"table.merge-engine", "first_row"}, {"table.delete.behavior", "allow"}}).code(),
            ErrorCode::kInvalidConfig);
  EXPECT_EQ(PrepareWith(sum, {{"table.merge-engine", "aggregation"}, {"table.delete.behavior", "allow"}}).code(),
            ErrorCode::kNone);
  sum.schema.columns[2].aggregate = AggregateFunction{"bool_and", {}};
  EXPECT_EQ(PrepareWith(sum, {{"table.merge-engine", "aggregation"}}).code(), ErrorCode::kInvalidConfig);
  sum.schema.columns[2].aggregate = AggregateFunction{"sum", {{"delimiter", ","}}};
  EXPECT_EQ(PrepareWith(sum, {{"table.merge-engine", "aggregation"}}).code(), ErrorCode::kInvalidConfig);
}

TEST(NewTable, StatisticsColumnsAreAllFittingOnesOrAList) {
  const Schema schema = Prepare(LogTable())->schema;
  EXPECT_THAT(*FindStatisticsColumns(schema, "*"), ElementsAre(0, 1));
  EXPECT_THAT(*FindStatisticsColumns(schema, "dt, id"), ElementsAre(1, 0));
  EXPECT_FALSE(FindStatisticsColumns(schema, "id,id").ok());
  EXPECT_EQ(PrepareWith(LogTable(), {{"table.statistics.columns", "*"}}).code(), ErrorCode::kNone);
  EXPECT_EQ(PrepareWith(KeyTable(), {{"table.statistics.columns", "*"}}).code(), ErrorCode::kInvalidConfig);
}

TEST(NewTable, AutoPartitionsAreChecked) {
  const auto code = [](std::vector<std::string> keys, Properties properties) {
    properties["table.auto-partition.enabled"] = "true";
    TableDescriptor table = Table({{"id", Int()}, {"dt", String()}, {"day", DataType::Of(TypeRoot::kDate)}});
    return PrepareWith(PartitionedBy(std::move(table), std::move(keys)), std::move(properties)).code();
  };
  EXPECT_EQ(code({"dt"}, {}), ErrorCode::kNone);
  EXPECT_EQ(code({"dt"}, {{"table.auto-partition.time-unit", "year"}, {"table.auto-partition.time-zone", "UTC"}}),
            ErrorCode::kNone);
  EXPECT_EQ(code({"dt", "id"}, {}), ErrorCode::kInvalidTable);
  EXPECT_EQ(code({"dt", "id"}, {{"table.auto-partition.key", "dt"}}), ErrorCode::kNone);
  EXPECT_EQ(code({"dt", "id"}, {{"table.auto-partition.key", "day"}}), ErrorCode::kInvalidTable);
  EXPECT_EQ(code({"dt", "id"}, {{"table.auto-partition.key", "dt"}, {"table.auto-partition.num-precreate", "1"}}),
            ErrorCode::kInvalidTable);
  EXPECT_EQ(code({"day"}, {}), ErrorCode::kInvalidTable);
  EXPECT_EQ(code({"day"}, {{"table.auto-partition.time-format", "yyyy-MM-dd"}}), ErrorCode::kNone);
  EXPECT_EQ(
      code({"day"}, {{"table.auto-partition.time-format", "yyyyMM"}, {"table.auto-partition.time-unit", "month"}}),
      ErrorCode::kInvalidTable);
  EXPECT_EQ(code({"dt"}, {{"table.auto-partition.time-format", "dd-MM-yyyy"}}), ErrorCode::kInvalidTable);
}

TEST(NewTable, ALakeNeedsACluster) {
  EXPECT_EQ(PrepareWith(LogTable(), {{"table.datalake.enabled", "true"}}).code(), ErrorCode::kLakeStorageNotConfigured);
  EXPECT_EQ(PrepareWith(LogTable(), {{"table.datalake.enabled", "false"}}).code(), ErrorCode::kNone);
  CreateDefaults defaults;
  defaults.datalake_format = "PAIMON";
  const auto table = PrepareNewTable(With(LogTable(), {{"table.datalake.enabled", "true"}}), defaults);
  ASSERT_TRUE(table.ok()) << table.ToString();
  EXPECT_EQ(table->properties.at("table.datalake.format"), "paimon");
  EXPECT_EQ(PrepareNewTable(
                With(LogTable(), {{"table.datalake.enabled", "true"}, {"table.datalake.format", "iceberg"}}), defaults)
                .code(),
            ErrorCode::kInvalidConfig);
  EXPECT_EQ(PrepareWith(LogTable(), {{"table.datalake.historical-partition.enabled", "true"}}).code(),
            ErrorCode::kInvalidConfig);
}

Result<TableDescriptor> Alter(const TableDescriptor& table, std::string key, std::optional<std::string> value,
                              ConfigOp op = ConfigOp::kSet) {
  return AlterProperties(table, std::vector<PropertyChange>{{std::move(key), std::move(value), op}});
}

TEST(AlteredTable, OnlyAlterableOptionsAndCustomPropertiesChange) {
  const TableDescriptor log = *Prepare(LogTable());
  const TableDescriptor keyed = *Prepare(KeyTable());
  EXPECT_EQ(Alter(log, "table.log.tiered.local-segments", "5")->properties.at("table.log.tiered.local-segments"), "5");
  EXPECT_EQ(Alter(log, "owner", "me")->custom_properties.at("owner"), "me");
  EXPECT_TRUE(Alter(*Alter(log, "owner", "me"), "owner", std::nullopt, ConfigOp::kDelete)->custom_properties.empty());
  EXPECT_EQ(Alter(log, "never.set", std::nullopt, ConfigOp::kDelete).code(), ErrorCode::kNone);
  EXPECT_EQ(Alter(log, "table.log.format", "indexed").code(), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(Alter(log, "table.replication.factor", std::nullopt, ConfigOp::kDelete).code(),
            ErrorCode::kInvalidAlterTable);
  EXPECT_THAT(Alter(log, "table.log.tll", "1d").ToString(), HasSubstr("did you mean 'table.log.ttl'?"));
  EXPECT_EQ(Alter(log, "owner", std::nullopt).code(), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(Alter(log, "owner", "x", ConfigOp::kAppend).code(), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(Alter(log, "", "x").code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Alter(log, "table.log.ttl", "soon").code(), ErrorCode::kInvalidConfig);
  EXPECT_EQ(Alter(log, "table.log.tiered.local-segments", "-1").code(), ErrorCode::kInvalidConfig);
  EXPECT_EQ(Alter(log, "table.kv.standby-replica.enabled", "true").code(), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(Alter(keyed, "table.kv.standby-replica.enabled", "false").code(), ErrorCode::kNone);
  EXPECT_EQ(Alter(keyed, "table.changelog.image", "wal").code(), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(Alter(log, "table.datalake.freshness", "1min").code(), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(Alter(log, "table.datalake.enabled", "true").code(), ErrorCode::kLakeStorageNotConfigured);
  EXPECT_EQ(Alter(keyed, "table.datalake.enabled", "true").code(), ErrorCode::kInvalidAlterTable);
}

TEST(AlteredTable, ColumnsComeWithTheirAggregateFunctionsChecked) {
  const TableDescriptor log = *Prepare(LogTable());
  std::vector<AddColumn> columns = {{"more", Int(), "note", 0, std::nullopt}};
  const auto changed = AlterSchema(log, columns);
  ASSERT_TRUE(changed.ok()) << changed.ToString();
  EXPECT_EQ(changed->schema.columns.back().id, 3);
  EXPECT_EQ(changed->schema.columns.back().comment, "note");
  columns[0].aggregate = AggregateFunction{"sum", {}};
  EXPECT_EQ(AlterSchema(log, columns).code(), ErrorCode::kInvalidConfig);
  EXPECT_EQ(MakeAggregate("LAST-VALUE", {})->type, "last_value");
  EXPECT_FALSE(MakeAggregate("median", {}).ok());
}

TEST(AlteredTable, RequestsAreOfOneKind) {
  EXPECT_TRUE(CheckAlterShape({.property_changes = 2}).ok());
  EXPECT_TRUE(CheckAlterShape({.added_columns = 2}).ok());
  EXPECT_EQ(CheckAlterShape({.property_changes = 1, .added_columns = 1}).code(), ErrorCode::kInvalidAlterTable);
  for (const AlterShape& shape : {AlterShape{.dropped_columns = 1}, AlterShape{.renamed_columns = 1},
                                  AlterShape{.modified_columns = 1}, AlterShape{.changes_bucket_count = true}}) {
    EXPECT_EQ(CheckAlterShape(shape).code(), ErrorCode::kInvalidAlterTable);
  }
}

TEST(AlteredDatabase, CustomPropertiesAreSetAndDeleted) {
  DatabaseDescriptor database;
  database.custom_properties = {{"a", "1"}};
  const auto changed = AlterDatabase(
      database, std::vector<PropertyChange>{{"a", std::nullopt, ConfigOp::kDelete}, {"b", "2", ConfigOp::kSet}}, "new");
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed->custom_properties, (Properties{{"b", "2"}}));
  EXPECT_EQ(changed->comment, "new");
  EXPECT_EQ(AlterDatabase(database, std::vector<PropertyChange>{{"a", "x", ConfigOp::kAppend}}, {}).code(),
            ErrorCode::kInvalidDatabase);
}

TEST(TableConfig, HoldsWhatTheDataPathAsksFor) {
  const auto config = ParseTableConfig({{"table.log.format", "indexed"},
                                        {"table.log.ttl", "2 d"},
                                        {"table.log.arrow.compression.type", "lz4_frame"},
                                        {"table.replication.factor", "3"},
                                        {"table.statistics.columns", "*"}});
  ASSERT_TRUE(config.ok()) << config.ToString();
  EXPECT_EQ(config->log_format, LogFormat::kIndexed);
  EXPECT_EQ(config->log_ttl_ms, 2 * 86400000);
  EXPECT_EQ(config->local_log_ttl_ms, config->log_ttl_ms);
  EXPECT_EQ(config->arrow_compression, ArrowCompression::kLz4Frame);
  EXPECT_EQ(config->replication_factor, 3);
  EXPECT_EQ(config->statistics_columns, "*");
  EXPECT_EQ(ParseTableConfig({{"table.log.ttl", "soon"}}).code(), ErrorCode::kInvalidConfig);
}

}  // namespace
}  // namespace strom::model
