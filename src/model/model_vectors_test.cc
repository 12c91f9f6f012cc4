// The golden vectors of the kinds that this room owns (testdata/vectors/README.md).

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/auto_partition.h"
#include "model/civil_time.h"
#include "model/data_type.h"
#include "model/layout.h"
#include "model/partition.h"
#include "model/schema.h"

namespace strom::model {
namespace {

using Json = nlohmann::json;

std::vector<Json> VectorsOfKind(const std::string& kind) {
  const char* folder = std::getenv("STROM_VECTORS");
  std::ifstream file(std::string(folder != nullptr ? folder : STROM_SOURCE_DIR "/testdata/vectors") + "/vectors.json");
  std::vector<Json> found;
  const Json index = Json::parse(file);
  for (const Json& vector : index["vectors"]) {
    if (vector["kind"] == kind) found.push_back(vector);
  }
  return found;
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

/// "TIMESTAMP(3)" of the scalar types.
DataType TypeOf(const std::string& text) {
  const size_t open = text.find('(');
  const std::string name = text.substr(0, open);
  const int n = open == std::string::npos ? 0 : std::stoi(text.substr(open + 1));
  if (name == "CHAR") return DataType::Char(n);
  if (name == "BINARY") return DataType::Binary(n);
  if (name == "TIME") return DataType::Time(n);
  if (name == "TIMESTAMP") return DataType::Timestamp(n);
  if (name == "TIMESTAMP_LTZ") return DataType::TimestampLtz(n);
  const std::map<std::string, TypeRoot> roots = {
      {"STRING", TypeRoot::kString}, {"BOOLEAN", TypeRoot::kBoolean}, {"BYTES", TypeRoot::kBytes}, {"TINYINT", TypeRoot::kTinyInt},
      {"SMALLINT", TypeRoot::kSmallInt}, {"INT", TypeRoot::kInteger}, {"BIGINT", TypeRoot::kBigInt}, {"DATE", TypeRoot::kDate},
      {"FLOAT", TypeRoot::kFloat}, {"DOUBLE", TypeRoot::kDouble}};
  return DataType::Of(roots.at(name));
}

PartitionValue ValueOf(const DataType& type, const Json& json) {
  switch (type.root) {
    case TypeRoot::kChar:
    case TypeRoot::kString: return json.get<std::string>();
    case TypeRoot::kBinary:
    case TypeRoot::kBytes: return FromHex(json["hex"]);
    case TypeRoot::kBoolean: return json.get<bool>();
    case TypeRoot::kFloat: return std::bit_cast<float>(static_cast<uint32_t>(std::stoul(json["bits"].get<std::string>(), nullptr, 16)));
    case TypeRoot::kDouble: return std::bit_cast<double>(static_cast<uint64_t>(std::stoull(json["bits"].get<std::string>(), nullptr, 16)));
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz: return TimestampValue{json["millis"].get<int64_t>(), json["nanos_of_milli"].get<int32_t>()};
    default: return json.get<int64_t>();
  }
}

TEST(ModelVectors, SchemaJson) {
  const auto vectors = VectorsOfKind("schema_json");
  ASSERT_FALSE(vectors.empty());
  for (const Json& vector : vectors) {
    const auto schema = ParseSchemaJson(vector["json"].dump());
    ASSERT_TRUE(schema.ok()) << schema.ToString();
    EXPECT_EQ(Json::parse(ToJson(*schema)), vector["json"]) << vector["id"];
  }
}

TEST(ModelVectors, TypesJson) {
  const auto vectors = VectorsOfKind("types_json");
  ASSERT_FALSE(vectors.empty());
  for (const Json& vector : vectors) {
    for (const Json& item : vector["cases"]) {
      const auto type = ParseDataTypeJson(item["json"].dump());
      ASSERT_TRUE(type.ok()) << type.ToString();
      EXPECT_EQ(Json::parse(ToJson(*type)), item["json"]);
      EXPECT_EQ(type->ToString(), item["type_string"]);
    }
  }
}

TEST(ModelVectors, PartitionValue) {
  const auto vectors = VectorsOfKind("partition_value");
  ASSERT_FALSE(vectors.empty());
  for (const Json& vector : vectors) {
    for (const Json& item : vector["cases"]) {
      const DataType type = TypeOf(item["type"]);
      const auto text = PartitionValueToString(type, ValueOf(type, item["value"]));
      ASSERT_TRUE(text.ok()) << text.ToString();
      EXPECT_EQ(*text, item["string"]) << item.dump();
    }
  }
}

TEST(ModelVectors, PartitionName) {
  const auto vectors = VectorsOfKind("partition_name");
  ASSERT_FALSE(vectors.empty());
  for (const Json& vector : vectors) {
    for (const Json& item : vector["cases"]) {
      const std::vector<std::string> keys = item["keys"];
      const auto spec = ParsePartitionName(keys, item["name"].get<std::string>());
      ASSERT_TRUE(spec.ok()) << spec.ToString();
      EXPECT_EQ(spec->Name(), item["name"]);
      EXPECT_EQ(spec->QualifiedName(), item["qualified"]);
    }
  }
}

TEST(ModelVectors, AutoPartition) {
  const auto vectors = VectorsOfKind("auto_partition");
  ASSERT_FALSE(vectors.empty());
  for (const Json& vector : vectors) {
    // The description of the second one carries its format.
    const std::string description = vector["description"];
    const size_t format = description.find("time-format ");
    for (const Json& item : vector["cases"]) {
      Properties properties = {{"table.auto-partition.enabled", "true"},
                               {"table.auto-partition.time-zone", "UTC"},
                               {"table.auto-partition.time-unit", item["unit"]}};
      if (format != std::string::npos) properties["table.auto-partition.time-format"] = description.substr(format + 12);
      const auto partitioning = ParseAutoPartition(properties);
      ASSERT_TRUE(partitioning.ok()) << partitioning.ToString();
      int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
      ASSERT_EQ(std::sscanf(item["time"].get<std::string>().c_str(), "%d-%d-%dT%d:%d:%dZ", &year, &month, &day, &hour, &minute, &second), 6);
      const int64_t seconds = DaysFromCivil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
      const auto value = AutoPartitionValue(*partitioning, TimestampMs(seconds * 1000), item["offset"]);
      ASSERT_TRUE(value.ok()) << value.ToString();
      EXPECT_EQ(*value, item["value"]) << item.dump();
    }
  }
}

TEST(ModelVectors, Paths) {
  const TablePath table{"my_db", "my-table"};
  const TableBucket plain{TableId(150001), std::nullopt, BucketId(7)};
  const TableBucket part{TableId(150001), PartitionId(3), BucketId(1)};
  const PhysicalTablePath whole{table, std::nullopt};
  const PhysicalTablePath partition{table, "eu$2024-01-01"};
  const std::string uuid = "d1a2b3c4-0000-4000-8000-0123456789ab";
  const std::string remote = "s3://bucket/fluss";
  const std::string log_tablet = RemoteLogTabletDirectory(remote, whole, plain);
  const std::string kv_tablet = RemoteKvTabletDirectory(remote, whole, plain);
  const std::map<std::string, std::string> made = {
      {"log tablet dir (data dir /data)", LogTabletDirectory("/data", whole, plain)},
      {"kv tablet dir", KvTabletDirectory("/data", whole, plain)},
      {"log tablet dir, partition eu$2024-01-01 id 3, bucket 1, table id 150001", LogTabletDirectory("/data", partition, part)},
      {"kv tablet dir, partition", KvTabletDirectory("/data", partition, part)},
      {"log file base offset 0", "/l/" + OffsetFileName(LogOffset(0), kSegmentSuffix)},
      {"offset index 123456", "/l/" + OffsetFileName(LogOffset(123456), kOffsetIndexSuffix)},
      {"time index", "/l/" + OffsetFileName(LogOffset(123456), kTimeIndexSuffix)},
      {"writer snapshot", "/l/" + OffsetFileName(LogOffset(INT64_MAX), kWriterSnapshotSuffix)},
      {"remote log dir", RemoteLogDirectory(remote)},
      {"remote log tablet dir", log_tablet},
      {"remote log tablet dir, partition", RemoteLogTabletDirectory(remote, partition, part)},
      {"remote log segment dir", log_tablet + "/" + uuid},
      {"remote log segment file, base offset 500", log_tablet + "/" + uuid + "/" + OffsetFileName(LogOffset(500), kSegmentSuffix)},
      {"remote manifest", RemoteLogManifestFile(log_tablet, uuid)},
      {"remote kv tablet dir", kv_tablet},
      {"remote kv tablet dir, partition", RemoteKvTabletDirectory(remote, partition, part)},
      {"remote kv snapshot dir 12", RemoteKvSnapshotDirectory(kv_tablet, 12)},
      {"remote kv shared dir", RemoteKvSharedDirectory(kv_tablet)},
      {"remote lake table snapshot dir", RemoteLakeTableDirectory(remote, table, TableId(150001))},
      {"remote producer offsets", RemoteProducerOffsetsFile(remote, "prod-1", TableId(150001), uuid)},
  };
  const auto vectors = VectorsOfKind("paths");
  ASSERT_FALSE(vectors.empty());
  for (const Json& vector : vectors) {
    for (const Json& item : vector["cases"]) {
      const auto found = made.find(item["what"]);
      ASSERT_NE(found, made.end()) << item["what"];
      EXPECT_EQ(found->second, item["path"]);
    }
  }
}

}  // namespace
}  // namespace strom::model
