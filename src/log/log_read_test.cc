#include <gtest/gtest.h>

#include "base/random.h"
#include "format/log_batch.h"
#include "log/log_file_names.h"
#include "log/testing/log_fixture.h"

namespace strom::log {
namespace {

using namespace testing;

TEST(LogRead, GivesWholeBatchesFromTheOneThatHoldsTheOffset) {
  Machine machine;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 10; ++i) ASSERT_OK(machine.Append(MakeBatch(5)));
  const uint64_t batch_size = MakeBatch(5).size();
  for (const bool reopen : {false, true}) {
    if (reopen) ASSERT_OK(machine.Reopen());
    const Result<LogSlice> slice = machine.Read(12, batch_size * 2 + 3);
    ASSERT_OK(slice);
    EXPECT_EQ(slice->first_batch_offset, LogOffset(10));
    EXPECT_EQ(slice->next_offset, LogOffset(20));
    EXPECT_EQ(slice->position, batch_size * 2);
    EXPECT_EQ(slice->size, batch_size * 2);
  }
}

TEST(LogRead, LimitsAndBoundsHold) {
  Machine machine;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 10; ++i) ASSERT_OK(machine.Append(MakeBatch(5)));
  for (const bool reopen : {false, true}) {
    if (reopen) ASSERT_OK(machine.Reopen());
    const auto read = [&](int64_t offset, int64_t bound, uint64_t max_bytes, bool min_one) {
      return machine.log->Read({LogOffset(offset), LogOffset(bound), max_bytes, min_one});
    };
    EXPECT_EQ(read(0, 50, 1, false)->size, 0u);
    EXPECT_EQ(read(0, 50, 1, true)->next_offset, LogOffset(5));
    EXPECT_EQ(read(0, 20, UINT64_MAX, true)->next_offset, LogOffset(20));
    EXPECT_EQ(read(0, 23, UINT64_MAX, true)->next_offset, LogOffset(20));  // a batch that passes the bound is not given
    EXPECT_EQ(read(20, 20, UINT64_MAX, true)->size, 0u);
    EXPECT_EQ(read(30, 20, UINT64_MAX, true)->size, 0u);
    EXPECT_EQ(read(50, 50, UINT64_MAX, true)->size, 0u);
    EXPECT_EQ(read(51, 60, UINT64_MAX, true).code(), ErrorCode::kLogOffsetOutOfRange);
    EXPECT_EQ(read(-1, 50, UINT64_MAX, true).code(), ErrorCode::kLogOffsetOutOfRange);
  }
}

TEST(LogRead, AReaderThatKeepsUpReadsNothingFromTheDisk) {
  Machine machine;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 200; ++i) ASSERT_OK(machine.Append(MakeBatch(5)));
  const uint64_t reads = machine.disk->counters().reads;
  for (int i = 100; i < 200; ++i) ASSERT_OK(machine.Read(i * 5, 1000));
  EXPECT_EQ(machine.disk->counters().reads, reads);
}

TEST(LogRead, ASequentialReaderOfLargeBatchesReadsOneHeaderABatch) {
  Machine machine;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 300; ++i) ASSERT_OK(machine.Append(MakeBatch(1, 70000)));
  ASSERT_OK(machine.Reopen());
  ASSERT_OK(machine.Read(0, 1 << 20));
  const uint64_t before = machine.disk->counters().reads;
  EXPECT_EQ(machine.ReadAll(1 << 20).size(), machine.log->size_bytes().value());
  const uint64_t slices = 300 / 14 + 1;
  // One for each header, one more for the header behind each slice, one for the bytes of the slice itself.
  EXPECT_LE(machine.disk->counters().reads - before, 300 + 2 * slices + 2);
}

TEST(LogRead, HoldsAtMostTheBudgetOfDescriptorsAndNoneWhenIdle) {
  Machine machine(1, 4);
  machine.options.segment_size_max = 1000;
  ASSERT_OK(machine.Open());
  EXPECT_EQ(machine.disk->open_handles(), 0);
  for (int i = 0; i < 100; ++i) ASSERT_OK(machine.Append(MakeBatch(5)));
  (void)machine.ReadAll();
  EXPECT_LE(machine.disk->open_handles(), 4);
  machine.log->DropCaches();
  EXPECT_EQ(machine.disk->open_handles(), 0);
  (void)machine.ReadAll();
}

