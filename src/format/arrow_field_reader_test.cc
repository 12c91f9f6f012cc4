#include "format/arrow_field_reader.h"

#include <gtest/gtest.h>

#include "format/arrow_reader.h"
#include "format/arrow_writer.h"
#include "format/log_records.h"
#include "format/random_rows.h"

namespace strom::format {
namespace {

struct Message {
  std::vector<model::DataField> fields;
  model::Schema schema;
  Buffer batch;
  ByteView message() const {
    return SplitArrowBatch(DecodeLogBatchHeader(batch.view()).value(), batch.view())->message;
  }
};

/// Nothing where a random value does not fit its Arrow type.
std::optional<Message> RandomMessage(uint64_t seed) {
  RandomRows rows(seed);
  Random random(seed);
  Message made;
  made.fields = rows.RandomFields(8, 0);
  for (const model::DataField& field : made.fields) {
    made.schema.columns.emplace_back();
    made.schema.columns.back().name = field.name;
    made.schema.columns.back().type = field.type;
  }
  std::vector<Value> values;
  for (uint64_t i = 1 + random.Below(40); i > 0; --i) values.push_back(rows.RandomRow(made.fields));
  ArrowCompression compression;
  if (random.OneIn(2)) compression.codec = random.OneIn(2) ? ArrowCodec::kLz4Frame : ArrowCodec::kZstd;
  Result<Buffer> batch = BuildArrowLogBatch({}, made.schema, {.rows = values, .change_types = {}}, compression);
  if (!batch.ok()) return std::nullopt;
  made.batch = *std::move(batch);
  return made;
}

TEST(ArrowFieldReader, ReadsWhatTheReaderOfValuesReads) {
  size_t fields_read = 0;
  ArrowFieldReader reader;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const std::optional<Message> made = RandomMessage(seed);
    if (!made) continue;
    const auto expected = DecodeArrowMessage(made->message(), made->schema);
    ASSERT_TRUE(expected.ok());
    const Status opened = reader.Open(made->fields, made->message());
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    ASSERT_EQ(reader.record_count(), static_cast<int64_t>(expected->size()));
    for (size_t row = 0; row < expected->size(); ++row) {
      for (size_t column = 0; column < made->fields.size(); ++column) {
        FieldView view;
        ASSERT_TRUE(reader.Read(column, static_cast<int64_t>(row), &view).ok());
        const Value actual = view.is_null ? Value::Null() : ValueOfView(made->fields[column].type, view).value();
        ASSERT_EQ(actual.ToString(), (*expected)[row].items()[column].ToString())
            << made->fields[column].type.ToString();
        ++fields_read;
      }
    }
  }
  EXPECT_GT(fields_read, 10'000U);
}

TEST(ArrowFieldReader, TakesNoMessageThatTheReaderOfValuesRefusesAndReadsDamagedOnesInside) {
  ArrowFieldReader reader;
  size_t refused = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const std::optional<Message> made = RandomMessage(seed);
    if (!made) continue;
    Random random(seed);
    for (int i = 0; i < 30; ++i) {
      MutableBuffer damaged;
      damaged.Append(made->message());
      damaged.data()[random.Below(damaged.size())] ^= static_cast<uint8_t>(1U << random.Below(8));
      const ByteView message = damaged.view().first(random.OneIn(8) ? random.Below(damaged.size()) : damaged.size());
      bool read = reader.Open(made->fields, message).ok();
      if (read) {
        FieldView view;
        for (int64_t row = 0; row < reader.record_count(); ++row) {
          for (size_t column = 0; column < made->fields.size(); ++column)
            read = reader.Read(column, row, &view).ok() && read;
        }
      }
      refused += read ? 0 : 1;
      if (!DecodeArrowMessage(message, made->schema).ok()) {
        EXPECT_FALSE(read);
      }
    }
  }
  EXPECT_GT(refused, 100U);
}

TEST(ArrowFieldReader, LeavesNestedColumnsToTheReaderOfValues) {
  const std::vector<model::DataField> fields = {
      {.name = "a",
       .type = model::DataType::Array(model::DataType::Of(model::TypeRoot::kInteger)),
       .description = {},
       .field_id = 0}};
  EXPECT_FALSE(ArrowFieldReader::Takes(fields));
}

}  // namespace
}  // namespace strom::format
