#include "format/kv_batch.h"

#include <gtest/gtest.h>

#include "base/endian.h"
#include "base/random.h"
#include "format/kv_value.h"
#include "format/value_batch.h"
#include "format/varint.h"

namespace strom::format {
namespace {

Buffer TwoRecords() {
  KvBatchBuilder builder({.schema_id = 2, .writer_id = WriterId(8), .batch_sequence = 1});
  builder.Append(AsBytes("key"), AsBytes("row"));
  builder.Append(AsBytes(std::string(300, 'k')), {});
  return builder.Finish();
}

TEST(KvBatch, ABuiltBatchReadsBack) {
  const Buffer batch = TwoRecords();
  const auto header = DecodeKvBatchHeader(batch.view());
  ASSERT_TRUE(header.ok()) << header.ToString();
  EXPECT_TRUE(CheckKvBatch(*header, batch.view()).ok());
  EXPECT_EQ(header->schema_id, 2);
  EXPECT_EQ(header->record_count, 2);
  KvRecordReader reader(*header, batch.view());
  KvRecord record;
  ASSERT_TRUE(reader.Next(&record).ok());
  EXPECT_EQ(AsText(record.key), "key");
  EXPECT_EQ(AsText(record.row), "row");
  ASSERT_TRUE(reader.Next(&record).ok());
  EXPECT_EQ(record.key.size(), 300u);
  EXPECT_TRUE(record.is_delete());
  EXPECT_TRUE(reader.done());
}

TEST(KvBatch, DamagedBatchesAreRefusedOrReadInside) {
  const Buffer batch = TwoRecords();
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    std::vector<uint8_t> damaged(batch.view().begin(), batch.view().end());
    damaged[random.Below(damaged.size())] = static_cast<uint8_t>(random.Next());
    const auto header = DecodeKvBatchHeader(damaged);
    if (!header.ok() || header->total_size != damaged.size()) continue;
    KvRecordReader reader(*header, damaged);
    KvRecord record;
    size_t bytes = 0;
    while (!reader.done() && reader.Next(&record).ok()) bytes += record.key.size() + record.row.size();
    EXPECT_LE(bytes, damaged.size()) << "seed " << seed;
  }
  EXPECT_EQ(DecodeKvBatchHeader(batch.view().first(27)).code(), ErrorCode::kCorruptRecord);
}

TEST(KvBatch, AChangedByteIsFound) {
  const Buffer batch = TwoRecords();
  for (size_t position = kKvBatchCrcStart; position < batch.size(); ++position) {
    std::vector<uint8_t> changed(batch.view().begin(), batch.view().end());
    changed[position] ^= 0x10;
    const auto header = DecodeKvBatchHeader(changed);
    EXPECT_TRUE(!header.ok() || !CheckKvBatch(*header, changed).ok()) << position;
  }
}

TEST(KvValue, AValueShorterThanItsHeadIsOurDisksFault) {
  EXPECT_EQ(DecodeKvValue(KvValueLayout::kPlain, AsBytes("x")).code(), ErrorCode::kCorruptData);
  EXPECT_EQ(DecodeKvValue(KvValueLayout::kTagged, AsBytes("123456789")).code(), ErrorCode::kCorruptData);
}

TEST(ValueBatch, WrongSizesAreRefused) {
  ValueBatchBuilder builder;
  builder.Append(AsBytes("body"));
  const Buffer batch = builder.Finish();
  ByteView body;
  auto reader = ValueBatchReader::Open(batch.view());
  ASSERT_TRUE(reader.ok()) << reader.ToString();
  ASSERT_TRUE(reader->Next(&body).ok());
  EXPECT_EQ(AsText(body), "body");
  EXPECT_EQ(ValueBatchReader::Open(batch.view().first(batch.size() - 1)).code(), ErrorCode::kCorruptRecord);
  std::vector<uint8_t> changed(batch.view().begin(), batch.view().end());
  changed[9] = 5;
  reader = ValueBatchReader::Open(changed);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->Next(&body).code(), ErrorCode::kCorruptRecord);
}

TEST(Varint, BoundsAndOverflow) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{UINT32_MAX}, UINT64_MAX}) {
    MutableBuffer out;
    AppendVarint(value, &out);
    uint64_t read = 1;
    EXPECT_EQ(GetVarint(out.view(), &read), out.size());
    EXPECT_EQ(read, value);
    EXPECT_EQ(GetVarint(out.view().first(out.size() - 1), &read), 0u) << "cut short";
  }
  const uint8_t too_large32[] = {0xFF, 0xFF, 0xFF, 0xFF, 0x1F};
  uint32_t read32 = 0;
  EXPECT_EQ(GetVarint(ByteView(too_large32), &read32), 0u);
  const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
  EXPECT_EQ(GetVarint(ByteView(endless), &read32), 0u);
}

}  // namespace
}  // namespace strom::format
