#include "format/log_batch.h"

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "format/batch_rewrite.h"
#include "format/log_batch_builder.h"
#include "format/log_records.h"

namespace strom::format {
namespace {

Buffer RowBatch(int count) {
  RowLogBatchBuilder builder({.schema_id = 3, .writer_id = WriterId(9), .batch_sequence = 4, .base_offset = LogOffset(100)});
  for (int i = 0; i < count; ++i) builder.Append(ChangeType::kAppendOnly, AsBytes("row " + std::to_string(i)));
  return builder.Finish();
}

LogBatchHeader Header(const Buffer& batch) {
  auto header = DecodeLogBatchHeader(batch.view());
  EXPECT_TRUE(header.ok()) << header.ToString();
  return *header;
}

MutableBuffer Changed(const Buffer& batch, size_t position, auto value) {
  MutableBuffer changed;
  changed.Append(batch.view());
  StoreLe(changed.data() + position, value);
  return changed;
}

TEST(LogBatch, ABuiltBatchReadsBack) {
  const Buffer batch = RowBatch(3);
  const LogBatchHeader header = Header(batch);
  EXPECT_TRUE(CheckLogBatch(header, batch.view()).ok());
  EXPECT_EQ(header.total_size, batch.size());
  EXPECT_EQ(header.schema_id, 3);
  EXPECT_EQ(header.writer_id, WriterId(9));
  EXPECT_EQ(header.batch_sequence, 4);
  EXPECT_EQ(header.last_offset(), LogOffset(102));
  EXPECT_TRUE(header.append_only());

  LogRecordReader reader(header, batch.view());
  LogRecord record;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(reader.Next(&record).ok());
    EXPECT_EQ(record.offset, LogOffset(100 + i));
    EXPECT_EQ(AsText(record.row), "row " + std::to_string(i));
  }
  EXPECT_TRUE(reader.done());
}

TEST(LogBatch, AStampLeavesTheCrcValidInEveryMagic) {
  for (uint8_t magic = 0; magic <= kBatchMagicMax; ++magic) {
    const Buffer batch = BuildEmptyLogBatch({.magic = magic});
    EXPECT_EQ(batch.size(), BatchHeaderSize(magic));
    MutableBuffer stamped;
    stamped.Append(batch.view());
    StampLogBatch(stamped.mutable_view(), LogOffset(7), TimestampMs(8));
    const auto header = DecodeLogBatchHeader(stamped.view());
    ASSERT_TRUE(header.ok()) << header.ToString();
    EXPECT_TRUE(CheckLogBatch(*header, stamped.view()).ok());
    EXPECT_EQ(header->base_offset, LogOffset(7));
    EXPECT_EQ(header->commit_timestamp, TimestampMs(8));
    EXPECT_EQ(header->next_offset(), LogOffset(8)) << "an empty batch takes one offset";
  }
}

TEST(LogBatch, EveryChangedByteOfTheCrcsRangeIsFound) {
  const Buffer batch = RowBatch(2);
  for (size_t position = 21; position < batch.size(); ++position) {
    const MutableBuffer changed = Changed(batch, position, static_cast<uint8_t>(batch.data()[position] ^ 1));
    const auto header = DecodeLogBatchHeader(changed.view());
    EXPECT_TRUE(!header.ok() || CheckLogBatch(*header, changed.view()).code() == ErrorCode::kCorruptRecord) << position;
  }
}

TEST(LogBatch, HeadersThatMakeNoSenseAreRefused) {
  const Buffer batch = RowBatch(2);
  EXPECT_EQ(DecodeLogBatchHeader(batch.view().first(12)).code(), ErrorCode::kCorruptRecord);
  EXPECT_EQ(DecodeLogBatchHeader(batch.view().first(47)).code(), ErrorCode::kCorruptRecord);
  EXPECT_EQ(DecodeLogBatchHeader(Changed(batch, 12, uint8_t{3}).view()).code(), ErrorCode::kCorruptRecord);
  EXPECT_EQ(DecodeLogBatchHeader(Changed(batch, 8, int32_t{35}).view()).code(), ErrorCode::kCorruptRecord);
  EXPECT_EQ(DecodeLogBatchHeader(Changed(batch, 8, int32_t{-1}).view()).code(), ErrorCode::kCorruptRecord);
  EXPECT_EQ(DecodeLogBatchHeader(Changed(batch, 28, int32_t{-1}).view()).code(), ErrorCode::kCorruptRecord);
  EXPECT_EQ(DecodeLogBatchHeader(Changed(batch, 44, int32_t{-1}).view()).code(), ErrorCode::kCorruptRecord);
  const Buffer magic1 = BuildEmptyLogBatch({.magic = 1});
  EXPECT_EQ(DecodeLogBatchHeader(Changed(magic1, 48, int32_t{1}).view()).code(), ErrorCode::kCorruptRecord);
  EXPECT_EQ(DecodeLogBatchHeader(Changed(magic1, 48, int32_t{-1}).view()).code(), ErrorCode::kCorruptRecord);
}

TEST(LogBatch, ALengthUpToTheLargestIntegerDoesNotOverflow) {
  const auto header = DecodeLogBatchHeader(Changed(RowBatch(1), 8, INT32_MAX).view());
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->total_size, 2147483659u);
}

