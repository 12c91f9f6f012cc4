#include "format/predicate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace strom::format {
namespace {

using model::DataType;
using model::TypeRoot;
using F = PredicateFunction;

/// One column with the given values; statistics of them.
class OneColumn {
 public:
  OneColumn(DataType type, std::vector<Value> values) {
    model::Column column;
    column.name = "c";
    column.type = std::move(type);
    column.id = 7;
    schema_.columns.push_back(std::move(column));
    for (Value& value : values) rows_.push_back(Value::Row({std::move(value)}));
    const std::vector<int32_t> positions = {0};
    EXPECT_TRUE(AppendStatistics(schema_, positions, rows_, &block_).ok());
  }

  bool May(const Predicate& predicate) const {
    const Result<BatchStatistics> statistics = BatchStatistics::Parse(block_.view());
    EXPECT_TRUE(statistics.ok()) << statistics.ToString();
    return BoundPredicate::Bind(predicate, schema_).MayMatch(static_cast<int32_t>(rows_.size()), statistics.value());
  }
  bool May(F function, std::vector<Value> literals, int32_t column_id = 7) const {
    Predicate leaf;
    leaf.function = function;
    leaf.column_id = column_id;
    leaf.literals = std::move(literals);
    return May(leaf);
  }

 private:
  model::Schema schema_;
  std::vector<Value> rows_;
  MutableBuffer block_;
};

Value Int(int64_t value) { return Value::Integer(value); }

TEST(Predicate, ComparesTheLiteralWithTheRange) {
  const OneColumn batch(DataType::Of(TypeRoot::kInteger), {Int(10), Value::Null(), Int(20)});
  const auto accepted = [&](F function) {
    std::string text;
    for (const int64_t literal : {9, 10, 15, 20, 21}) text += batch.May(function, {Int(literal)}) ? '+' : '-';
    return text;
  };
  EXPECT_EQ(accepted(F::kEqual), "-+++-");
  EXPECT_EQ(accepted(F::kNotEqual), "+++++");
  EXPECT_EQ(accepted(F::kLess), "--+++");
  EXPECT_EQ(accepted(F::kLessOrEqual), "-++++");
  EXPECT_EQ(accepted(F::kGreater), "+++--");
  EXPECT_EQ(accepted(F::kGreaterOrEqual), "++++-");
}

TEST(Predicate, AsksForNulls) {
  const OneColumn some(DataType::Of(TypeRoot::kInteger), {Int(1), Value::Null()});
  const OneColumn none(DataType::Of(TypeRoot::kInteger), {Int(1), Int(2)});
  const OneColumn all(DataType::Of(TypeRoot::kInteger), {Value::Null(), Value::Null()});
  EXPECT_TRUE(some.May(F::kIsNull, {}) && some.May(F::kIsNotNull, {}));
  EXPECT_TRUE(!none.May(F::kIsNull, {}) && none.May(F::kIsNotNull, {}));
  EXPECT_TRUE(all.May(F::kIsNull, {}) && !all.May(F::kIsNotNull, {}));
  EXPECT_FALSE(all.May(F::kEqual, {Int(1)}));
  EXPECT_FALSE(all.May(F::kNotIn, {Int(1)}));
  EXPECT_FALSE(some.May(F::kEqual, {Value::Null()}));
}

TEST(Predicate, LooksForSetsAndPrefixes) {
  const OneColumn one(DataType::Of(TypeRoot::kInteger), {Int(5), Int(5)});
  EXPECT_TRUE(one.May(F::kIn, {Int(1), Value::Null(), Int(5)}));
  EXPECT_FALSE(one.May(F::kIn, {Int(1), Value::Null()}));
  EXPECT_FALSE(one.May(F::kIn, {}));
  EXPECT_TRUE(one.May(F::kNotIn, {Int(1)}));
  EXPECT_FALSE(one.May(F::kNotIn, {Int(1), Int(5)}));
  EXPECT_FALSE(one.May(F::kNotIn, {Value::Null()}));

  const OneColumn texts(DataType::Of(TypeRoot::kString), {Value::String("banana"), Value::String("cherry pie")});
  for (const auto& [prefix, expected] : std::vector<std::pair<std::string, bool>>{
           {"a", false}, {"b", true}, {"banana", true}, {"bananas", true}, {"c", true}, {"cz", false}, {"", true}, {"d", false}}) {
    EXPECT_EQ(texts.May(F::kStartsWith, {Value::String(prefix)}), expected) << prefix;
  }
  EXPECT_TRUE(texts.May(F::kContains, {Value::String("zzz")}));
  EXPECT_TRUE(texts.May(F::kEndsWith, {Value::String("zzz")}));
  EXPECT_FALSE(texts.May(F::kEqual, {Value::String("cherry pies")})) << "long texts are not cut";
}

TEST(Predicate, ComparesEveryTypeByItsOrder) {
  const OneColumn wide(DataType::Decimal(38, 2), {Value::Decimal(-PowerOfTen(30)), Value::Decimal(PowerOfTen(30))});
  EXPECT_TRUE(wide.May(F::kEqual, {Value::Decimal(0)}));
  EXPECT_FALSE(wide.May(F::kGreater, {Value::Decimal(PowerOfTen(30))}));
  const OneColumn times(DataType::Timestamp(9), {Value::Timestamp(-1, 5), Value::Timestamp(-1, 7)});
  EXPECT_FALSE(times.May(F::kLess, {Value::Timestamp(-1, 5)}));
  EXPECT_TRUE(times.May(F::kLess, {Value::Timestamp(-1, 6)}));
  const OneColumn booleans(DataType::Of(TypeRoot::kBoolean), {Value::Boolean(false)});
  EXPECT_FALSE(booleans.May(F::kEqual, {Value::Boolean(true)}));
  const OneColumn bytes(DataType::Of(TypeRoot::kString), {Value::String("z")});
  EXPECT_FALSE(bytes.May(F::kGreater, {Value::String("\xC3\xA4")})) << "bytes above 7F are greater, not negative";
}

TEST(Predicate, KeepsZeroAndNanForEitherMeaning) {
  const OneColumn minus_zero(DataType::Of(TypeRoot::kDouble), {Value::Double(-0.0)});
  EXPECT_TRUE(minus_zero.May(F::kEqual, {Value::Double(0.0)}));
  EXPECT_TRUE(minus_zero.May(F::kNotEqual, {Value::Double(0.0)}));
  EXPECT_TRUE(minus_zero.May(F::kLess, {Value::Double(0.0)}));
  EXPECT_FALSE(minus_zero.May(F::kGreater, {Value::Double(0.0)}));
  const OneColumn nan(DataType::Of(TypeRoot::kFloat), {Value::Float(NAN)});
  EXPECT_TRUE(nan.May(F::kNotEqual, {Value::Float(NAN)}));
  EXPECT_TRUE(nan.May(F::kEqual, {Value::Float(NAN)}));
  EXPECT_FALSE(nan.May(F::kLess, {Value::Float(1)}));
}

TEST(Predicate, KeepsTheBatchWhenItCannotTell) {
  const OneColumn batch(DataType::Of(TypeRoot::kInteger), {Int(1)});
  EXPECT_TRUE(batch.May(F::kEqual, {Int(5)}, 8)) << "a column that the schema lacks";
  EXPECT_TRUE(batch.May(F::kEqual, {Value::String("5")})) << "a literal of another type";
  EXPECT_TRUE(batch.May(F::kEqual, {Int(int64_t{1} << 40)})) << "a literal beyond the type";
  EXPECT_TRUE(batch.May(F::kEqual, {})) << "no literal";
  EXPECT_TRUE(batch.May(F::kEqual, {Int(5), Int(6)})) << "too many literals";
  Predicate deep;
  deep.column_id = 7;
  deep.literals = {Int(5)};
  for (int depth = 0; depth <= kPredicateDepthMax; ++depth) {
    EXPECT_EQ(batch.May(deep), depth >= kPredicateDepthMax) << depth;
    Predicate parent;
    parent.kind = Predicate::Kind::kAnd;
    parent.children.push_back(std::move(deep));
    deep = std::move(parent);
  }
}

TEST(Predicate, AndNeedsAllAndOrNeedsOne) {
  const OneColumn batch(DataType::Of(TypeRoot::kInteger), {Int(1)});
  Predicate yes, no;
  yes.column_id = no.column_id = 7;
  yes.literals = {Int(1)};
  no.literals = {Int(2)};
  for (const auto& [kind, children, expected] : std::vector<std::tuple<Predicate::Kind, std::vector<Predicate>, bool>>{
           {Predicate::Kind::kAnd, {yes, yes}, true},
           {Predicate::Kind::kAnd, {yes, no}, false},
           {Predicate::Kind::kOr, {no, yes}, true},
           {Predicate::Kind::kOr, {no, no}, false},
           {Predicate::Kind::kOr, {}, true}}) {
    Predicate compound;
    compound.kind = kind;
    compound.children = children;
    EXPECT_EQ(batch.May(compound), expected);
  }
}

TEST(Statistics, BlocksOfAnotherVersionOrWithoutColumnsAreUnreadable) {
  for (const std::vector<uint8_t>& block : std::vector<std::vector<uint8_t>>{{}, {1}, {2, 1, 0}, {1, 0, 0}, {1, 0xFF, 0xFF}, {1, 1, 0, 0, 0}}) {
    EXPECT_EQ(BatchStatistics::Parse(block).code(), ErrorCode::kCorruptRecord);
  }
}

TEST(BatchFilter, KeepsBatchesOfUnknownSchemasAndUnreadableStatistics) {
  Predicate predicate;
  predicate.column_id = 7;
  predicate.literals = {Int(2)};
  int asked = 0;
  BatchFilter filter(predicate, [&asked](SchemaId) {
    ++asked;
    return nullptr;
  });
  const std::vector<uint8_t> block = {9, 9, 9};
  LogBatchHeader header;
  header.schema_id = 3;
  EXPECT_TRUE(filter.MayMatch(header, block));
  EXPECT_TRUE(filter.MayMatch(header, {}));
  EXPECT_TRUE(filter.MayMatch(header, block));
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace strom::format