TEST(LogRead, ASliceStaysReadableWhenItsSegmentIsDeletedOrTruncated) {
  Machine machine;
  machine.options.segment_size_max = 1000;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 40; ++i) ASSERT_OK(machine.Append(MakeBatch(5, 20, static_cast<uint8_t>(i))));
  const LogSlice old = *machine.Read(0);
  const std::vector<uint8_t> old_bytes = Bytes(old);
  const LogSlice newest = *machine.Read(machine.log->active_base_offset().value());
  const std::vector<uint8_t> newest_bytes = Bytes(newest);
  ASSERT_GT(newest_bytes.size(), MakeBatch(5).size());

  ASSERT_OK(machine.log->DeleteExpired({TimestampMs(1'000'000), 1, machine.log->log_end_offset(), false}));
  ASSERT_OK(machine.log->TruncateTo(machine.log->active_base_offset() + 5));
  ASSERT_OK(machine.Append(MakeBatch(50, 20, 0xEE)));
  EXPECT_EQ(Bytes(old), old_bytes);
  EXPECT_EQ(Bytes(newest), newest_bytes);
  EXPECT_EQ(machine.log->local_start_offset(), LogOffset(175));
}

TEST(LogRead, ABrokenChainOfHeadersRefusesTheBucketWithFileAndPosition) {
  Machine machine;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 10; ++i) ASSERT_OK(machine.Append(MakeBatch(5)));
  ASSERT_OK(machine.log->Close());
  const std::string path = LogFilePath(kDirectory, LogOffset(0), kLogSuffix);
  std::vector<uint8_t> content = machine.disk->ContentOf(path);
  const size_t batch_size = MakeBatch(5).size();
  content[batch_size * 3] ^= 1;  // base offset of the fourth batch
  const std::unique_ptr<rt::testing::SimulatedDisk> copy = machine.disk->Clone(3);
  ASSERT_OK(machine.Open({.clean = true, .recovery_point = LogOffset(50)}));
  machine.disk->SetContent(path, content);
  const Result<LogSlice> slice = machine.Read(0);
  EXPECT_EQ(slice.code(), ErrorCode::kCorruptData);
  EXPECT_NE(slice.ToString().find(path), std::string::npos) << slice.ToString();
  EXPECT_NE(slice.ToString().find(std::to_string(batch_size * 3)), std::string::npos) << slice.ToString();
  EXPECT_EQ(machine.Append(MakeBatch(1)).code(), ErrorCode::kCorruptData);
  EXPECT_EQ(machine.Read(40).code(), ErrorCode::kCorruptData);
  EXPECT_EQ(machine.disk->ContentOf(path), content);
}

TEST(LogRead, AnIndexThatLiesIsRebuiltAndNothingWrongIsRead) {
  Machine original;
  original.options.index_interval = 200;
  original.options.segment_size_max = 5000;
  ASSERT_OK(original.Open());
  for (int i = 0; i < 80; ++i) ASSERT_OK(original.Append(MakeBatch(1 + i % 4, 20, static_cast<uint8_t>(i))));
  const std::vector<uint8_t> all = original.ReadAll();
  const LogOffset end = original.log->log_end_offset();
  ASSERT_OK(original.log->Close());
  Random random(7);
  for (const std::string& path : original.disk->FilesBelow(kDirectory)) {
    if (!path.ends_with("index")) continue;
    for (int i = 0; i < 40; ++i) {
      Machine machine(original.disk->Clone(1));
      machine.options = original.options;
      std::vector<uint8_t> content = machine.disk->ContentOf(path);
      switch (i % 4) {
        case 0: content.clear(); break;
        case 1: content.resize(random.Below(content.size() + 1)); break;
        case 2:
          for (uint8_t& byte : content) byte = static_cast<uint8_t>(random.Next());
          break;
        case 3: content.resize(content.size() + 240, 0); break;
      }
      machine.disk->SetContent(path, content);
      ASSERT_OK(machine.Open({.clean = true, .recovery_point = end}));
      for (int64_t offset = 0; offset < end.value(); offset += 3) {
        const Result<LogSlice> slice = machine.Read(offset, 1);
        ASSERT_OK(slice);
        EXPECT_LE(slice->first_batch_offset.value(), offset) << path << " way " << i;
        EXPECT_GT(slice->next_offset.value(), offset) << path << " way " << i;
      }
      EXPECT_EQ(machine.ReadAll(500), all) << path << " way " << i;
    }
  }
}

