#include <gtest/gtest.h>

#include "format/arrow_projection_read.h"
#include "format/arrow_reader.h"
#include "format/arrow_writer.h"
#include "format/log_records.h"
#include "format/projection_harness.h"
#include "format/statistics.h"
#include "vector.h"

/// ARROW batches, their statistics and projections: decoded, built anew, projected.
namespace strom::vectors {
namespace {

using format::ArrowBatchMetadata;
using format::ArrowCodec;
using format::DecodedArrowBatch;
using format::Value;

std::vector<Value> RowsFrom(const Json& columns, const Json& rows) {
  const auto fields = FieldsFrom(columns);
  std::vector<Value> values;
  for (const Json& row : rows) values.push_back(RowFrom(fields, row));
  return values;
}

/// Where the entries lead is equal, and what they lead to.
void ExpectSameMessage(ByteView message, ByteView expected) {
  const ArrowBatchMetadata a = format::ParseArrowMetadata(message).value();
  const ArrowBatchMetadata b = format::ParseArrowMetadata(expected).value();
  ASSERT_EQ(a.node_count(), b.node_count());
  ASSERT_EQ(a.buffer_count(), b.buffer_count());
  for (size_t i = 0; i < a.node_count(); ++i) EXPECT_EQ(a.node(i), b.node(i)) << "node " << i;
  for (size_t i = 0; i < a.buffer_count(); ++i) EXPECT_EQ(a.buffer(i), b.buffer(i)) << "buffer " << i;
  EXPECT_EQ(a.codec(), b.codec());
  EXPECT_EQ(ToHex(message.subspan(a.metadata_size())), ToHex(expected.subspan(b.metadata_size())));
}

/// Our writer with each codec, read again.
void ExpectRoundTrip(const model::Schema& schema, const std::vector<Value>& rows) {
  for (const std::optional<ArrowCodec> codec :
       {std::optional<ArrowCodec>(), std::optional(ArrowCodec::kLz4Frame), std::optional(ArrowCodec::kZstd)}) {
    const auto built = format::BuildArrowLogBatch(format::LogBatchSpec(), schema, {.rows = rows}, {.codec = codec});
    ASSERT_TRUE(built.ok()) << built.ToString();
    const auto decoded = format::DecodeArrowBatch(built->view(), schema);
    ASSERT_TRUE(decoded.ok()) << decoded.ToString();
    EXPECT_EQ(decoded->rows, rows);
    if (!rows.empty()) {
      EXPECT_EQ(decoded->codec, codec);
    }
  }
}

/// The block that we build of the rows is Java's.
void ExpectStatistics(const Vector& vector, const model::Schema& schema, const std::vector<Value>& rows, ByteView block) {
  MutableBuffer ours;
  if (vector.has("statistics_columns") && !vector.at("statistics_columns").is_null()) {
    const auto positions = vector.at("statistics_columns").get<std::vector<int32_t>>();
    const Status built = format::AppendStatistics(schema, positions, rows, &ours);
    ASSERT_TRUE(built.ok()) << built.ToString();
    const auto parsed = format::BatchStatistics::Parse(block);
    ASSERT_TRUE(parsed.ok()) << parsed.ToString();
    EXPECT_EQ(parsed->column_count(), positions.size());
  }
  EXPECT_EQ(ToHex(ours.view()), ToHex(block));
}

void CheckArrowBatch(const Vector& vector) {
  const std::string bytes = vector.bytes("batch");
  const model::Schema schema = SchemaFrom(vector.at("columns"));
  const std::vector<Value> rows = RowsFrom(vector.at("columns"), vector.at("rows"));
  const auto decoded = format::DecodeArrowBatch(AsBytes(bytes), schema);
  ASSERT_TRUE(decoded.ok()) << decoded.ToString();
  EXPECT_EQ(decoded->rows, rows);
  const auto layout = format::SplitArrowBatch(decoded->header, AsBytes(bytes));
  ASSERT_TRUE(layout.ok()) << layout.ToString();
  ExpectStatistics(vector, schema, rows, layout->statistics);
  ExpectRoundTrip(schema, rows);
  if (rows.empty() || decoded->codec.has_value() || vector.id.starts_with("log-foreign")) return;
  const auto ours = format::EncodeArrowMessage(schema, rows, {});
  ASSERT_TRUE(ours.ok()) << ours.ToString();
  ExpectSameMessage(ours->view(), layout->message);
}

void CheckProjection(const Vector& vector) {
  const Buffer input = Buffer::CopyOf(vector.bytes("input"));
  const std::string java = vector.bytes("projected");
  const model::Schema schema = SchemaFrom(vector.at("columns"));
  const model::Schema projected = SchemaFrom(vector.at("projected_columns"));
  const auto selected = vector.at("selected").get<std::vector<int32_t>>();
  const auto ours = format::ProjectForTest(input, schema, schema, selected);
  ASSERT_TRUE(ours.ok()) << ours.ToString();

  const auto decoded = format::DecodeArrowBatch(ours->view(), projected);
  const auto expected = format::DecodeArrowBatch(AsBytes(java), projected);
  ASSERT_TRUE(decoded.ok() && expected.ok()) << decoded.ToString() << expected.ToString();
  EXPECT_EQ(decoded->rows, RowsFrom(vector.at("projected_columns"), vector.at("projected_rows")));
  EXPECT_EQ(decoded->change_types, expected->change_types);
  const format::LogBatchHeader& header = decoded->header;
  EXPECT_EQ(header.crc, expected->header.crc);  // the old one, which matches no more
  EXPECT_EQ(header.base_offset, expected->header.base_offset);
  EXPECT_EQ(header.last_offset_delta, expected->header.last_offset_delta);
  EXPECT_EQ(header.commit_timestamp, expected->header.commit_timestamp);
  EXPECT_EQ(header.statistics_length, 0);
  ExpectSameMessage(format::SplitArrowBatch(header, ours->view())->message,
                    format::SplitArrowBatch(expected->header, AsBytes(java))->message);
}

/// Two schemas of one table: the second has a column more.
struct Evolution {
  std::shared_ptr<const model::Schema> first;
  std::shared_ptr<const model::Schema> second;
  format::SchemaLookup lookup() const {
    return [*this](SchemaId id) { return id == SchemaId(1) ? first : second; };
  }
};

/// Batches of both schemas read as one slice.
Result<format::ProjectedRead> Read(const Evolution& evolution, const Buffer& batches, std::vector<int32_t> selected, uint64_t max_bytes) {
  format::ProjectionCache cache;
  format::ProjectSliceRequest request;
  request.file = std::make_shared<const format::MemoryFile>(batches);
  request.size = batches.size();
  request.table_schema = SchemaId(2);
  request.positions = selected;
  request.max_bytes = max_bytes;
  return format::ProjectSlice(request, evolution.lookup(), &cache);
}

void CheckEvolution(const Vector& vector) {
  const Evolution evolution{std::make_shared<const model::Schema>(SchemaFrom(vector.at("columns_schema1"))),
                            std::make_shared<const model::Schema>(SchemaFrom(vector.at("columns_schema2")))};
  // Java fails where the older schema lacks a column; here it is null (spec/formats.md 5).
  const auto read = Read(evolution, Buffer::CopyOf(vector.bytes("batches")), {0, 2}, 1 << 20);
  ASSERT_TRUE(read.ok()) << read.ToString();
  const Buffer records = rt::Flatten(read->records).value();
  model::Schema projected = *evolution.second;
  projected.columns.erase(projected.columns.begin() + 1);
  std::vector<Value> rows;
  for (size_t at = 0; at < records.size();) {
    const size_t size = format::DecodeLogBatchHeader(records.view().subspan(at))->total_size;
    const auto decoded = format::DecodeArrowBatch(records.view().subspan(at, size), projected);
    ASSERT_TRUE(decoded.ok()) << decoded.ToString();
    rows.insert(rows.end(), decoded->rows.begin(), decoded->rows.end());
    at += size;
  }
  const std::vector<Value> expected = {Value::Row({Value::Integer(1), Value::Null()}), Value::Row({Value::Integer(2), Value::Null()}),
                                       Value::Row({Value::Integer(3), Value::Integer(30)})};
  EXPECT_EQ(rows, expected);
}

void CheckLimits(const Vector& vector) {
  // The vector does not tell its schemas: those of log-arrow-schema-evolution, (INT, STRING) and with a BIGINT more.
  model::Schema first;
  for (const model::DataType& type : {model::DataType::Of(model::TypeRoot::kInteger), model::DataType::Of(model::TypeRoot::kString)}) {
    model::Column column;
    column.type = type;
    column.id = static_cast<int32_t>(first.columns.size());
    first.columns.push_back(std::move(column));
  }
  model::Schema second = first;
  second.columns.push_back(first.columns.front());
  second.columns.back().type = model::DataType::Of(model::TypeRoot::kBigInt);
  second.columns.back().id = 2;
  const Evolution evolution{std::make_shared<const model::Schema>(first), std::make_shared<const model::Schema>(second)};
  const Buffer input = Buffer::CopyOf(vector.bytes("input"));
  const auto size_at = [&](uint64_t limit) { return Read(evolution, input, {0}, limit).value().records.size(); };
  // Limits count our own sizes: the metadata are some bytes shorter than Java's, the same for both batches.
  const uint64_t full = size_at(1 << 20);
  const uint64_t java_full = vector.at("full_size").get<uint64_t>();
  EXPECT_EQ(full % 2, 0u);
  for (const Json& one_case : vector.at("cases")) {
    const uint64_t java_limit = one_case.at("max_bytes").get<uint64_t>();
    const uint64_t java_size = one_case.at("result_size").get<uint64_t>();
    const uint64_t saved = java_limit >= java_full ? java_full - full : java_limit >= java_full / 2 ? (java_full - full) / 2 : 0;
    EXPECT_EQ(size_at(java_limit - saved), java_size * full / java_full) << "limit " << java_limit;
  }
}

}  // namespace

void AddArrowChecks(Checks* checks) {
  // Batches of any format were looked at before this one.
  const Check before = (*checks)["log_batch"];
  (*checks)["log_batch"] = [before](const Vector& vector) {
    before(vector);
    if (vector.text("log_format") == "ARROW") CheckArrowBatch(vector);
  };
  (*checks)["projection"] = CheckProjection;
  (*checks)["projection_limit"] = CheckLimits;
  (*checks)["log_multi"] = CheckEvolution;
}

}  // namespace strom::vectors
