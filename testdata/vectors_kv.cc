#include <gtest/gtest.h>

#include <set>

#include "format/kv_batch.h"
#include "format/kv_value.h"
#include "format/row_codec.h"
#include "format/value_batch.h"
#include "kv/roaring32.h"
#include "kv/roaring64.h"
#include "kv/testing/roaring_images.h"
#include "vector.h"

namespace strom::vectors {
namespace {

using format::RowFormat;

RowFormat RowFormatOf(const Vector& vector) {
  // An empty batch of values has no format.
  return vector.json.value("kv_format", "COMPACTED") == "INDEXED" ? RowFormat::kIndexed : RowFormat::kCompacted;
}

Buffer Encode(RowFormat row_format, format::Fields fields, const Json& row) {
  MutableBuffer out;
  const Status status = format::EncodeRow(row_format, fields, RowFrom(fields, row), &out);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return out.Freeze();
}

void ExpectRow(RowFormat row_format, format::Fields fields, ByteView bytes, const Json& row) {
  const auto decoded = format::DecodeRow(row_format, fields, bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.ToString();
  EXPECT_EQ(*decoded, RowFrom(fields, row));
}

void CheckBatch(const Vector& vector) {
  const auto fields = FieldsFrom(vector.at("columns"));
  const RowFormat row_format = RowFormatOf(vector);
  const std::string bytes = vector.bytes("batch");
  const Json& expected = vector.at("header");

  const auto header = format::DecodeKvBatchHeader(AsBytes(bytes));
  ASSERT_TRUE(header.ok()) << header.ToString();
  EXPECT_EQ(header->total_size, expected.at("length").get<uint32_t>() + 4);
  EXPECT_EQ(fmt::format("{:08x}", header->crc), expected.at("crc").get<std::string>());
  EXPECT_EQ(header->schema_id, expected.at("schema_id").get<int16_t>());
  EXPECT_EQ(header->writer_id.value(), expected.at("writer_id").get<int64_t>());
  EXPECT_EQ(header->batch_sequence, expected.at("batch_sequence").get<int32_t>());
  EXPECT_EQ(header->record_count, expected.at("record_count").get<int32_t>());
  EXPECT_EQ(format::CheckKvBatch(*header, AsBytes(bytes)).ok(), expected.at("valid").get<bool>());

  format::KvRecordReader reader(*header, AsBytes(bytes));
  format::KvBatchBuilder builder(
      {.schema_id = header->schema_id, .writer_id = header->writer_id, .batch_sequence = header->batch_sequence});
  for (const Json& record : vector.at("records")) {
    ASSERT_FALSE(reader.done());
    format::KvRecord read;
    const Status status = reader.Next(&read);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(ToHex(read.key), record.at("key_hex").get<std::string>());
    const std::string key = FromHex(record.at("key_hex").get<std::string>());
    EXPECT_EQ(read.is_delete(), record.at("row").is_null());
    if (record.at("row").is_null()) {
      builder.Append(AsBytes(key), {});
    } else {
      ExpectRow(row_format, fields, read.row, record.at("row"));
      builder.Append(AsBytes(key), Encode(row_format, fields, record.at("row")).view());
    }
  }
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(ToHex(builder.Finish().view()), ToHex(bytes));
}

void CheckValue(const Vector& vector) {
  const auto fields = FieldsFrom(vector.at("columns"));
  const RowFormat row_format = RowFormatOf(vector);
  for (const Json& test : vector.at("cases")) {
    const auto schema_id = test.at("schema_id").get<int16_t>();
    const auto tag = test.at("tag").get<int64_t>();
    const Buffer row = Encode(row_format, fields, test.at("row"));
    MutableBuffer plain;
    format::AppendKvValue(schema_id, row.view(), &plain);
    EXPECT_EQ(ToHex(plain.view()), test.at("plain_hex").get<std::string>());
    MutableBuffer tagged;
    format::AppendTaggedKvValue(tag, schema_id, row.view(), &tagged);
    EXPECT_EQ(ToHex(tagged.view()), test.at("tagged_hex").get<std::string>());

    const auto from_plain = format::DecodeKvValue(format::KvValueLayout::kPlain, plain.view());
    const auto from_tagged = format::DecodeKvValue(format::KvValueLayout::kTagged, tagged.view());
    ASSERT_TRUE(from_plain.ok() && from_tagged.ok());
    EXPECT_EQ(from_tagged->tag, tag);
    for (const auto* value : {&*from_plain, &*from_tagged}) {
      EXPECT_EQ(value->schema_id, schema_id);
      EXPECT_EQ(ToHex(value->body), test.at("wire_value_hex").get<std::string>());
      ExpectRow(row_format, fields, value->row, test.at("row"));
    }
  }
}

void CheckValueBatch(const Vector& vector) {
  const auto fields = vector.has("columns") ? FieldsFrom(vector.at("columns")) : std::vector<model::DataField>();
  const RowFormat row_format = RowFormatOf(vector);
  const std::string bytes = vector.bytes("batch");
  auto reader = format::ValueBatchReader::Open(AsBytes(bytes));
  ASSERT_TRUE(reader.ok()) << reader.ToString();
  EXPECT_EQ(reader->record_count(), vector.at("record_count").get<int32_t>());

  format::ValueBatchBuilder builder;
  for (const Json& record : vector.at("records")) {
    ASSERT_FALSE(reader->done());
    ByteView body;
    ASSERT_TRUE(reader->Next(&body).ok());
    const auto value = format::DecodeKvValue(format::KvValueLayout::kPlain, body);
    ASSERT_TRUE(value.ok()) << value.ToString();
    EXPECT_EQ(value->schema_id, record.at("schema_id").get<int16_t>());
    ExpectRow(row_format, fields, value->row, record.at("row"));
    MutableBuffer own_body;
    format::AppendKvValue(value->schema_id, Encode(row_format, fields, record.at("row")).view(), &own_body);
    builder.Append(own_body.view());
  }
  EXPECT_TRUE(reader->done());
  EXPECT_EQ(ToHex(builder.Finish().view()), ToHex(bytes));
}

/// The values of `[start, count, step]` sequences, in the order of their insertion.
std::vector<uint64_t> ValuesFrom(const Json& sequences) {
  std::vector<uint64_t> values;
  for (const Json& sequence : sequences) {
    auto value = std::stoull(sequence.at(0).get<std::string>());
    const auto step = static_cast<uint64_t>(sequence.at(2).get<int64_t>());
    for (auto count = sequence.at(1).get<int64_t>(); count > 0; --count, value += step) values.push_back(value);
  }
  return values;
}

std::vector<uint64_t> Sorted(const std::vector<uint64_t>& values) {
  const std::set<uint64_t> sorted(values.begin(), values.end());
  return {sorted.begin(), sorted.end()};
}

bool IsWide(const Vector& vector) { return vector.at("width").get<int>() == 64; }

std::vector<uint64_t> ValuesOf(const Vector& vector, std::string_view image) {
  return IsWide(vector) ? kv::testing::Roaring64Values(AsBytes(image)) : kv::testing::Roaring32Values(AsBytes(image));
}

std::string Unite(const Vector& vector, std::string_view accumulator, std::string_view input) {
  MutableBuffer out;
  const Status united = IsWide(vector) ? kv::Roaring64Union().Unite(AsBytes(accumulator), AsBytes(input), &out)
                                       : kv::Roaring32Union().Unite(AsBytes(accumulator), AsBytes(input), &out);
  EXPECT_TRUE(united.ok()) << united.ToString();
  return std::string(AsText(out.view()));
}

std::string EmptyBitmap(const Vector& vector) { return IsWide(vector) ? FromHex("00") : FromHex("3a30000000000000"); }

/// A bitmap that does not know of runs yet.
std::string PlainBitmap(const Vector& vector, const std::vector<uint64_t>& values) {
  if (IsWide(vector)) return std::string(kv::testing::Roaring64Image(values).text());
  std::set<uint32_t> narrow;
  for (const uint64_t value : values) narrow.insert(static_cast<uint32_t>(value));
  return std::string(kv::testing::Roaring32Image(narrow).text());
}

void CheckBitmap(const Vector& vector) {
  const std::vector<uint64_t> values = ValuesFrom(vector.at("insert_values"));
  const std::string bytes = vector.bytes("bytes");
  EXPECT_EQ(ValuesOf(vector, bytes), Sorted(values));
  EXPECT_EQ(Sorted(values).size(), vector.at("cardinality").get<size_t>());
  EXPECT_EQ(ToHex(Unite(vector, bytes, EmptyBitmap(vector))), ToHex(bytes));
  EXPECT_EQ(ToHex(Unite(vector, PlainBitmap(vector, values), EmptyBitmap(vector))), ToHex(bytes));
}

void CheckBitmapUnion(const Vector& vector) {
  const std::string accumulator = vector.bytes("accumulator");
  const std::string input = vector.bytes("input");
  EXPECT_EQ(ValuesOf(vector, accumulator), Sorted(ValuesFrom(vector.at("accumulator_values"))));
  EXPECT_EQ(ValuesOf(vector, input), Sorted(ValuesFrom(vector.at("input_values"))));
  EXPECT_EQ(ToHex(Unite(vector, accumulator, input)), ToHex(vector.bytes("result")));
}

}  // namespace

void AddKvChecks(Checks* checks) {
  (*checks)["kv_batch"] = CheckBatch;
  (*checks)["kv_value"] = CheckValue;
  (*checks)["value_batch"] = CheckValueBatch;
  (*checks)["roaring_bitmap"] = CheckBitmap;
  (*checks)["roaring_union"] = CheckBitmapUnion;
}

}  // namespace strom::vectors
