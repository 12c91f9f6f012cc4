#include "format/key_encoder.h"

#include <gtest/gtest.h>

#include "format/bucketing.h"
#include "format/hudi_key.h"

namespace strom::format {
namespace {

using model::DataField;
using model::DataType;
using model::TypeRoot;

DataField Column(std::string name, DataType type) { return {.name = std::move(name), .type = std::move(type), .description = {}, .field_id = -1}; }

TEST(KeyEncoder, ColumnsThatAFormatCannotHoldAreNamed) {
  const auto iceberg = KeyEncoder::Make(KeyFormat::kIceberg, {Column("flag", DataType::Of(TypeRoot::kBoolean))});
  EXPECT_EQ(iceberg.code(), ErrorCode::kInvalidTable);
  EXPECT_NE(iceberg.error().message.find("flag"), std::string::npos);
  const DataType integer = DataType::Of(TypeRoot::kInteger);
  EXPECT_EQ(KeyEncoder::Make(KeyFormat::kIceberg, {Column("a", integer), Column("b", integer)}).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(KeyEncoder::Make(KeyFormat::kPaimon, {Column("a", DataType::Array(integer))}).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(KeyEncoder::Make(KeyFormat::kCompacted, {}).code(), ErrorCode::kInvalidTable);
}

TEST(KeyEncoder, NullsAndWrongCountsAreRefused) {
  const auto encoder = KeyEncoder::Make(KeyFormat::kPaimon, {Column("id", DataType::Of(TypeRoot::kBigInt))});
  ASSERT_TRUE(encoder.ok()) << encoder.ToString();
  MutableBuffer out;
  EXPECT_FALSE(encoder->Encode(std::vector<Value>{Value::Null()}, &out).ok());
  EXPECT_FALSE(encoder->Encode(std::vector<Value>{}, &out).ok());
  EXPECT_EQ(out.size(), 0u);
}

TEST(HudiKey, TextFormsAreJavas) {
  const auto text = [](DataType type, const Value& value) { return HudiKeyText(type, value).value(); };
  EXPECT_EQ(text(DataType::Timestamp(3), Value::Timestamp(0)), "1970-01-01T00:00");
  EXPECT_EQ(text(DataType::Timestamp(3), Value::Timestamp(-1)), "1969-12-31T23:59:59.999");
  EXPECT_EQ(text(DataType::Timestamp(6), Value::Timestamp(5000, 1000)), "1970-01-01T00:00:05.000001");
  EXPECT_EQ(text(DataType::Timestamp(9), Value::Timestamp(60'000, 7)), "1970-01-01T00:01:00.000000007");
  EXPECT_EQ(text(DataType::TimestampLtz(3), Value::Timestamp(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(text(DataType::Timestamp(3), Value::Timestamp(253'402'300'800'000)), "+10000-01-01T00:00");
  EXPECT_EQ(text(DataType::Decimal(10, 3), Value::Decimal(-5)), "-0.005");
  EXPECT_EQ(text(DataType::Of(TypeRoot::kBoolean), Value::Boolean(true)), "true");
}

TEST(HudiKey, SeveralColumnsRefuseWhatWouldBeAmbiguous) {
  const DataType string = DataType::Of(TypeRoot::kString);
  const auto encoder = KeyEncoder::Make(KeyFormat::kHudi, {Column("a", string), Column("b", string)});
  ASSERT_TRUE(encoder.ok()) << encoder.ToString();
  MutableBuffer out;
  for (const char* text : {"a,b", "__null__", "__empty__"}) {
    EXPECT_FALSE(encoder->Encode(std::vector<Value>{Value::String(text), Value::String("x")}, &out).ok()) << text;
  }
  EXPECT_TRUE(encoder->Encode(std::vector<Value>{Value::Null(), Value::String("x")}, &out).ok());
  EXPECT_EQ(out.size(), 4u);
}

TEST(HudiKey, StringsHashByTheirUtf16Units) {
  EXPECT_EQ(JavaStringHash("hello"), 99162322);
  EXPECT_EQ(JavaStringHash("\xF0\x9F\x98\x80"), 1772899);  // a surrogate pair: 31 * 0xD83D + 0xDE00
  EXPECT_EQ(JavaStringHash("\xFF"), 0xFFFD);               // no UTF-8
}

TEST(Bucketing, KeysWithoutABucketAreRefused) {
  EXPECT_EQ(BucketOf(LakeFormat::kNone, {}, 3).code(), ErrorCode::kInvalidBucketRouting);
  EXPECT_EQ(BucketOf(LakeFormat::kNone, AsBytes("k"), 0).code(), ErrorCode::kInvalidBucketRouting);
  EXPECT_EQ(BucketOf(LakeFormat::kHudi, AsBytes("12345"), 3).code(), ErrorCode::kInvalidBucketRouting);
  EXPECT_EQ(ParseLakeFormat("delta").code(), ErrorCode::kInvalidConfig);
  EXPECT_EQ(*ParseLakeFormat("Paimon"), LakeFormat::kPaimon);
}

}  // namespace
}  // namespace strom::format
