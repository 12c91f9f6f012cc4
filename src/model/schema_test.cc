#include "model/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "model/json_writer.h"
#include "model/schema_validation.h"
#include "model/table_bucket.h"
#include "model/table_descriptor.h"

namespace strom::model {
namespace {

using ::testing::HasSubstr;

DataType RandomType(Random* random, int depth) {
  const bool nullable = random->OneIn(2);
  switch (random->Below(depth > 3 ? 12 : 15)) {
    case 0:
      return DataType::Char(static_cast<int32_t>(random->Between(1, INT32_MAX)), nullable);
    case 1:
      return DataType::Binary(static_cast<int32_t>(random->Between(1, 99)), nullable);
    case 2: {
      const auto precision = static_cast<int32_t>(random->Between(1, 38));
      return DataType::Decimal(precision, static_cast<int32_t>(random->Between(0, precision)), nullable);
    }
    case 3:
      return DataType::Time(static_cast<int32_t>(random->Below(10)), nullable);
    case 4:
      return DataType::Timestamp(static_cast<int32_t>(random->Below(10)), nullable);
    case 5:
      return DataType::TimestampLtz(static_cast<int32_t>(random->Below(10)), nullable);
    case 6:
      return DataType::Of(TypeRoot::kString, nullable);
    case 7:
      return DataType::Of(TypeRoot::kBytes, nullable);
    case 8:
      return DataType::Of(TypeRoot::kDate, nullable);
    case 9:
      return DataType::Of(TypeRoot::kBoolean, nullable);
    case 10:
      return DataType::Of(TypeRoot::kDouble, nullable);
    case 11:
      return DataType::Of(TypeRoot::kBigInt, nullable);
    case 12:
      return DataType::Array(RandomType(random, depth + 1), nullable);
    case 13:
      return DataType::Map(RandomType(random, depth + 1), RandomType(random, depth + 1), nullable);
    default: {
      std::vector<DataField> fields;
      for (uint64_t i = random->Below(4); i > 0; --i) {
        DataField field;
        field.name = fmt::format("f{}", i);
        field.type = RandomType(random, depth + 1);
        if (random->OneIn(3)) field.description = "with \"quotes\", \\ and \xC3\xBC\n";
        fields.push_back(std::move(field));
      }
      return DataType::Row(std::move(fields), nullable);
    }
  }
}

Schema RandomSchema(Random* random) {
  Schema schema;
  for (uint64_t i = random->Between(1, 6); i > 0; --i) {
    Column column;
    column.name = fmt::format("c{}", i);
    column.type = RandomType(random, 0);
    if (random->OneIn(3)) column.comment = "comment";
    schema.columns.push_back(std::move(column));
  }
  AssignFieldIds(&schema);
  return schema;
}

TEST(SchemaJson, RandomSchemasComeBackAsTheyWere) {
  constexpr uint64_t kSeed = 20260801;
  Random random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE(fmt::format("seed {} round {}", kSeed, i));
    const Schema schema = RandomSchema(&random);
    ASSERT_TRUE(ValidateSchema(schema).ok());
    const auto read = ParseSchemaJson(ToJson(schema));
    ASSERT_TRUE(read.ok()) << read.ToString();
    ASSERT_EQ(read->columns.size(), schema.columns.size());
    for (size_t c = 0; c < schema.columns.size(); ++c) {
      EXPECT_EQ(read->columns[c].type, schema.columns[c].type);
      EXPECT_EQ(read->columns[c].comment, schema.columns[c].comment);
      EXPECT_EQ(read->columns[c].id, schema.columns[c].id);
    }
    EXPECT_EQ(read->highest_field_id, schema.highest_field_id);
    EXPECT_EQ(ToJson(*read), ToJson(schema));
  }
}

TEST(SchemaJson, TheExampleOfTheSpecIsWrittenByteForByte) {
  const std::string json =
      R"({"version":1,"columns":[{"name":"uid","data_type":{"type":"BIGINT","nullable":false},"id":0},{"name":"pos","data_type":{"type":"ROW","fields":[{"name":"x","field_type":{"type":"INTEGER"},"field_id":2}]},"comment":"where","id":1},{"name":"total","data_type":{"type":"BIGINT"},"agg_function":{"type":"sum"},"id":3}],"primary_key":["uid"],"highest_field_id":3})";
  const auto schema = ParseSchemaJson(json);
  ASSERT_TRUE(schema.ok()) << schema.ToString();
  EXPECT_EQ(ToJson(*schema), json);
}

TEST(SchemaJson, ErrorsNameThePlace) {
  const auto error = ParseSchemaJson(
      R"({"columns":[{"name":"a","data_type":{"type":"INTEGER"}},{"name":"b","data_type":{"type":"CHAR","length":0}}]})");
  EXPECT_EQ(error.code(), ErrorCode::kInvalidTable);
  EXPECT_THAT(error.ToString(), HasSubstr("columns[1].data_type.length"));
  EXPECT_THAT(ParseSchemaJson("{}").ToString(), HasSubstr("\"columns\" is missing"));
  EXPECT_THAT(ParseSchemaJson("[").ToString(), HasSubstr("not a JSON document"));
  EXPECT_THAT(ParseDataTypeJson(R"({"type":"VARCHAR"})").ToString(), HasSubstr("\"VARCHAR\" is not a data type"));
  EXPECT_FALSE(ParseDataTypeJson(R"({"type":"DECIMAL","precision":39,"scale":0})").ok());
  EXPECT_FALSE(ParseDataTypeJson(R"({"type":"DECIMAL","precision":3,"scale":4})").ok());
  EXPECT_FALSE(ParseDataTypeJson(R"({"type":"TIME_WITHOUT_TIME_ZONE"})").ok());
  EXPECT_FALSE(ParseDataTypeJson(R"({"type":"CHAR","length":1.0})").ok());
  EXPECT_FALSE(ParseDataTypeJson(R"({"type":"CHAR","length":18446744073709551615})").ok());
}

TEST(SchemaJson, NestingIsReadTo64LevelsAndNotFurther) {
  const auto nested = [](int levels) {
    std::string json = R"({"type":"INTEGER"})";
    for (int i = 1; i < levels; ++i) json = R"({"type":"ROW","fields":[{"name":"f","field_type":)" + json + "}]}";
    return json;
  };
  EXPECT_TRUE(ParseDataTypeJson(nested(kTypeDepthMax)).ok());
  EXPECT_FALSE(ParseDataTypeJson(nested(kTypeDepthMax + 1)).ok());
  EXPECT_THAT(ParseDataTypeJson(std::string(1 << 20, '[')).ToString(), HasSubstr("levels deep"));
  EXPECT_FALSE(ParseDataTypeJson(nested(1000)).ok());
}

TEST(SchemaJson, MissingIdsAreGivenInDeclarationOrder) {
  const auto schema = ParseSchemaJson(
      R"({"columns":[{"name":"a","data_type":{"type":"INTEGER"}},{"name":"r","data_type":{"type":"ROW","fields":[{"name":"x","field_type":{"type":"ARRAY","element_type":{"type":"ROW","fields":[{"name":"y","field_type":{"type":"DATE"}}]}}}]}},{"name":"b","data_type":{"type":"STRING"}}]})");
  ASSERT_TRUE(schema.ok()) << schema.ToString();
  EXPECT_EQ(schema->columns[0].id, 0);
  EXPECT_EQ(schema->columns[1].id, 1);
  EXPECT_EQ((*schema->columns[1].type.fields)[0].field_id, 2);
  EXPECT_EQ((*(*schema->columns[1].type.fields)[0].type.element().fields)[0].field_id, 3);
  EXPECT_EQ(schema->columns[2].id, 4);
  EXPECT_EQ(schema->highest_field_id, 4);
}

TEST(SchemaJson, UnknownAggregateFunctionsAreDroppedAndKnownOnesNormalised) {
  const auto schema = ParseSchemaJson(
      R"({"columns":[{"name":"a","data_type":{"type":"INTEGER"},"agg_function":{"type":"Last-Value"}},{"name":"b","data_type":{"type":"INTEGER"},"agg_function":{"type":"median"}},{"name":"c","data_type":{"type":"STRING"},"agg_function":{"type":"listagg","parameters":{"delimiter":";"}}}]})");
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(schema->columns[0].aggregate->type, "last_value");
  EXPECT_FALSE(schema->columns[1].aggregate.has_value());
  EXPECT_EQ(schema->columns[2].aggregate->parameters.at("delimiter"), ";");
}

TEST(TableJson, TheExampleOfTheSpecIsWrittenByteForByte) {
  const std::string json =
      R"({"version":1,"schema":{"version":1,"columns":[{"name":"d","data_type":{"type":"STRING","nullable":false},"id":0},{"name":"k","data_type":{"type":"INTEGER","nullable":false},"id":1},{"name":"v","data_type":{"type":"STRING"},"id":2}],"primary_key":["k","d"],"highest_field_id":2},"comment":"orders","partition_key":["d"],"bucket_key":["k"],"bucket_count":3,"properties":{"table.kv.format-version":"2","table.replication.factor":"1"},"custom_properties":{"team":"a"}})";
  const auto table = ParseTableDescriptorJson(json);
  ASSERT_TRUE(table.ok()) << table.ToString();
  EXPECT_EQ(ToJson(*table), json);
}

TEST(TableJson, ABucketCountNeedsABucketKey) {
  const std::string head = R"({"schema":{"columns":[]},"partition_key":[],"properties":{},"custom_properties":{})";
  EXPECT_FALSE(ParseTableDescriptorJson(head + R"(,"bucket_count":3})").ok());
  const auto with_key = ParseTableDescriptorJson(head + R"(,"bucket_key":[],"bucket_count":3})");
  ASSERT_TRUE(with_key.ok());
  EXPECT_TRUE(with_key->has_distribution);
  const auto without = ParseTableDescriptorJson(head + "}");
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->has_distribution);
  EXPECT_FALSE(without->bucket_count.has_value());
  EXPECT_THAT(ParseTableDescriptorJson(
                  R"({"schema":{"columns":[]},"partition_key":[],"properties":{"a":1},"custom_properties":{}})")
                  .ToString(),
              HasSubstr("properties.a: a string was expected"));
}

