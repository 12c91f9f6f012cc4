#include "format/row_codec.h"

#include <gtest/gtest.h>

#include "base/endian.h"
#include "format/binary_array.h"
#include "format/compacted_row.h"
#include "format/indexed_row.h"
#include "format/random_rows.h"

namespace strom::format {
namespace {

using model::DataField;
using model::DataType;
using model::TypeRoot;

constexpr RowFormat kFormats[] = {RowFormat::kCompacted, RowFormat::kIndexed, RowFormat::kAligned};

std::vector<DataField> OneField(DataType type) { return {{.name = "f", .type = std::move(type), .description = {}, .field_id = 0}}; }

Buffer Encode(RowFormat format, Fields fields, const Value& row) {
  MutableBuffer out;
  const Status status = EncodeRow(format, fields, row, &out);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return out.Freeze();
}

TEST(RowCodec, RandomRowsComeBackFromEveryFormat) {
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(seed);
    RandomRows rows(seed);
    const auto fields = rows.RandomFields(12, 3);
    const Value row = rows.RandomRow(fields);
    for (const RowFormat format : kFormats) {
      const Buffer bytes = Encode(format, fields, row);
      const auto decoded = DecodeRow(format, fields, bytes.view());
      ASSERT_TRUE(decoded.ok()) << decoded.ToString();
      ASSERT_EQ(*decoded, row) << decoded->ToString() << "\n" << row.ToString();
      const Status check = CheckRow(format, fields, bytes.view());
      ASSERT_TRUE(check.ok()) << check.ToString();
    }
  }
}

TEST(RowCodec, ARowStandsAnywhereInABuffer) {
  RandomRows rows(7);
  const auto fields = rows.RandomFields(12, 3);
  const Value row = rows.RandomRow(fields);
  for (const RowFormat format : kFormats) {
    const Buffer alone = Encode(format, fields, row);
    MutableBuffer behind;
    behind.Append("odd");
    ASSERT_TRUE(EncodeRow(format, fields, row, &behind).ok());
    EXPECT_EQ(AsText(behind.view().subspan(3)), alone.text());
  }
}

TEST(RowCodec, DamagedRowsNeverReadOutside) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    RandomRows rows(seed);
    Random random(seed);
    const auto fields = rows.RandomFields(8, 3);
    for (const RowFormat format : kFormats) {
      const Buffer whole = Encode(format, fields, rows.RandomRow(fields));
      for (int round = 0; round < 30; ++round) {
        // An own block of exactly that size, so that the address sanitizer sees a byte too far.
        std::vector<uint8_t> damaged(whole.view().begin(), whole.view().end());
        damaged.resize(random.Below(damaged.size() + 1));
        if (!damaged.empty()) damaged[random.Below(damaged.size())] = static_cast<uint8_t>(random.Next());
        damaged.shrink_to_fit();
        const bool passes = CheckRow(format, fields, damaged).ok();
        const auto decoded = DecodeRow(format, fields, damaged);
        ASSERT_TRUE(decoded.ok() || !passes) << "passes the check, but: " << decoded.ToString();
      }
    }
  }
}

TEST(RowCodec, ATruncatedRowNamesItsField) {
  const auto fields = OneField(DataType::Of(TypeRoot::kString));
  const Buffer row = Encode(RowFormat::kCompacted, fields, Value::Row({Value::String("some text")}));
  const auto decoded = DecodeRow(RowFormat::kCompacted, fields, row.view().first(5));
  EXPECT_EQ(decoded.code(), ErrorCode::kCorruptRecord);
  EXPECT_NE(decoded.error().message.find("field 0 (f STRING)"), std::string::npos) << decoded.error().message;
}

TEST(RowCodec, BytesBehindTheLastFieldDoNotPassTheCheck) {
  const auto fields = OneField(DataType::Of(TypeRoot::kInteger));
  for (const RowFormat format : {RowFormat::kCompacted, RowFormat::kIndexed}) {
    MutableBuffer row;
    ASSERT_TRUE(EncodeRow(format, fields, Value::Row({Value::Integer(5)}), &row).ok());
    EXPECT_TRUE(CheckRow(format, fields, row.view()).ok());
    row.AppendByte(0);
    EXPECT_EQ(CheckRow(format, fields, row.view()).code(), ErrorCode::kCorruptRecord);
  }
}

TEST(RowCodec, SlotsThatAllPointAtOneNestedValueAreRefused) {
  // Each level doubles the work of a naive walk: 30 levels of two elements that are the same array.
  DataType type = DataType::Of(TypeRoot::kInteger);
  std::vector<uint8_t> value(8, 0);  // an empty array
  for (int level = 0; level < 30; ++level) {
    type = DataType::Array(type);
    if (level == 0) continue;
    std::vector<uint8_t> outer(24);
    StoreLe<uint32_t>(outer.data(), 2);
    StoreLe<uint64_t>(outer.data() + 8, uint64_t{24} << 32 | value.size());
    StoreLe<uint64_t>(outer.data() + 16, uint64_t{24} << 32 | value.size());
    outer.insert(outer.end(), value.begin(), value.end());
    value = std::move(outer);
  }
  const auto decoded = DecodeNested(RowFormat::kCompacted, type, value);
  EXPECT_EQ(decoded.code(), ErrorCode::kCorruptRecord);
}

