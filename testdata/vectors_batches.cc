#include <gtest/gtest.h>

#include "format/log_batch.h"
#include "format/log_batch_builder.h"
#include "format/log_records.h"
#include "format/row_codec.h"
#include "vector.h"
#include "vectors_arrow.h"

namespace strom::vectors {

using format::ChangeType;
using format::LogBatchHeader;
using format::RowFormat;

format::LogBatchSpec SpecFrom(const LogBatchHeader& header) {
  return {.magic = header.magic,
          .schema_id = header.schema_id,
          .append_only = header.append_only(),
          .writer_id = header.writer_id,
          .batch_sequence = header.batch_sequence,
          .base_offset = header.base_offset,
          .commit_timestamp = header.commit_timestamp,
          .leader_epoch = LeaderEpoch(-1)};
}

namespace {

ChangeType ChangeTypeFrom(const std::string& name) {
  for (uint8_t code = 0; code <= format::kChangeTypeMax; ++code) {
    if (format::ChangeTypeName(static_cast<ChangeType>(code)) == name) return static_cast<ChangeType>(code);
  }
  ADD_FAILURE() << "unknown change type " << name;
  return ChangeType::kAppendOnly;
}

void ExpectHeader(const LogBatchHeader& header, ByteView batch, const Json& expected) {
  EXPECT_EQ(header.base_offset.value(), expected.at("base_offset").get<int64_t>());
  EXPECT_EQ(header.total_size, expected.at("length").get<uint32_t>() + 12);
  EXPECT_EQ(header.magic, expected.at("magic").get<int>());
  EXPECT_EQ(header.commit_timestamp.value(), expected.at("commit_timestamp").get<int64_t>());
  EXPECT_EQ(fmt::format("{:08x}", header.crc), expected.at("crc").get<std::string>());
  EXPECT_EQ(header.schema_id, expected.at("schema_id").get<int16_t>());
  EXPECT_EQ(header.attributes, expected.at("attributes").get<int>());
  EXPECT_EQ(header.last_offset_delta, expected.at("last_offset_delta").get<int32_t>());
  EXPECT_EQ(header.writer_id.value(), expected.at("writer_id").get<int64_t>());
  EXPECT_EQ(header.batch_sequence, expected.at("batch_sequence").get<int32_t>());
  EXPECT_EQ(header.record_count, expected.at("record_count").get<int32_t>());
  EXPECT_EQ(header.header_size(), expected.at("header_size").get<size_t>());
  if (expected.contains("statistics_length")) {
    EXPECT_EQ(header.statistics_length, expected.at("statistics_length").get<int32_t>());
  }
  EXPECT_EQ(format::CheckLogBatch(header, batch).ok(), expected.at("valid").get<bool>());
}

/// Decodes every record, and builds the same batch from the rows.
void CheckRowBatch(const Vector& vector, const LogBatchHeader& header, const std::string& bytes) {
  const RowFormat row_format = vector.text("log_format") == "INDEXED" ? RowFormat::kIndexed : RowFormat::kCompacted;
  const auto fields = FieldsFrom(vector.at("columns"));
  const Json& rows = vector.at("rows");
  const Json& change_types = vector.at("change_types");
  format::LogRecordReader reader(header, AsBytes(bytes));
  format::RowLogBatchBuilder builder(SpecFrom(header));
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_FALSE(reader.done());
    format::LogRecord record;
    const Status status = reader.Next(&record);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(record.offset, header.base_offset + static_cast<int64_t>(i));
    EXPECT_EQ(ChangeTypeName(record.change_type), change_types.at(i).get<std::string>());
    const format::Value row = RowFrom(fields, rows.at(i));
    const auto decoded = format::DecodeRow(row_format, fields, record.row);
    ASSERT_TRUE(decoded.ok()) << decoded.ToString();
    EXPECT_EQ(*decoded, row);

    MutableBuffer* out = builder.BeginRow(ChangeTypeFrom(change_types.at(i).get<std::string>()));
    ASSERT_TRUE(format::EncodeRow(row_format, fields, row, out).ok());
    builder.EndRow();
  }
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(ToHex(builder.Finish().view()), ToHex(bytes));
}

/// The parts of an ARROW batch, put together anew, are the batch.
void CheckArrowParts(const Vector& vector, const LogBatchHeader& header, const std::string& bytes) {
  const auto layout = format::SplitArrowBatch(header, AsBytes(bytes));
  ASSERT_TRUE(layout.ok()) << layout.ToString();
  if (!header.append_only()) {
    const Json& change_types = vector.at("change_types");
    ASSERT_EQ(layout->change_types.size(), change_types.size());
    for (size_t i = 0; i < change_types.size(); ++i) {
      EXPECT_EQ(layout->change_types[i], static_cast<uint8_t>(ChangeTypeFrom(change_types.at(i).get<std::string>())));
    }
  }
  const Buffer rebuilt = format::BuildArrowLogBatch(SpecFrom(header), {.record_count = header.record_count,
                                                                       .statistics = layout->statistics,
                                                                       .change_types = layout->change_types,
                                                                       .message = layout->message});
  EXPECT_EQ(ToHex(rebuilt.view()), ToHex(bytes));
}

void CheckBatch(const Vector& vector) {
  const std::string bytes = vector.bytes("batch");
  const auto header = format::DecodeLogBatchHeader(AsBytes(bytes));
  ASSERT_TRUE(header.ok()) << header.ToString();
  ExpectHeader(*header, AsBytes(bytes), vector.at("header"));
  if (vector.text("log_format") == "ARROW") {
    CheckArrowParts(vector, *header, bytes);
    CheckArrowBatch(vector, *header, bytes);
  } else {
    CheckRowBatch(vector, *header, bytes);
  }
}

void CheckStamp(const Vector& vector) {
  const std::string before = vector.bytes("before");
  MutableBuffer stamped;
  stamped.Append(before);
  format::StampLogBatch(stamped.mutable_view(), LogOffset(vector.at("base_offset").get<int64_t>()),
                        TimestampMs(vector.at("commit_timestamp").get<int64_t>()));
  // A leader never stamps the epoch (spec/formats.md 1.1); the vector does, to show that it lies outside the CRC.
  if (vector.has("leader_epoch")) StoreLe(stamped.data() + format::kBatchStampSize, vector.at("leader_epoch").get<int32_t>());
  EXPECT_EQ(ToHex(stamped.view()), ToHex(vector.bytes("after")));

  const auto header = format::DecodeLogBatchHeader(stamped.view());
  ASSERT_TRUE(header.ok()) << header.ToString();
  EXPECT_EQ(header->last_offset().value(), vector.at("last_offset").get<int64_t>());
  EXPECT_EQ(header->next_offset().value(), vector.at("next_offset").get<int64_t>());
  EXPECT_EQ(format::CheckLogBatch(*header, stamped.view()).ok(), vector.at("still_valid").get<bool>());
}

}  // namespace

void AddBatchChecks(Checks* checks) {
  (*checks)["log_batch"] = CheckBatch;
  (*checks)["log_batch_stamp"] = CheckStamp;
}

}  // namespace strom::vectors