TEST(DatabaseJson, CommentAndCustomProperties) {
  const auto database =
      ParseDatabaseDescriptorJson(R"({"version":1,"comment":"raw zone","custom_properties":{"owner":"ops"},"more":1})");
  ASSERT_TRUE(database.ok()) << database.ToString();
  EXPECT_EQ(ToJson(*database), R"({"version":1,"comment":"raw zone","custom_properties":{"owner":"ops"}})");
  EXPECT_EQ(ParseDatabaseDescriptorJson(R"({"version":1})").code(), ErrorCode::kInvalidDatabase);
}

TEST(JsonWriter, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(JsonWriter().String("a\xFF\xC3\xBC\xC3").Take(), "\"a\xEF\xBF\xBD\xC3\xBC\xEF\xBF\xBD\"");
  EXPECT_EQ(JsonWriter().String(std::string_view("\x01\t\"\\", 4)).Take(), R"("\u0001\t\"\\")");
  EXPECT_FALSE(IsUtf8("\xED\xA0\x80"));      // a surrogate
  EXPECT_FALSE(IsUtf8("\xC0\x80"));          // overlong
  EXPECT_FALSE(IsUtf8("\xF4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_TRUE(IsUtf8("\xF0\x9F\x98\x80 \xE2\x82\xAC"));
}

TEST(DataTypes, PhysicalTypesDoNotLookAtNamesAndNullability) {
  DataField a{"a", DataType::Of(TypeRoot::kInteger), std::nullopt, 1};
  DataField b{"b", DataType::Of(TypeRoot::kInteger, false), "text", 2};
  EXPECT_TRUE(SamePhysicalType(DataType::Row({a}), DataType::Row({b}, false)));
  EXPECT_FALSE(DataType::Row({a}) == DataType::Row({b}));
  EXPECT_FALSE(SamePhysicalType(DataType::Row({a}), DataType::Row({a, b})));
  EXPECT_FALSE(SamePhysicalType(DataType::Timestamp(3), DataType::Timestamp(6)));
  EXPECT_TRUE(DataType::Decimal(18, 0).is_compact_decimal());
  EXPECT_FALSE(DataType::Decimal(19, 0).is_compact_decimal());
}

TEST(OwnerShard, BucketsOfATableSpreadEvenlyAndTablesDiffer) {
  constexpr uint32_t kShards = 4;
  std::vector<int> first_buckets(kShards);
  for (int64_t table = 0; table < 1000; ++table) {
    std::vector<int> counts(kShards);
    for (int32_t bucket = 0; bucket < 8; ++bucket) {
      const uint32_t shard = OwnerShard({TableId(table), std::nullopt, BucketId(bucket)}, kShards);
      ASSERT_LT(shard, kShards);
      ++counts[shard];
      if (bucket == 0) ++first_buckets[shard];
    }
    EXPECT_EQ(counts, std::vector<int>(kShards, 2));
  }
  for (const int count : first_buckets) EXPECT_GT(count, 180);
  EXPECT_EQ(TableBucket({TableId(7), PartitionId(3), BucketId(2)}).ToString(), "table 7 partition 3 bucket 2");
  EXPECT_EQ(TableBucket({TableId(7), std::nullopt, BucketId(2)}).ToString(), "table 7 bucket 2");
}

TEST(Names, AreOfLettersDigitsUnderscoreAndDash) {
  const auto code = [](std::string_view name) { return ValidateName("table", name, ErrorCode::kInvalidTable).code(); };
  EXPECT_EQ(code("a-B_9"), ErrorCode::kNone);
  EXPECT_EQ(code(std::string(200, 'x')), ErrorCode::kNone);
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a.b"), std::string("a b"), std::string("a$b"),
        std::string("__internal"), std::string("\xC3\xBC"), std::string(201, 'x')}) {
    EXPECT_EQ(code(bad), ErrorCode::kInvalidTable) << bad;
  }
  EXPECT_THAT(ValidateName("database", "a\nb\xFF", ErrorCode::kInvalidDatabase).ToString(),
              HasSubstr("not plain text"));
}

