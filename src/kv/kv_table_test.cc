#include "kv/kv_table.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "format/random_rows.h"
#include "kv/testing/tables.h"

namespace strom::kv {
namespace {

using format::FieldView;
using format::Value;
using model::DataType;
using model::TypeRoot;
using testing::ColumnSpec;

model::Schema Grown(model::Schema schema, std::vector<ColumnSpec> more) {
  testing::AppendColumns(std::move(more), &schema);
  return schema;
}

TEST(KvTable, SaysWhereTheKeyColumnsStand) {
  model::Schema schema = testing::MakeSchema({{"v", DataType::Of(TypeRoot::kInteger)},
                                              {"day", DataType::Of(TypeRoot::kString)},
                                              {"b", DataType::Of(TypeRoot::kInteger)},
                                              {"a", DataType::Of(TypeRoot::kBigInt)}},
                                             {"a", "day", "b"});
  testing::TableSpec spec;
  spec.schemas = {schema};
  spec.partition_keys = {"day"};
  const auto table = testing::MakeTable(spec);
  EXPECT_EQ(table->key_columns(), (std::vector<size_t>{3, 2}));
  EXPECT_EQ(table->primary_key_columns(), (std::vector<size_t>{3, 1, 2}));
  EXPECT_EQ(table->auto_increment_column(), -1);
  MutableBuffer key;
  const std::vector<Value> values = {Value::Integer(1), Value::Integer(2)};
  ASSERT_TRUE(table->key_encoder().Encode(values, &key).ok());
  EXPECT_EQ(AsText(key.view()), std::string_view("\x01\x02"));
}

TEST(KvTable, EncodesKeysAsTheLakeWantsThemWithTheDefaultBucketKeyOnly) {
  testing::TableSpec spec;
  spec.schemas = {testing::MakeSchema({{"a", DataType::Of(TypeRoot::kInteger)}, {"b", DataType::Of(TypeRoot::kInteger)}}, {"a", "b"})};
  spec.properties = {{"table.datalake.format", "paimon"}, {"table.kv.format-version", "2"}};
  const std::vector<Value> values = {Value::Integer(1), Value::Integer(2)};
  MutableBuffer aligned;
  ASSERT_TRUE(testing::MakeTable(spec)->key_encoder().Encode(values, &aligned).ok());
  EXPECT_EQ(aligned.size(), 24U);
  spec.bucket_keys = {"a"};
  MutableBuffer compacted;
  ASSERT_TRUE(testing::MakeTable(spec)->key_encoder().Encode(values, &compacted).ok());
  EXPECT_EQ(compacted.size(), 2U);
}

TEST(KvTable, RefusesAKeyWithoutEncodingAndAColumnThatChangedItsType) {
  testing::TableSpec spec;
  spec.schemas = {testing::MakeSchema({{"a", DataType::Of(TypeRoot::kBoolean)}}, {"a"})};
  spec.properties = {{"table.datalake.format", "iceberg"}};
  EXPECT_EQ(testing::TryMakeTable(spec).code(), ErrorCode::kInvalidTable);

  spec.properties.clear();
  spec.schemas.push_back(spec.schemas[0]);
  spec.schemas[1].columns[0].type = DataType::Of(TypeRoot::kString, false);
  EXPECT_EQ(testing::TryMakeTable(spec).code(), ErrorCode::kInvalidTable);

  spec.schemas = {testing::MakeSchema({{"a", DataType::Of(TypeRoot::kBoolean)}}, {})};
  EXPECT_EQ(testing::TryMakeTable(spec).code(), ErrorCode::kInvalidTable);
}

TEST(KvTable, ReadsRowsOfOlderSchemasByColumnIdWithNullsForTheRest) {
  const model::Schema first = testing::MakeSchema({{"k", DataType::Of(TypeRoot::kInteger)}, {"v", DataType::Of(TypeRoot::kString)}}, {"k"});
  testing::TableSpec spec;
  spec.schemas = {first, Grown(first, {{"w", DataType::Of(TypeRoot::kInteger)}})};
  const auto table = testing::MakeTable(spec);
  const Buffer row = testing::EncodeRow(*table, 1, {Value::Integer(7), Value::String("x")});
  std::vector<FieldView> fields;
  ASSERT_TRUE(table->ReadInLatest({1, row.view()}, &fields).ok());
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[0].number, 7);
  EXPECT_EQ(fields[1].text(), "x");
  EXPECT_TRUE(fields[2].is_null);
  EXPECT_EQ(table->ReadInLatest({3, row.view()}, &fields).code(), ErrorCode::kSchemaNotExist);
  EXPECT_EQ(table->ReadInLatest({1, row.view().first(2)}, &fields).code(), ErrorCode::kCorruptRecord);
}

TEST(KvTable, ReadsColumnsThatStandElsewhereInTheLatestSchema) {
  const model::Schema first =
      testing::MakeSchema({{"k", DataType::Of(TypeRoot::kInteger)}, {"gone", DataType::Of(TypeRoot::kString)}, {"v", DataType::Of(TypeRoot::kInteger)}}, {"k"});
  model::Schema second = first;
  std::swap(second.columns[0], second.columns[2]);
  second.columns.erase(second.columns.begin() + 1);
  testing::TableSpec spec;
  spec.schemas = {first, second};
  const auto table = testing::MakeTable(spec);
  const Buffer row = testing::EncodeRow(*table, 1, {Value::Integer(7), Value::String("x"), Value::Integer(9)});
  std::vector<FieldView> fields;
  ASSERT_TRUE(table->ReadInLatest({1, row.view()}, &fields).ok());
  EXPECT_EQ(fields[0].number, 9);
  EXPECT_EQ(fields[1].number, 7);
}

TEST(KvTable, WritesWhatItReadsInBothRowFormats) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    format::RandomRows rows(seed);
    std::vector<ColumnSpec> columns = {{"k", DataType::Of(TypeRoot::kInteger)}};
    for (const model::DataField& field : rows.RandomFields(8, 2)) columns.push_back({field.name, field.type});
    testing::TableSpec spec;
    spec.schemas = {testing::MakeSchema(columns, {"k"})};
    spec.properties["table.kv.format"] = seed % 2 == 0 ? "indexed" : "compacted";
    const auto table = testing::MakeTable(spec);
    std::vector<FieldView> fields;
    for (int i = 0; i < 20; ++i) {
      const Value row = rows.RandomRow(table->latest().fields);
      const Buffer bytes = testing::EncodeRow(*table, 1, row.items());
      ASSERT_TRUE(table->ReadInLatest({1, bytes.view()}, &fields).ok());
      MutableBuffer out;
      ASSERT_TRUE(table->WriteLatest(fields, &out).ok());
      ASSERT_EQ(AsText(out.view()), bytes.text());
    }
  }
}

TEST(KvTable, LeavesTheOutputAsItWasWhenARowDoesNotFit) {
  testing::TableSpec spec;
  spec.schemas = {testing::MakeSchema({{"k", DataType::Of(TypeRoot::kInteger)}, {"c", DataType::Char(2)}}, {"k"})};
  spec.properties["table.kv.format"] = "indexed";
  const auto table = testing::MakeTable(spec);
  MutableBuffer out;
  out.Append("ab");
  const std::vector<FieldView> fields = {FieldView::Number(1), FieldView::Bytes(AsBytes("xyz"))};
  EXPECT_FALSE(table->WriteLatest(fields, &out).ok());
  EXPECT_EQ(AsText(out.view()), "ab");
}

}  // namespace
}  // namespace strom::kv