TEST(OffsetForTimestamp, IsTheFirstBatchStampedAtOrAfterTheTime) {
  Machine machine;
  machine.options.index_interval = 150;
  machine.options.segment_size_max = 3000;
  ASSERT_OK(machine.Open());
  Random random(11);
  std::vector<std::pair<int64_t, int64_t>> batches;  // time, base offset
  for (int i = 0; i < 200; ++i) {
    machine.now_ms += static_cast<int64_t>(random.Below(3)) * 5;
    const Result<LogAppendInfo> info = machine.Append(MakeBatch(1 + i % 3));
    ASSERT_OK(info);
    batches.emplace_back(machine.now_ms, info->first_offset.value());
  }
  const LogOffset end = machine.log->log_end_offset();
  for (const bool reopen : {false, true}) {
    if (reopen) ASSERT_OK(machine.Reopen());
    for (int64_t time = 990; time <= machine.now_ms; ++time) {
      int64_t expected = end.value();
      for (const auto& [stamp, base] : batches) {
        if (stamp >= time) {
          expected = base;
          break;
        }
      }
      const Result<LogOffset> offset = machine.log->OffsetForTimestamp(TimestampMs(time), end);
      ASSERT_OK(offset);
      EXPECT_EQ(offset->value(), expected) << time;
    }
    EXPECT_EQ(machine.log->OffsetForTimestamp(TimestampMs(machine.now_ms + 1), end).code(), ErrorCode::kInvalidTimestamp);
  }
  const int64_t last = machine.now_ms;
  machine.now_ms += 100;
  EXPECT_EQ(*machine.log->OffsetForTimestamp(TimestampMs(last + 1), LogOffset(17)), LogOffset(17));
}

TEST(LogRetention, DeletesExpiredSegmentsFromTheFrontBelowTheBoundOnly) {
  Machine machine;
  machine.options.segment_size_max = 1000;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 50; ++i) {
    machine.now_ms += 10;
    ASSERT_OK(machine.Append(MakeBatch(5)));
  }
  ASSERT_OK(machine.Sync());
  const size_t segments = machine.log->segments_count();
  const auto expire = [&](int64_t now, int64_t ttl, int64_t bound, bool roll = false) {
    return machine.log->DeleteExpired({TimestampMs(now), ttl, LogOffset(bound), roll});
  };
  ASSERT_OK(expire(machine.now_ms, 1'000'000, 250));
  ASSERT_OK(expire(1'000'000, -1, 250));
  ASSERT_OK(expire(1'000'000, 100, 251));
  EXPECT_EQ(machine.log->segments_count(), segments);
  ASSERT_OK(expire(1'000'000, 100, 100));
  EXPECT_LE(machine.log->log_start_offset(), LogOffset(100));
  EXPECT_GT(machine.log->log_start_offset(), LogOffset(50));
  ASSERT_OK(expire(machine.now_ms, 200, 250));  // by age
  EXPECT_GT(machine.log->segments_count(), 1u);
  ASSERT_OK(expire(1'000'000, 100, 250));
  EXPECT_EQ(machine.log->segments_count(), 1u);  // the active one stays
  const LogOffset start = machine.log->log_start_offset();
  EXPECT_LT(start, LogOffset(250));
  EXPECT_EQ(machine.Read(0).code(), ErrorCode::kLogOffsetOutOfRange);
  ASSERT_OK(machine.Reopen());
  EXPECT_EQ(machine.log->log_start_offset(), start);
  ASSERT_OK(expire(1'000'000, 100, 250, true));  // rolls, and deletes the next time
  ASSERT_OK(expire(1'000'000, 100, 250, true));
  EXPECT_EQ(machine.log->log_start_offset(), LogOffset(250));
  EXPECT_EQ(machine.log->log_end_offset(), LogOffset(250));
  const Result<LogAppendInfo> info = machine.Append(MakeBatch(1));
  ASSERT_OK(info);
  EXPECT_EQ(info->first_offset, LogOffset(250));
}

}  // namespace
}  // namespace strom::log
