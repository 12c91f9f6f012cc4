#include "format/arrow_row_appender.h"

#include <gtest/gtest.h>

#include "format/arrow_writer.h"
#include "format/compacted_row.h"
#include "format/indexed_row.h"
#include "format/random_rows.h"
#include "format/row_codec.h"

namespace strom::format {
namespace {

model::Schema SchemaOf(const std::vector<model::DataField>& fields) {
  model::Schema schema;
  for (const model::DataField& field : fields) {
    schema.columns.emplace_back();
    schema.columns.back().name = field.name;
    schema.columns.back().type = field.type;
  }
  return schema;
}

std::vector<FieldView> ReadFields(RowFormat format, const std::vector<model::DataField>& fields, ByteView row) {
  std::vector<FieldView> views(fields.size());
  const auto read = [&](auto reader) {
    for (FieldView& view : views) EXPECT_TRUE(reader.Next(&view).ok());
  };
  format == RowFormat::kIndexed ? read(IndexedRowReader(fields, row)) : read(CompactedRowReader(fields, row));
  return views;
}

TEST(ArrowRowAppender, BuildsWhatTheWriterMakesOfTheSameRowsAsValues) {
  Random random(20261201);
  size_t built = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    RandomRows rows(seed);
    const RowFormat format = random.OneIn(2) ? RowFormat::kCompacted : RowFormat::kIndexed;
    const std::vector<model::DataField> fields = rows.RandomFields(6, 3);
    const ArrowCompression compression{.codec = random.OneIn(2) ? std::optional(ArrowCodec::kLz4Frame) : std::nullopt};
    ArrowRowAppender appender(fields, format, compression);
    for (int batch = 0; batch < 3; ++batch) {
      std::vector<Buffer> bytes;
      std::vector<Value> values;
      std::vector<ChangeType> types;
      bool fits = true;
      for (uint64_t i = random.Below(20); i > 0; --i) {
        MutableBuffer row;
        if (!EncodeRow(format, fields, rows.RandomRow(fields), &row).ok()) continue;
        bytes.push_back(row.Freeze());
        values.push_back(*DecodeRow(format, fields, bytes.back().view()));
        types.push_back(static_cast<ChangeType>(1 + random.Below(4)));
        fits = fits && appender.Append(types.back(), ReadFields(format, fields, bytes.back().view())).ok();
        if (!fits) break;
      }
      LogBatchSpec spec{.schema_id = 3, .append_only = false, .writer_id = WriterId(7), .batch_sequence = batch};
      const Result<Buffer> expected =
          BuildArrowLogBatch(spec, SchemaOf(fields), {.rows = values, .change_types = types}, compression);
      EXPECT_EQ(expected.ok(), fits) << "seed " << seed;
      if (!expected.ok()) {
        appender.Clear();
        continue;
      }
      const Result<Buffer> actual = appender.Finish(spec);
      ASSERT_TRUE(actual.ok()) << actual.error().message;
      ASSERT_TRUE(std::ranges::equal(actual->view(), expected->view())) << "seed " << seed << " batch " << batch;
      ++built;
    }
  }
  EXPECT_GT(built, 600U);
}

TEST(ArrowRowAppender, NamesTheColumnOfAValueThatDoesNotFitAndGoesOnAfterClear) {
  const std::vector<model::DataField> fields = {
      {.name = "id", .type = model::DataType::Binary(4), .description = {}, .field_id = 0}};
  ArrowRowAppender appender(fields, RowFormat::kCompacted, {});
  const FieldView three = FieldView::Bytes(AsBytes(std::string_view("abc")));
  const Status refused = appender.Append(ChangeType::kInsert, {&three, 1});
  EXPECT_EQ(refused.code(), ErrorCode::kCorruptRecord);
  EXPECT_NE(refused.error().message.find("column id"), std::string::npos) << refused.ToString();
  appender.Clear();
  const FieldView four = FieldView::Bytes(AsBytes(std::string_view("abcd")));
  ASSERT_TRUE(appender.Append(ChangeType::kInsert, {&four, 1}).ok());
  EXPECT_TRUE(appender.Finish({.append_only = false}).ok());
}

TEST(ArrowRowAppender, MakesTheBatchThatOnlyTakesAnOffsetOfNoRows) {
  ArrowRowAppender appender(
      {{.name = "id", .type = model::DataType::Of(model::TypeRoot::kInteger), .description = {}, .field_id = 0}},
      RowFormat::kCompacted, {});
  const LogBatchSpec spec{.append_only = false, .writer_id = WriterId(1), .batch_sequence = 5};
  EXPECT_TRUE(std::ranges::equal(appender.Finish(spec)->view(), BuildEmptyLogBatch(spec).view()));
}

}  // namespace
}  // namespace strom::format
