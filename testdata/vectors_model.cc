#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "model/auto_partition.h"
#include "model/civil_time.h"
#include "model/layout.h"
#include "model/partition.h"
#include "model/schema.h"
#include "vector.h"

namespace strom::vectors {
namespace {

using model::DataType;
using model::TypeRoot;

/// Documents are compared as trees: the order of members does not count.
void ExpectSameJson(const std::string& text, const std::string& expected) {
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(expected));
}

void CheckSchemaJson(const Vector& vector) {
  const std::string text = vector.at("json").dump();
  const auto schema = model::ParseSchemaJson(text);
  ASSERT_TRUE(schema.ok()) << schema.ToString();
  ExpectSameJson(model::ToJson(*schema), text);
}

void CheckTypesJson(const Vector& vector) {
  for (const Json& test : vector.at("cases")) {
    const std::string text = test.at("json").dump();
    const auto type = model::ParseDataTypeJson(text);
    ASSERT_TRUE(type.ok()) << type.ToString();
    ExpectSameJson(model::ToJson(*type), text);
    EXPECT_EQ(type->ToString(), test.at("type_string").get<std::string>());
  }
}

/// The scalar type that "TIMESTAMP(3)" names.
DataType TypeFrom(const std::string& text) {
  const size_t open = text.find('(');
  const std::string name = text.substr(0, open);
  const int32_t parameter = open == std::string::npos ? 0 : std::stoi(text.substr(open + 1));
  if (name == "CHAR") return DataType::Char(parameter);
  if (name == "BINARY") return DataType::Binary(parameter);
  if (name == "TIME") return DataType::Time(parameter);
  if (name == "TIMESTAMP") return DataType::Timestamp(parameter);
  if (name == "TIMESTAMP_LTZ") return DataType::TimestampLtz(parameter);
  const std::map<std::string, TypeRoot> roots = {
      {"BOOLEAN", TypeRoot::kBoolean}, {"TINYINT", TypeRoot::kTinyInt}, {"SMALLINT", TypeRoot::kSmallInt}, {"INT", TypeRoot::kInteger},
      {"BIGINT", TypeRoot::kBigInt},   {"FLOAT", TypeRoot::kFloat},     {"DOUBLE", TypeRoot::kDouble},     {"STRING", TypeRoot::kString},
      {"BYTES", TypeRoot::kBytes},     {"DATE", TypeRoot::kDate}};
  const auto root = roots.find(name);
  EXPECT_TRUE(root != roots.end()) << text;
  return DataType::Of(root != roots.end() ? root->second : TypeRoot::kInteger);
}

model::PartitionValue PartitionValueFrom(const DataType& type, const Json& json) {
  const format::Value value = ValueFrom(type, json);
  switch (value.kind()) {
    case format::Value::Kind::kBoolean:
      return value.boolean();
    case format::Value::Kind::kFloat:
      return value.float_value();
    case format::Value::Kind::kDouble:
      return value.double_value();
    case format::Value::Kind::kBytes:
      return std::string(value.text());
    case format::Value::Kind::kTimestamp:
      return value.timestamp();
    default:
      return value.integer();
  }
}

void CheckPartitionValue(const Vector& vector) {
  for (const Json& test : vector.at("cases")) {
    const DataType type = TypeFrom(test.at("type").get<std::string>());
    const auto text = model::PartitionValueToString(type, PartitionValueFrom(type, test.at("value")));
    ASSERT_TRUE(text.ok()) << text.ToString();
    EXPECT_EQ(*text, test.at("string").get<std::string>());
  }
}

void CheckPartitionName(const Vector& vector) {
  for (const Json& test : vector.at("cases")) {
    const auto name = test.at("name").get<std::string>();
    const auto spec = model::ParsePartitionName(test.at("keys").get<std::vector<std::string>>(), name);
    ASSERT_TRUE(spec.ok()) << spec.ToString();
    EXPECT_EQ(spec->Name(), name);
    EXPECT_EQ(spec->QualifiedName(), test.at("qualified").get<std::string>());
  }
}

/// "2024-11-11T11:00:00Z"
TimestampMs TimeFrom(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  EXPECT_EQ(std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%dZ", &year, &month, &day, &hour, &minute, &second), 6) << text;
  return TimestampMs((model::DaysFromCivil(year, month, day) * 86'400 + hour * 3600 + minute * 60 + second) * 1000);
}

/// A custom format stands at the end of the description: "custom table.auto-partition.time-format yyyy-MM-dd".
void CheckAutoPartition(const Vector& vector) {
  const std::string description = vector.text("description");
  const std::string mark = "time-format ";
  const size_t at = description.find(mark);
  for (const Json& test : vector.at("cases")) {
    model::Properties properties = {{"table.auto-partition.enabled", "true"},
                                    {"table.auto-partition.time-zone", "UTC"},
                                    {"table.auto-partition.time-unit", test.at("unit").get<std::string>()}};
    if (at != std::string::npos) properties["table.auto-partition.time-format"] = description.substr(at + mark.size());
    const auto partitioning = model::ParseAutoPartition(properties);
    ASSERT_TRUE(partitioning.ok()) << partitioning.ToString();
    const auto value = model::AutoPartitionValue(*partitioning, TimeFrom(test.at("time").get<std::string>()), test.at("offset").get<int64_t>());
    ASSERT_TRUE(value.ok()) << value.ToString();
    EXPECT_EQ(*value, test.at("value").get<std::string>()) << test.dump();
  }
}

/// What the vector calls each path, made by us.
std::map<std::string, std::string> Paths() {
  const model::TablePath table{"my_db", "my-table"};
  const model::PhysicalTablePath whole{table, std::nullopt};
  const model::PhysicalTablePath partition{table, "eu$2024-01-01"};
  const model::TableBucket bucket{TableId(150001), std::nullopt, BucketId(7)};
  const model::TableBucket partition_bucket{TableId(150001), PartitionId(3), BucketId(1)};
  const std::string uuid = "d1a2b3c4-0000-4000-8000-0123456789ab";
  const std::string remote = "s3://bucket/fluss";
  const std::string remote_log = model::RemoteLogTabletDirectory(remote, whole, bucket);
  const std::string remote_kv = model::RemoteKvTabletDirectory(remote, whole, bucket);
  auto file = [](int64_t offset, std::string_view suffix) { return model::OffsetFileName(LogOffset(offset), suffix); };
  return {
      {"log tablet dir (data dir /data)", model::LogTabletDirectory("/data", whole, bucket)},
      {"kv tablet dir", model::KvTabletDirectory("/data", whole, bucket)},
      {"log tablet dir, partition eu$2024-01-01 id 3, bucket 1, table id 150001",
       model::LogTabletDirectory("/data", partition, partition_bucket)},
      {"kv tablet dir, partition", model::KvTabletDirectory("/data", partition, partition_bucket)},
      {"log file base offset 0", "/l/" + file(0, model::kSegmentSuffix)},
      {"offset index 123456", "/l/" + file(123456, model::kOffsetIndexSuffix)},
      {"time index", "/l/" + file(123456, model::kTimeIndexSuffix)},
      {"writer snapshot", "/l/" + file(INT64_MAX, model::kWriterSnapshotSuffix)},
      {"remote log dir", model::RemoteLogDirectory(remote)},
      {"remote log tablet dir", remote_log},
      {"remote log tablet dir, partition", model::RemoteLogTabletDirectory(remote, partition, partition_bucket)},
      {"remote log segment dir", remote_log + "/" + uuid},
      {"remote log segment file, base offset 500", remote_log + "/" + uuid + "/" + file(500, model::kSegmentSuffix)},
      {"remote manifest", model::RemoteLogManifestFile(remote_log, uuid)},
      {"remote kv tablet dir", remote_kv},
      {"remote kv tablet dir, partition", model::RemoteKvTabletDirectory(remote, partition, partition_bucket)},
      {"remote kv snapshot dir 12", model::RemoteKvSnapshotDirectory(remote_kv, 12)},
      {"remote kv shared dir", model::RemoteKvSharedDirectory(remote_kv)},
      {"remote lake table snapshot dir", model::RemoteLakeTableDirectory(remote, table, TableId(150001))},
      {"remote producer offsets", model::RemoteProducerOffsetsFile(remote, "prod-1", TableId(150001), uuid)},
  };
}

void CheckPaths(const Vector& vector) {
  const auto paths = Paths();
  for (const Json& test : vector.at("cases")) {
    const auto what = test.at("what").get<std::string>();
    const auto path = paths.find(what);
    ASSERT_TRUE(path != paths.end()) << what;
    EXPECT_EQ(path->second, test.at("path").get<std::string>()) << what;
  }
}

}  // namespace

void AddModelChecks(Checks* checks) {
  (*checks)["schema_json"] = CheckSchemaJson;
  (*checks)["types_json"] = CheckTypesJson;
  (*checks)["partition_value"] = CheckPartitionValue;
  (*checks)["partition_name"] = CheckPartitionName;
  (*checks)["auto_partition"] = CheckAutoPartition;
  (*checks)["paths"] = CheckPaths;
}

}  // namespace strom::vectors
