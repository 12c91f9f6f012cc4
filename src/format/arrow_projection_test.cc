#include "format/arrow_projection.h"

#include <gtest/gtest.h>

#include "format/arrow_projection_read.h"
#include "format/arrow_reader.h"
#include "format/arrow_writer.h"
#include "format/projection_harness.h"

namespace strom::format {
namespace {

using model::DataType;
using model::TypeRoot;

model::Schema SchemaOf(const std::vector<DataType>& types) {
  model::Schema schema;
  for (const DataType& type : types) {
    model::Column column;
    column.name = fmt::format("c{}", schema.columns.size());
    column.type = type;
    schema.columns.push_back(std::move(column));
  }
  model::AssignFieldIds(&schema);
  return schema;
}

/// Rows (i, text of `text_size` bytes, i).
Buffer Batch(const model::Schema& schema, int64_t rows, size_t text_size, ArrowCompression compression = {}) {
  std::vector<Value> values;
  for (int64_t i = 0; i < rows; ++i) {
    values.push_back(Value::Row({Value::Integer(i), Value::String(std::string(text_size, 'x')), Value::Integer(i)}));
  }
  return BuildArrowLogBatch(LogBatchSpec(), schema, {.rows = values}, compression).value();
}

const model::Schema& ThreeColumns() {
  static const model::Schema schema =
      SchemaOf({DataType::Of(TypeRoot::kInteger), DataType::Of(TypeRoot::kString), DataType::Of(TypeRoot::kBigInt)});
  return schema;
}

struct Read {
  ProjectedRead result;
  std::shared_ptr<const MemoryFile> file;
};

Read ReadColumns(const Buffer& log, std::vector<int32_t> positions) {
  Read read;
  read.file = std::make_shared<const MemoryFile>(log);
  ProjectionCache cache;
  ProjectSliceRequest request;
  request.file = read.file;
  request.size = log.size();
  request.table_schema = SchemaId(1);
  request.positions = positions;
  request.max_bytes = UINT64_MAX;
  const auto schema = std::make_shared<const model::Schema>(ThreeColumns());
  Result<ProjectedRead> result = ProjectSlice(request, [&](SchemaId) { return schema; }, &cache);
  EXPECT_TRUE(result.ok()) << result.ToString();
  if (result.ok()) read.result = std::move(result).value();
  return read;
}

TEST(ArrowProjection, PositionsMustAscendAndExist) {
  const auto code = [](std::vector<int32_t> positions) { return CheckProjection(positions, 3).code(); };
  EXPECT_EQ(code({0}), ErrorCode::kNone);
  EXPECT_EQ(code({0, 1, 2}), ErrorCode::kNone);
  for (const std::vector<int32_t>& bad : std::vector<std::vector<int32_t>>{{}, {1, 0}, {1, 1}, {-1}, {3}}) {
    EXPECT_EQ(code(bad), ErrorCode::kInvalidColumnProjection);
  }
}

TEST(ArrowProjection, OfALargeBatchOnlyMetadataAndSmallColumnsAreRead) {
  const Buffer log = Batch(ThreeColumns(), 1000, 1000);
  const Read read = ReadColumns(log, {0});
  EXPECT_LT(read.file->bytes_read(), 2 * (4096 + 4000 + 200u));
  EXPECT_LT(read.file->reads(), 4u);
  ASSERT_EQ(read.result.records.pieces().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Buffer>(read.result.records.pieces()[0]));
}

TEST(ArrowProjection, LargeColumnsGoOutAsFileRanges) {
  const Buffer log = Batch(ThreeColumns(), 1000, 1000);
  const Read read = ReadColumns(log, {1});
  EXPECT_LT(read.file->bytes_read(), 16'384u);
  ASSERT_EQ(read.result.records.pieces().size(), 2u);
  const auto& range = std::get<rt::FileRange>(read.result.records.pieces()[1]);
  // Validity, offsets and bytes of a column lie side by side: one range.
  EXPECT_EQ(range.size, 128u + 4'008u + 1'000'000u);
}

TEST(ArrowProjection, ManySmallBatchesAreReadAtOnceAndAreOnePiece) {
  MutableBuffer log;
  for (int i = 0; i < 200; ++i) log.Append(Batch(ThreeColumns(), 10, 20).view());
  const Read read = ReadColumns(Buffer::CopyOf(log.view()), {0, 2});
  EXPECT_EQ(read.result.batches_sent, 200u);
  EXPECT_LE(read.file->reads(), 2 + log.size() / (60 << 10) * 2);
  EXPECT_EQ(read.result.records.pieces().size(), 1u);
}

TEST(ArrowProjection, NullColumnsOfAMissingNestedTypeAreReadBack) {
  const model::Schema older = SchemaOf({DataType::Of(TypeRoot::kInteger)});
  std::vector<model::DataField> fields(2);
  fields[0].name = "a";
  fields[0].type = DataType::Array(DataType::Of(TypeRoot::kString));
  fields[1].name = "b";
  fields[1].type = DataType::Binary(5);
  const model::Schema table =
      SchemaOf({DataType::Of(TypeRoot::kInteger), DataType::Row(fields),
                DataType::Map(DataType::Of(TypeRoot::kString), DataType::Row(fields)), DataType::Decimal(38, 3)});
  const std::vector<int32_t> positions = {0, 1, 2, 3};
  for (const std::optional<ArrowCodec> codec :
       {std::optional<ArrowCodec>(), std::optional(ArrowCodec::kLz4Frame), std::optional(ArrowCodec::kZstd)}) {
    std::vector<Value> rows;
    for (int64_t i = 0; i < 70; ++i) rows.push_back(Value::Row({Value::Integer(i)}));
    const Buffer batch = BuildArrowLogBatch(LogBatchSpec(), older, {.rows = rows}, {.codec = codec}).value();
    const Result<Buffer> projected = ProjectForTest(batch, older, table, positions);
    ASSERT_TRUE(projected.ok()) << projected.ToString();
    const Result<DecodedArrowBatch> decoded = DecodeArrowBatch(projected->view(), table);
    ASSERT_TRUE(decoded.ok()) << decoded.ToString();
    ASSERT_EQ(decoded->rows.size(), 70u);
    EXPECT_EQ(decoded->rows[69], Value::Row({Value::Integer(69), Value::Null(), Value::Null(), Value::Null()}));
  }
}

TEST(ArrowProjection, AColumnThatChangedItsTypeIsRefused) {
  const model::Schema older = SchemaOf({DataType::Of(TypeRoot::kInteger)});
  const model::Schema table = SchemaOf({DataType::Of(TypeRoot::kString)});
  const std::vector<int32_t> positions = {0};
  EXPECT_EQ(ProjectionPlan::Make(older, table, positions).code(), ErrorCode::kInvalidColumnProjection);
}

TEST(ArrowProjection, ABatchThatDoesNotFitItsSchemaIsRefused) {
  const Buffer batch = Batch(ThreeColumns(), 10, 10);
  const model::Schema two = SchemaOf({DataType::Of(TypeRoot::kInteger), DataType::Of(TypeRoot::kString)});
  const std::vector<int32_t> positions = {0};
  EXPECT_EQ(ProjectForTest(batch, two, two, positions).code(), ErrorCode::kCorruptRecord);
}

// Every flipped bit of header and metadata ends in an answer or an error, never beyond the batch (the harness slices within it).
TEST(ArrowProjection, DamagedMetadataIsAnErrorOrStaysWithinTheBatch) {
  const Buffer batch = Batch(ThreeColumns(), 10, 10, {.codec = ArrowCodec::kZstd});
  const LogBatchHeader header = DecodeLogBatchHeader(batch.view()).value();
  const size_t message = ArrowMessageOffset(header).value();
  const size_t end = message + ReadArrowMetadataSize(batch.view().subspan(message)).value();
  const std::vector<int32_t> positions = {0, 2};
  for (size_t bit = message * 8; bit < end * 8; ++bit) {
    MutableBuffer damaged;
    damaged.Append(batch.view());
    damaged.data()[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    const Result<Buffer> projected = ProjectForTest(damaged.Freeze(), ThreeColumns(), ThreeColumns(), positions);
    if (projected.ok()) {
      EXPECT_LE(projected->size(), batch.size() + 64);
    }
  }
}

TEST(ArrowProjection, ABadBatchEndsTheAnswerBeforeItAndIsTheErrorWhenFirst) {
  const Buffer good = Batch(ThreeColumns(), 10, 10);
  MutableBuffer bad;
  bad.Append(good.view());
  bad.data()[48] = 0;  // the continuation marker
  MutableBuffer log;
  log.Append(good.view());
  log.Append(bad.view());
  const Read read = ReadColumns(Buffer::CopyOf(log.view()), {0});
  EXPECT_EQ(read.result.batches_sent, 1u);
  EXPECT_FALSE(read.result.complete);
  EXPECT_EQ(read.result.next_offset, LogOffset(10));

  ProjectionCache cache;
  ProjectSliceRequest request;
  request.file = std::make_shared<const MemoryFile>(Buffer::CopyOf(bad.view()));
  request.size = bad.size();
  const std::vector<int32_t> positions = {0};
  request.positions = positions;
  request.max_bytes = UINT64_MAX;
  const auto schema = std::make_shared<const model::Schema>(ThreeColumns());
  EXPECT_EQ(ProjectSlice(request, [&](SchemaId) { return schema; }, &cache).code(), ErrorCode::kCorruptRecord);
  EXPECT_EQ(ProjectSlice(request, [](SchemaId) { return nullptr; }, &cache).code(), ErrorCode::kCorruptRecord) << "the plan is cached";
  ProjectionCache empty;
  EXPECT_EQ(ProjectSlice(request, [](SchemaId) { return nullptr; }, &empty).code(), ErrorCode::kSchemaNotExist);
}

}  // namespace
}  // namespace strom::format