TEST(RowCodec, NestingHasALimit) {
  DataType type = DataType::Of(TypeRoot::kInteger);
  Value value = Value::Integer(1);
  for (int level = 1; level <= kRowDepthMax + 1; ++level) {
    type = DataType::Array(type);
    value = Value::Array({value});
    const auto fields = OneField(type);
    MutableBuffer out;
    EXPECT_EQ(EncodeRow(RowFormat::kIndexed, fields, Value::Row({value}), &out).ok(), level <= kRowDepthMax) << level;
  }
}

TEST(RowCodec, AnArrayThatClaimsMoreElementsThanItHasBytesIsRefused) {
  std::vector<uint8_t> bytes(16);
  StoreLe<uint32_t>(bytes.data(), 0xFFFFFFFF);
  EXPECT_EQ(BinaryArrayView::Open(DataType::Of(TypeRoot::kBoolean), bytes).code(), ErrorCode::kCorruptRecord);
}

TEST(RowCodec, AValueThatDoesNotFitLeavesTheBufferAlone) {
  struct {
    DataType type;
    Value value;
  } const cases[] = {
      {DataType::Of(TypeRoot::kTinyInt), Value::Integer(128)},
      {DataType::Of(TypeRoot::kInteger), Value::Integer(int64_t{1} << 31)},
      {DataType::Decimal(5, 2), Value::Decimal(100000)},
      {DataType::Decimal(38, 0), Value::Decimal(PowerOfTen(38))},
      {DataType::Timestamp(6), Value::Timestamp(0, 1'000'000)},
      {DataType::Of(TypeRoot::kString), Value::Integer(1)},
      {DataType::Array(DataType::Of(TypeRoot::kInteger)), Value::Map({})},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.type.ToString());
    for (const RowFormat format : kFormats) {
      MutableBuffer out;
      out.Append("before");
      const Status status = EncodeRow(format, OneField(test.type), Value::Row({test.value}), &out);
      EXPECT_EQ(status.code(), ErrorCode::kUnknownServerError);
      EXPECT_EQ(AsText(out.view()), "before");
    }
  }
}

TEST(IndexedRow, CharCountsBytesAndBinaryKeepsItsZeros) {
  MutableBuffer out;
  EXPECT_FALSE(EncodeRow(RowFormat::kIndexed, OneField(DataType::Char(4)), Value::Row({Value::String("\xE6\x97\xA5\xE6\x9C\xAC")}), &out).ok());
  const auto fields = OneField(DataType::Binary(4));
  const Value row = Value::Row({Value::String(std::string("\x09\x08\x07\x00", 4))});
  const Buffer bytes = Encode(RowFormat::kIndexed, fields, row);
  EXPECT_EQ(*DecodeRow(RowFormat::kIndexed, fields, bytes.view()), row);
}

TEST(CompactedRow, FieldsMoveToAnotherFormatAsViews) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    RandomRows rows(seed);
    const auto fields = rows.RandomFields(10, 0);
    const Value row = rows.RandomRow(fields);
    const Buffer compacted = Encode(RowFormat::kCompacted, fields, row);
    CompactedRowReader reader(fields, compacted.view());
    MutableBuffer indexed;
    IndexedRowWriter writer(fields, &indexed);
    for (const DataField& field : fields) {
      FieldView view;
      ASSERT_TRUE(reader.Next(&view).ok());
      ASSERT_TRUE(writer.Append(field.type, view).ok());
    }
    EXPECT_EQ(reader.rest(), 0u);
    EXPECT_EQ(AsText(indexed.view()), Encode(RowFormat::kIndexed, fields, row).text()) << seed;
  }
}

TEST(CompactedKey, ComesBackAndRefusesWhatFollows) {
  const std::vector<DataField> fields = {{.name = "a", .type = DataType::Of(TypeRoot::kString), .description = {}, .field_id = 0},
                                         {.name = "b", .type = DataType::Of(TypeRoot::kInteger), .description = {}, .field_id = 1}};
  const Value key = Value::Row({Value::String("x"), Value::Integer(-1)});
  MutableBuffer out;
  ASSERT_TRUE(EncodeCompactedKey(fields, key.items(), &out).ok());
  EXPECT_EQ(*DecodeCompactedKey(fields, out.view()), key);
  out.AppendByte(0);
  EXPECT_EQ(DecodeCompactedKey(fields, out.view()).code(), ErrorCode::kCorruptRecord);
  EXPECT_FALSE(EncodeCompactedKey(fields, std::vector<Value>{Value::Null(), Value::Integer(1)}, &out).ok());
}

}  // namespace
}  // namespace strom::format
