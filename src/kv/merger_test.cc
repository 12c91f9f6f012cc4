#include "kv/merger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kv/aggregate.h"
#include "kv/testing/tables.h"

namespace strom::kv {
namespace {

using format::FieldView;
using format::Int128;
using format::Value;
using model::DataType;
using model::DeleteBehavior;
using model::TypeRoot;
using ::testing::HasSubstr;

const DataType kInt = DataType::Of(TypeRoot::kInteger);
const DataType kText = DataType::Of(TypeRoot::kString);

testing::TableSpec Spec(std::vector<testing::ColumnSpec> columns, model::Properties properties = {}) {
  testing::TableSpec spec;
  spec.schemas = {testing::MakeSchema(std::move(columns), {"k"})};
  spec.properties = std::move(properties);
  return spec;
}

std::shared_ptr<const KvTable> PlainTable() {
  return testing::MakeTable(Spec({{"k", kInt}, {"a", kInt}, {"b", kText}}));
}

Status Refusal(const std::shared_ptr<const KvTable>& table, std::vector<int32_t> targets,
               MergeMode mode = MergeMode::kTable) {
  return MakeMerger(table, targets, mode).status();
}

TEST(MakeMerger, RefusesTargetColumnsThatCannotBeWrittenAlone) {
  const auto table = PlainTable();
  EXPECT_THAT(Refusal(table, {0, 3}).ToString(), HasSubstr("there is no target column 3"));
  EXPECT_THAT(Refusal(table, {-1}).ToString(), HasSubstr("there is no target column -1"));
  EXPECT_THAT(Refusal(table, {1}).ToString(), HasSubstr("lack k, which is in the primary key"));
  EXPECT_EQ(Refusal(table, {1}).code(), ErrorCode::kInvalidTargetColumn);
  EXPECT_TRUE(Refusal(table, {0, 1}).ok());
  EXPECT_TRUE(Refusal(table, {0, 0, 1, 1}).ok());

  const auto not_null =
      testing::MakeTable(Spec({{"k", kInt}, {"a", kInt}, {"b", DataType::Of(TypeRoot::kString, false)}}));
  EXPECT_EQ(Refusal(not_null, {0, 1}).code(), ErrorCode::kInvalidTargetColumn);
  EXPECT_EQ(Refusal(not_null, {0, 2}).code(), ErrorCode::kInvalidTargetColumn);
  EXPECT_TRUE(Refusal(not_null, {2, 1, 0}).ok());
}

TEST(MakeMerger, RefusesTargetColumnsOfEnginesThatTakeWholeRows) {
  for (const char* engine : {"first_row", "versioned"}) {
    const auto table =
        testing::MakeTable(Spec({{"k", kInt}, {"a", kInt}},
                                {{"table.merge-engine", engine}, {"table.merge-engine.versioned.ver-column", "a"}}));
    EXPECT_EQ(Refusal(table, {0}).code(), ErrorCode::kInvalidTargetColumn);
    EXPECT_EQ(Refusal(table, {0, 1}).code(), ErrorCode::kInvalidTargetColumn);
    EXPECT_TRUE(Refusal(table, {}).ok());
    EXPECT_TRUE(Refusal(table, {0}, MergeMode::kOverwrite).ok());
  }
}

TEST(MakeMerger, WantsTargetColumnsWithoutTheAutoIncrementColumn) {
  testing::TableSpec spec = Spec({{"k", kInt}, {"id", DataType::Of(TypeRoot::kBigInt)}, {"a", kInt}});
  spec.schemas[0].auto_increment_columns = {"id"};
  const auto table = testing::MakeTable(spec);
  for (const MergeMode mode : {MergeMode::kTable, MergeMode::kOverwrite}) {
    EXPECT_EQ(Refusal(table, {}, mode).code(), ErrorCode::kInvalidTargetColumn);
    EXPECT_EQ(Refusal(table, {0, 1, 2}, mode).code(), ErrorCode::kInvalidTargetColumn);
    EXPECT_TRUE(Refusal(table, {0, 2}, mode).ok());
  }
}

TEST(MakeMerger, RefusesAVersionColumnThatIsNone) {
  for (const char* column : {"gone", "b"}) {
    const auto table =
        testing::MakeTable(Spec({{"k", kInt}, {"b", kText}}, {{"table.merge-engine", "versioned"},
                                                              {"table.merge-engine.versioned.ver-column", column}}));
    EXPECT_EQ(Refusal(table, {}).code(), ErrorCode::kInvalidConfig);
  }
}

TEST(MakeMerger, SaysHowDeletesAreTakenAndWhetherTheOldRowCounts) {
  const auto merger = [](const char* engine, const char* behavior, MergeMode mode, std::vector<int32_t> targets = {}) {
    model::Properties properties = {{"table.merge-engine.versioned.ver-column", "a"}};
    if (*engine != '\0') properties["table.merge-engine"] = engine;
    if (*behavior != '\0') properties["table.delete.behavior"] = behavior;
    return MakeMerger(testing::MakeTable(Spec({{"k", kInt}, {"a", kInt}}, properties)), targets, mode).value();
  };
  EXPECT_EQ(merger("", "", MergeMode::kTable)->delete_behavior(), DeleteBehavior::kAllow);
  EXPECT_EQ(merger("", "disable", MergeMode::kTable)->delete_behavior(), DeleteBehavior::kDisable);
  EXPECT_EQ(merger("", "disable", MergeMode::kOverwrite)->delete_behavior(), DeleteBehavior::kAllow);
  EXPECT_EQ(merger("", "ignore", MergeMode::kTable, {0})->delete_behavior(), DeleteBehavior::kIgnore);
  for (const char* engine : {"first_row", "versioned", "aggregation"}) {
    EXPECT_EQ(merger(engine, "", MergeMode::kTable)->delete_behavior(), DeleteBehavior::kIgnore);
    EXPECT_EQ(merger(engine, "disable", MergeMode::kTable)->delete_behavior(), DeleteBehavior::kDisable);
    EXPECT_EQ(merger(engine, "disable", MergeMode::kOverwrite)->delete_behavior(), DeleteBehavior::kAllow);
    EXPECT_TRUE(merger(engine, "", MergeMode::kTable)->needs_old());
    EXPECT_FALSE(merger(engine, "", MergeMode::kOverwrite)->needs_old());
  }
  EXPECT_FALSE(merger("", "", MergeMode::kTable)->needs_old());
  EXPECT_TRUE(merger("", "", MergeMode::kTable, {0})->needs_old());
}

TEST(Versioned, TakesANullVersionForTheLeast) {
  const auto table =
      testing::MakeTable(Spec({{"k", kInt}, {"v", kInt}},
                              {{"table.merge-engine", "versioned"}, {"table.merge-engine.versioned.ver-column", "v"}}));
  const auto merger = MakeMerger(table, {}, MergeMode::kTable).value();
  const auto verdict = [&](const Value& old, const Value& incoming) {
    const Buffer a = testing::EncodeRow(*table, 1, {Value::Integer(1), old});
    const Buffer b = testing::EncodeRow(*table, 1, {Value::Integer(1), incoming});
    MutableBuffer out;
    return merger->Merge(RowView{1, a.view()}, RowView{1, b.view()}, &out).value();
  };
  EXPECT_EQ(verdict(Value::Null(), Value::Null()), MergeVerdict::kIncoming);
  EXPECT_EQ(verdict(Value::Integer(INT32_MIN), Value::Null()), MergeVerdict::kIncoming);
  EXPECT_EQ(verdict(Value::Integer(INT32_MIN + 1), Value::Null()), MergeVerdict::kUnchanged);
  EXPECT_EQ(verdict(Value::Integer(5), Value::Integer(5)), MergeVerdict::kIncoming);
}

TEST(Aggregation, NamesTheColumnWhoseBytesAreNoBitmap) {
  const auto table = testing::MakeTable(Spec({{"k", kInt}, {"visitors", DataType::Of(TypeRoot::kBytes), "rbm32"}},
                                             {{"table.merge-engine", "aggregation"}}));
  const auto merger = MakeMerger(table, {}, MergeMode::kTable).value();
  const Buffer row = testing::EncodeRow(*table, 1, {Value::Integer(1), Value::String("abc")});
  MutableBuffer out;
  // A first value is stored as it came.
  EXPECT_EQ(merger->Merge(std::nullopt, RowView{1, row.view()}, &out).value(), MergeVerdict::kIncoming);
  const auto refused = merger->Merge(RowView{1, row.view()}, RowView{1, row.view()}, &out);
  EXPECT_EQ(refused.code(), ErrorCode::kCorruptRecord);
  EXPECT_THAT(refused.ToString(),
              HasSubstr("column visitors: the stored value of 3 bytes is no 32-bit Roaring bitmap"));
}

TEST(Aggregation, RefusesATextThatAnIndexedRowHasNoRoomFor) {
  const auto table = testing::MakeTable(Spec({{"k", kInt}, {"c", DataType::Char(5), "listagg"}},
                                             {{"table.merge-engine", "aggregation"}, {"table.kv.format", "indexed"}}));
  const auto merger = MakeMerger(table, {}, MergeMode::kTable).value();
  const Buffer row = testing::EncodeRow(*table, 1, {Value::Integer(1), Value::String("abc")});
  MutableBuffer out;
  EXPECT_FALSE(merger->Merge(RowView{1, row.view()}, RowView{1, row.view()}, &out).ok());
  EXPECT_EQ(out.size(), 0U);
}

ColumnAggregate Function(const std::string& name, const DataType& type) {
  model::Column column;
  column.name = "c";
  column.type = type;
  column.aggregate = model::AggregateFunction{name, {}};
  return ColumnAggregate::Make(column).value();
}

Value Folded(const std::string& name, const DataType& type, const Value& old, const Value& incoming) {
  ColumnAggregate function = Function(name, type);
  format::DecimalBytes rooms[2];
  FieldView views[2];
  STROM_ASSERT(format::ViewOfValue(type, old, &rooms[0], &views[0]).ok(), "{}", old.ToString());
  STROM_ASSERT(format::ViewOfValue(type, incoming, &rooms[1], &views[1]).ok(), "{}", incoming.ToString());
  STROM_ASSERT(function.Fold(views[1], &views[0]).ok(), "{}", name);
  return format::ValueOfView(type, views[0]).value().Owned();
}

TEST(AggregateFunctions, WrapIntegersInTheWidthOfTheColumn) {
  const auto sum = [](TypeRoot root, int64_t a, int64_t b) {
    return Folded("sum", DataType::Of(root), Value::Integer(a), Value::Integer(b));
  };
  EXPECT_EQ(sum(TypeRoot::kTinyInt, 127, 1), Value::Integer(-128));
  EXPECT_EQ(sum(TypeRoot::kSmallInt, -32768, -1), Value::Integer(32767));
  EXPECT_EQ(sum(TypeRoot::kInteger, INT32_MAX, 1), Value::Integer(INT32_MIN));
  EXPECT_EQ(sum(TypeRoot::kBigInt, INT64_MAX, 1), Value::Integer(INT64_MIN));
  EXPECT_EQ(Folded("product", kInt, Value::Integer(65536), Value::Integer(65537)), Value::Integer(65536));
  EXPECT_EQ(Folded("product", DataType::Of(TypeRoot::kBigInt), Value::Integer(INT64_MIN), Value::Integer(-1)),
            Value::Integer(INT64_MIN));
}

TEST(AggregateFunctions, KeepCompactDecimalSumsBeyondThePrecisionUntil64BitsOverflow) {
  EXPECT_EQ(Folded("sum", DataType::Decimal(5, 2), Value::Decimal(99999), Value::Decimal(99999)),
            Value::Decimal(199998));
  ColumnAggregate sum = Function("sum", DataType::Decimal(18, 0));
  FieldView total = FieldView::Number(INT64_MAX - 5);
  ASSERT_TRUE(sum.Fold(FieldView::Number(5), &total).ok());
  EXPECT_EQ(total.number, INT64_MAX);
  ASSERT_TRUE(sum.Fold(FieldView::Number(1), &total).ok());
  EXPECT_TRUE(total.is_null);
}

TEST(AggregateFunctions, MakeDecimalsBeyondThePrecisionNull) {
  const Int128 most = format::PowerOfTen(38) - 1;
  EXPECT_EQ(Folded("sum", DataType::Decimal(38, 2), Value::Decimal(most), Value::Decimal(1)), Value::Null());
  EXPECT_EQ(Folded("sum", DataType::Decimal(38, 2), Value::Decimal(-most), Value::Decimal(-most)), Value::Null());
  EXPECT_EQ(Folded("sum", DataType::Decimal(38, 2), Value::Decimal(-most), Value::Decimal(most)), Value::Decimal(0));
  EXPECT_EQ(Folded("product", DataType::Decimal(38, 0), Value::Decimal(most), Value::Decimal(most)), Value::Null());
  EXPECT_EQ(Folded("product", DataType::Decimal(5, 2), Value::Decimal(99999), Value::Decimal(101)), Value::Null());
}

TEST(AggregateFunctions, RoundDecimalProductsHalfAwayFromZero) {
  const auto product = [](int64_t a, int64_t b) {
    return Folded("product", DataType::Decimal(18, 2), Value::Decimal(a), Value::Decimal(b));
  };
  EXPECT_EQ(product(15, 10), Value::Decimal(2));    // 0.15 * 0.10 = 0.0150
  EXPECT_EQ(product(-15, 10), Value::Decimal(-2));  // -0.0150
  EXPECT_EQ(product(14, 10), Value::Decimal(1));    // 0.0140
  EXPECT_EQ(product(-4, 10), Value::Decimal(0));    // -0.0040
  // 38 digits behind the point: the product has 76.
  const Int128 most = format::PowerOfTen(38) - 1;
  EXPECT_EQ(Folded("product", DataType::Decimal(38, 38), Value::Decimal(most), Value::Decimal(most)),
            Value::Decimal(most - 1));
  EXPECT_EQ(Folded("product", DataType::Decimal(38, 38), Value::Decimal(most), Value::Decimal(-most)),
            Value::Decimal(1 - most));
}

TEST(AggregateFunctions, OrderFloatsAsJavaDoes) {
  const DataType type = DataType::Of(TypeRoot::kDouble);
  const double nan = __builtin_nan("");
  EXPECT_EQ(Folded("max", type, Value::Double(-0.0), Value::Double(0.0)), Value::Double(0.0));
  EXPECT_EQ(Folded("min", type, Value::Double(0.0), Value::Double(-0.0)), Value::Double(-0.0));
  EXPECT_EQ(Folded("max", type, Value::Double(1), Value::Double(nan)), Value::Double(nan));
  EXPECT_EQ(Folded("max", type, Value::Double(nan), Value::Double(1)), Value::Double(nan));
  EXPECT_EQ(Folded("min", type, Value::Double(nan), Value::Double(-1)), Value::Double(-1));
}

TEST(AggregateFunctions, OrderTextsByUnsignedBytes) {
  EXPECT_EQ(Folded("max", kText, Value::String("z"), Value::String("\xC3\xA4")), Value::String("\xC3\xA4"));
  EXPECT_EQ(Folded("max", kText, Value::String("ab"), Value::String("a")), Value::String("ab"));
  EXPECT_EQ(Folded("min", kText, Value::String(""), Value::String("a")), Value::String(""));
}

TEST(AggregateFunctions, JoinTextsEmptyOnesToo) {
  EXPECT_EQ(Folded("listagg", kText, Value::String("a"), Value::String("")), Value::String("a,"));
  EXPECT_EQ(Folded("string_agg", kText, Value::String(""), Value::String("b")), Value::String(",b"));
}

TEST(AggregateFunctions, RefuseWideDecimalsThatAreNone) {
  ColumnAggregate sum = Function("sum", DataType::Decimal(38, 2));
  FieldView total = FieldView::Bytes(AsBytes(std::string_view("\x01")));
  const Status refused = sum.Fold(FieldView::Bytes({}), &total);
  EXPECT_EQ(refused.code(), ErrorCode::kCorruptRecord);
  EXPECT_THAT(refused.ToString(), HasSubstr("column c: "));
}

TEST(AggregateFunctions, RefuseTypesThatTheyDoNotTake) {
  model::Column column;
  column.name = "c";
  column.type = kText;
  column.aggregate = model::AggregateFunction{"sum", {}};
  EXPECT_EQ(ColumnAggregate::Make(column).code(), ErrorCode::kInvalidConfig);
  column.aggregate = model::AggregateFunction{"median", {}};
  EXPECT_EQ(ColumnAggregate::Make(column).code(), ErrorCode::kInvalidConfig);
}

}  // namespace
}  // namespace strom::kv
