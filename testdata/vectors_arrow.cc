#include <gtest/gtest.h>

#include <algorithm>

#include "format/arrow_projection.h"
#include "format/arrow_projection_read.h"
#include "format/arrow_reader.h"
#include "format/arrow_writer.h"
#include "format/log_records.h"
#include "format/statistics.h"
#include "format/projection_harness.h"
#include "vector.h"
#include "vectors_arrow.h"

namespace strom::vectors {

using format::ChangeType;
using format::LogBatchHeader;
using format::Value;

namespace {

std::vector<Value> RowsFrom(const Json& columns, const Json& rows) {
  const auto fields = FieldsFrom(columns);
  std::vector<Value> values;
  for (const Json& row : rows) values.push_back(RowFrom(fields, row));
  return values;
}

/// "NONE", "LZ4_FRAME", "ZSTD-3", "ZSTD"
format::ArrowCompression CompressionFrom(const std::string& name) {
  format::ArrowCompression compression;
  if (name.starts_with("LZ4")) compression.codec = format::ArrowCodec::kLz4Frame;
  if (name.starts_with("ZSTD")) compression.codec = format::ArrowCodec::kZstd;
  if (name.starts_with("ZSTD-")) compression.zstd_level = std::stoi(name.substr(5));
  return compression;
}

std::vector<int32_t> PositionsFrom(const Json& positions) { return positions.get<std::vector<int32_t>>(); }

void ExpectRows(const Buffer& batch, const model::Schema& schema, const std::vector<Value>& rows) {
  const auto decoded = format::DecodeArrowBatch(batch.view(), schema);
  ASSERT_TRUE(decoded.ok()) << decoded.ToString();
  EXPECT_EQ(decoded->rows, rows);
}

/// What our writer makes of the rows has the same header (but for what follows from Arrow's metadata) and reads back as the same rows.
void CheckReencoded(const LogBatchHeader& header, const model::Schema& schema, const format::DecodedArrowBatch& decoded,
                    const std::vector<int32_t>& statistics_columns, const format::ArrowCompression& compression) {
  const format::LogBatchSpec spec = SpecFrom(header);
  const std::vector<ChangeType> change_types = header.append_only() ? std::vector<ChangeType>() : decoded.change_types;
  const auto rebuilt = format::BuildArrowLogBatch(
      spec, schema, {.rows = decoded.rows, .change_types = change_types, .statistics_columns = statistics_columns}, compression);
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.ToString();
  const auto again = format::DecodeArrowBatch(rebuilt->view(), schema);
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_EQ(again->rows, decoded.rows);
  EXPECT_EQ(again->change_types, decoded.change_types);
  EXPECT_EQ(again->header.record_count, header.record_count);
  EXPECT_EQ(again->header.last_offset_delta, header.last_offset_delta);
  EXPECT_EQ(again->header.statistics_length, header.statistics_length);
  EXPECT_TRUE(format::CheckLogBatch(again->header, rebuilt->view()).ok());
}

/// The statistics of the vector's rows are its block, byte for byte.
void CheckStatistics(const Vector& vector, const model::Schema& schema, const std::vector<Value>& rows, ByteView block) {
  MutableBuffer encoded;
  const Status status = format::AppendStatistics(schema, PositionsFrom(vector.at("statistics_columns")), rows, &encoded);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(ToHex(encoded.view()), ToHex(block));
  EXPECT_TRUE(format::BatchStatistics::Parse(block).ok());
}

/// Java's projection and ours: the same rows and header, but for what follows from Arrow's metadata.
void CheckProjection(const Vector& vector) {
  const model::Schema schema = SchemaFrom(vector.at("columns"));
  const model::Schema projected_schema = SchemaFrom(vector.at("projected_columns"));
  const Buffer input = Buffer::CopyOf(vector.bytes("input"));
  const std::vector<Value> rows = RowsFrom(vector.at("projected_columns"), vector.at("projected_rows"));
  ExpectRows(Buffer::CopyOf(vector.bytes("projected")), projected_schema, rows);

  const auto projected = format::ProjectForTest(input, schema, schema, PositionsFrom(vector.at("selected")));
  ASSERT_TRUE(projected.ok()) << projected.ToString();
  ExpectRows(*projected, projected_schema, rows);
  const auto header = format::DecodeLogBatchHeader(projected->view());
  ASSERT_TRUE(header.ok()) << header.ToString();
  const Json& expected = vector.at("header");
  EXPECT_EQ(header->total_size, projected->size());
  EXPECT_EQ(header->base_offset.value(), expected.at("base_offset").get<int64_t>());
  EXPECT_EQ(header->magic, expected.at("magic").get<int>());
  EXPECT_EQ(header->commit_timestamp.value(), expected.at("commit_timestamp").get<int64_t>());
  EXPECT_EQ(header->schema_id, expected.at("schema_id").get<int16_t>());
  EXPECT_EQ(header->attributes, expected.at("attributes").get<int>());
  EXPECT_EQ(header->last_offset_delta, expected.at("last_offset_delta").get<int32_t>());
  EXPECT_EQ(header->writer_id.value(), expected.at("writer_id").get<int64_t>());
  EXPECT_EQ(header->batch_sequence, expected.at("batch_sequence").get<int32_t>());
  EXPECT_EQ(header->record_count, expected.at("record_count").get<int32_t>());
  EXPECT_EQ(header->statistics_length, 0);
}

/// Whole batches of a buffer.
std::vector<Buffer> Split(const Buffer& batches) {
  std::vector<Buffer> split;
  for (size_t position = 0; position < batches.size();) {
    const auto header = format::DecodeLogBatchHeader(batches.view().subspan(position));
    EXPECT_TRUE(header.ok() && header->total_size <= batches.size() - position) << "at " << position;
    if (!header.ok() || header->total_size > batches.size() - position) break;
    split.push_back(batches.Slice(position, header->total_size));
    position += header->total_size;
  }
  return split;
}

/// Two batches of two schemas: rows, Java's projection of column 0, and column 2, which the older schema lacks: null there.
void CheckSchemaEvolution(const Vector& vector) {
  const model::Schema schemas[] = {SchemaFrom(vector.at("columns_schema1")), SchemaFrom(vector.at("columns_schema2"))};
  const std::vector<Value> rows[] = {RowsFrom(vector.at("columns_schema1"), vector.at("rows_schema1")),
                                     RowsFrom(vector.at("columns_schema2"), vector.at("rows_schema2"))};
  const std::vector<Buffer> batches = Split(Buffer::CopyOf(vector.bytes("batches")));
  const std::vector<Buffer> projected = Split(Buffer::CopyOf(vector.bytes("projected_0")));
  ASSERT_EQ(batches.size(), 2u);
  ASSERT_EQ(projected.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    ExpectRows(batches[i], schemas[i], rows[i]);
    for (const int32_t column : {0, 2}) {
      SCOPED_TRACE(fmt::format("batch {}, column {}", i, column));
      const auto position = static_cast<size_t>(column);
      model::Schema one_column;
      one_column.columns = {schemas[1].columns[position]};
      std::vector<Value> expected;
      for (const Value& row : rows[i]) {
        expected.push_back(Value::Row({position < row.items().size() ? row.items()[position] : Value::Null()}));
      }
      if (column == 0) ExpectRows(projected[i], one_column, expected);
      const int32_t positions[] = {column};
      const auto own = format::ProjectForTest(batches[i], schemas[i], schemas[1], positions);
      ASSERT_TRUE(own.ok()) << own.ToString();
      ExpectRows(*own, one_column, expected);
    }
  }
}

/// The schemas of the vector's two batches: (a INT, b STRING) and a column c BIGINT more. The index does not hold them.
std::shared_ptr<const model::Schema> LimitSchema(SchemaId id) {
  const std::vector<model::TypeRoot> types = {model::TypeRoot::kInteger, model::TypeRoot::kString, model::TypeRoot::kBigInt};
  auto schema = std::make_shared<model::Schema>();
  for (int32_t i = 0; i <= id.value(); ++i) {
    model::Column column;
    column.name = std::string(1, static_cast<char>('a' + i));
    column.type = model::DataType::Of(types.at(static_cast<size_t>(i)));
    column.id = i;
    schema->columns.push_back(std::move(column));
  }
  return schema;
}

/// As many whole batches as fit the limit. Our batches may have other sizes than Java's, so each limit is held against our own.
void CheckProjectionLimit(const Vector& vector) {
  const Buffer input = Buffer::CopyOf(vector.bytes("input"));
  const int32_t positions[] = {0};
  std::vector<uint64_t> ends;  // of the projected batches, one after the other
  for (const Buffer& batch : Split(input)) {
    const auto header = format::DecodeLogBatchHeader(batch.view());
    const auto projected =
        format::ProjectForTest(batch, *LimitSchema(SchemaId(header->schema_id)), *LimitSchema(SchemaId(2)), positions);
    ASSERT_TRUE(projected.ok()) << projected.ToString();
    ends.push_back((ends.empty() ? 0 : ends.back()) + projected->size());
  }
  auto expect = [&](uint64_t limit) {
    SCOPED_TRACE(limit);
    format::ProjectSliceRequest request;
    request.file = std::make_shared<format::MemoryFile>(input);
    request.size = input.size();
    request.table_schema = SchemaId(2);
    request.positions = positions;
    request.max_bytes = limit;
    format::ProjectionCache cache;
    const auto read = format::ProjectSlice(request, LimitSchema, &cache);
    ASSERT_TRUE(read.ok()) << read.ToString();
    EXPECT_EQ(read->batches_sent, static_cast<uint64_t>(std::count_if(ends.begin(), ends.end(), [&](uint64_t end) { return end <= limit; })));
  };
  for (const Json& test : vector.at("cases")) expect(test.at("max_bytes").get<uint64_t>());
  for (const uint64_t end : ends) {
    expect(end - 1);
    expect(end);
  }
}

}  // namespace

void CheckArrowBatch(const Vector& vector, const LogBatchHeader& header, const std::string& bytes) {
  const model::Schema schema = SchemaFrom(vector.at("columns"));
  const std::vector<Value> rows = RowsFrom(vector.at("columns"), vector.at("rows"));
  const auto decoded = format::DecodeArrowBatch(AsBytes(bytes), schema);
  ASSERT_TRUE(decoded.ok()) << decoded.ToString();
  EXPECT_EQ(decoded->rows, rows);
  const format::ArrowCompression compression = CompressionFrom(vector.text("compression"));
  if (header.record_count > 0) {
    EXPECT_EQ(decoded->codec, compression.codec);
  }
  const auto layout = format::SplitArrowBatch(header, AsBytes(bytes));
  ASSERT_TRUE(layout.ok()) << layout.ToString();
  std::vector<int32_t> statistics_columns;
  if (vector.has("statistics_columns")) {
    statistics_columns = PositionsFrom(vector.at("statistics_columns"));
    CheckStatistics(vector, schema, rows, layout->statistics);
  }
  CheckReencoded(header, schema, *decoded, statistics_columns, compression);
}

void AddArrowChecks(Checks* checks) {
  (*checks)["projection"] = CheckProjection;
  (*checks)["projection_limit"] = CheckProjectionLimit;
  (*checks)["log_multi"] = CheckSchemaEvolution;
}

}  // namespace strom::vectors