TEST(AddedColumns, GetNewIdsAboveAllThatWereEverUsed) {
  Random random(7);
  Schema schema = RandomSchema(&random);
  schema.highest_field_id += 10;  // a dropped column had them
  DataField field{"x", DataType::Of(TypeRoot::kInteger), std::nullopt, 0};
  const std::vector<AddColumn> added = {{"new", DataType::Row({field}), "why", 0, std::nullopt},
                                        {"last", DataType::Of(TypeRoot::kDate), {}, 0, {}}};
  const auto changed = AddColumns(schema, added);
  ASSERT_TRUE(changed.ok()) << changed.ToString();
  const Column& row = changed->columns[schema.columns.size()];
  EXPECT_EQ(row.id, schema.highest_field_id + 1);
  EXPECT_EQ((*row.type.fields)[0].field_id, schema.highest_field_id + 2);
  EXPECT_EQ(changed->columns.back().id, schema.highest_field_id + 3);
  EXPECT_EQ(changed->highest_field_id, schema.highest_field_id + 3);
}

TEST(AddedColumns, AreRefusedWhenTheyCannotBe) {
  Schema schema;
  schema.columns = {{"a", DataType::Of(TypeRoot::kInteger), {}, {}, 0}};
  schema.highest_field_id = 0;
  const auto code = [&](AddColumn column) {
    return AddColumns(schema, std::vector<AddColumn>{std::move(column)}).code();
  };
  EXPECT_EQ(code({"b", DataType::Of(TypeRoot::kInteger), {}, 0, {}}), ErrorCode::kNone);
  EXPECT_EQ(code({"a", DataType::Of(TypeRoot::kInteger), {}, 0, {}}), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(code({"b", DataType::Of(TypeRoot::kInteger, false), {}, 0, {}}), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(code({"b", DataType::Of(TypeRoot::kInteger), {}, 1, {}}), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(code({"__offset", DataType::Of(TypeRoot::kInteger), {}, 0, {}}), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(code({"", DataType::Of(TypeRoot::kInteger), {}, 0, {}}), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(code({"\xFF", DataType::Of(TypeRoot::kInteger), {}, 0, {}}), ErrorCode::kInvalidAlterTable);
  schema.highest_field_id = INT32_MAX;  // no id is left
  EXPECT_EQ(code({"b", DataType::Of(TypeRoot::kInteger), {}, 0, {}}), ErrorCode::kInvalidAlterTable);
}

}  // namespace
}  // namespace strom::model