TEST(LogRecords, RecordsThatDoNotFitAreRefused) {
  const Buffer batch = RowBatch(2);
  const LogBatchHeader header = Header(batch);
  LogRecord record;
  for (const int32_t length : {0, -1, 1000, INT32_MAX}) {
    const MutableBuffer changed = Changed(batch, 48, length);
    LogRecordReader reader(header, changed.view());
    EXPECT_EQ(reader.Next(&record).code(), ErrorCode::kCorruptRecord) << length;
  }
  const MutableBuffer unknown = Changed(batch, 52, uint8_t{5});
  EXPECT_EQ(LogRecordReader(header, unknown.view()).Next(&record).code(), ErrorCode::kCorruptRecord);

  LogBatchHeader one_record = header;
  one_record.record_count = 1;
  EXPECT_EQ(LogRecordReader(one_record, batch.view()).Next(&record).code(), ErrorCode::kCorruptRecord) << "bytes behind the last record";
  LogBatchHeader three_records = header;
  three_records.record_count = 3;
  LogRecordReader reader(three_records, batch.view());
  ASSERT_TRUE(reader.Next(&record).ok());
  ASSERT_TRUE(reader.Next(&record).ok());
  EXPECT_EQ(reader.Next(&record).code(), ErrorCode::kCorruptRecord) << "a record that is not there";
}

TEST(BatchRewrite, DropsStatisticsAndEpochAndKeepsTheRest) {
  const uint8_t change_types[] = {1, 4};
  for (uint8_t magic = 0; magic <= kBatchMagicMax; ++magic) {
    for (const bool append_only : {true, false}) {
      LogBatchSpec spec{.magic = magic, .append_only = append_only, .writer_id = WriterId(5), .batch_sequence = 6};
      ArrowBatchParts parts{.record_count = 2, .statistics = {}, .change_types = {}, .message = AsBytes("the arrow message")};
      if (!append_only) parts.change_types = change_types;
      if (magic > 0) parts.statistics = AsBytes("statistics");
      const Buffer batch = BuildArrowLogBatch(spec, parts);
      spec.magic = 0;
      parts.statistics = {};
      const Buffer expected = BuildArrowLogBatch(spec, parts);

      const RewrittenBatch rewritten = RewriteToMagic0(Header(batch), batch.view());
      MutableBuffer whole;
      whole.Append(rewritten.header);
      whole.Append(batch.view().subspan(rewritten.rest_position, rewritten.rest_size));
      EXPECT_EQ(AsText(whole.view()), expected.text()) << static_cast<int>(magic);
    }
  }
}

TEST(ArrowBatchLayout, FindsThePartsAndRefusesUnknownChanges) {
  uint8_t change_types[] = {1, 4};
  const ArrowBatchParts parts{.record_count = 2, .statistics = AsBytes("st"), .change_types = change_types, .message = AsBytes("message")};
  const Buffer batch = BuildArrowLogBatch({.magic = 1, .append_only = false}, parts);
  const auto layout = SplitArrowBatch(Header(batch), batch.view());
  ASSERT_TRUE(layout.ok()) << layout.ToString();
  EXPECT_EQ(AsText(layout->statistics), "st");
  EXPECT_EQ(layout->change_types.size(), 2u);
  EXPECT_EQ(AsText(layout->message), "message");
  change_types[1] = 5;
  const Buffer unknown = BuildArrowLogBatch({.magic = 1, .append_only = false}, parts);
  EXPECT_EQ(SplitArrowBatch(Header(unknown), unknown.view()).code(), ErrorCode::kCorruptRecord);
}

}  // namespace
}  // namespace strom::format
