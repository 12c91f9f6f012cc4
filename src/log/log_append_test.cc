#include <gtest/gtest.h>

#include "format/log_batch.h"
#include "log/testing/log_fixture.h"

namespace strom::log {
namespace {

using namespace testing;

format::LogBatchHeader HeaderAt(const std::vector<uint8_t>& bytes, size_t position = 0) {
  const Result<format::LogBatchHeader> header = format::DecodeLogBatchHeader(ByteView(bytes).subspan(position));
  EXPECT_TRUE(header.ok()) << header.ToString();
  return *header;
}

TEST(LogAppend, StampsDenseOffsetsAndOneTimeOnAllBatchesOfARequest) {
  Machine machine;
  ASSERT_OK(machine.Open());
  machine.now_ms = 5000;
  const Buffer request = Concat({MakeBatch(3), MakeBatch(0), MakeBatch(2)});
  const Result<LogAppendInfo> info = machine.Append(request);
  ASSERT_OK(info);
  EXPECT_EQ(info->first_offset, LogOffset(0));
  EXPECT_EQ(info->last_offset, LogOffset(5));
  EXPECT_EQ(info->timestamp, TimestampMs(5000));
  EXPECT_FALSE(info->duplicated);
  const std::vector<uint8_t> bytes = machine.ReadAll();
  ASSERT_EQ(bytes.size(), request.size());
  size_t position = 0;
  for (const int64_t base : {0, 3, 4}) {
    const format::LogBatchHeader header = HeaderAt(bytes, position);
    EXPECT_EQ(header.base_offset, LogOffset(base));
    EXPECT_EQ(header.commit_timestamp, TimestampMs(5000));
    EXPECT_OK(format::CheckLogBatch(header, ByteView(bytes).subspan(position, header.total_size)));
    position += header.total_size;
  }
}

TEST(LogAppend, CommitTimesNeverGoBackWhenTheClockDoes) {
  Machine machine;
  ASSERT_OK(machine.Open());
  machine.now_ms = 5000;
  ASSERT_OK(machine.Append(MakeBatch(1)));
  machine.now_ms = 100;
  const Result<LogAppendInfo> info = machine.Append(MakeBatch(1));
  ASSERT_OK(info);
  EXPECT_EQ(info->timestamp, TimestampMs(5000));
  ASSERT_OK(machine.Reopen());
  EXPECT_EQ(machine.log->max_timestamp(), TimestampMs(5000));
}

TEST(LogAppend, RefusesTheWholeRequestWhenOneBatchIsDamaged) {
  Machine machine;
  ASSERT_OK(machine.Open());
  const Buffer good = MakeBatch(3);
  const Buffer pair = Concat({good, good});
  for (size_t i = good.size(); i < pair.size(); ++i) {
    MutableBuffer damaged;
    damaged.Append(pair.view());
    damaged.data()[i] ^= 0x40;
    const Result<LogAppendInfo> info = machine.Append(damaged.Freeze());
    const size_t in_batch = i - good.size();
    // Base offset and commit time are overwritten anyhow; a length that reaches beyond the request makes the batch a trailing part.
    if (in_batch < 8 || (in_batch >= 13 && in_batch < 21)) {
      EXPECT_TRUE(info.ok()) << i << " " << info.ToString();
    } else if (in_batch < 12) {
      EXPECT_TRUE(info.ok() || info.code() == ErrorCode::kCorruptRecord) << i << " " << info.ToString();
    } else {
      EXPECT_EQ(info.code(), ErrorCode::kCorruptRecord) << i;
    }
  }
}

TEST(LogAppend, CutsTrailingBytesAndRefusesBytesThatAreNoBatch) {
  Machine machine;
  ASSERT_OK(machine.Open());
  const Buffer batch = MakeBatch(3);
  for (size_t cut = 1; cut < batch.size(); ++cut) {
    const Buffer torn = Concat({batch, batch.Slice(0, cut)});
    const Result<LogAppendInfo> info = machine.Append(torn);
    ASSERT_OK(info);
    EXPECT_EQ(info->last_offset - info->first_offset, 2);
    EXPECT_EQ(machine.Append(batch.Slice(0, cut)).code(), ErrorCode::kCorruptRecord) << cut;
  }
  const LogOffset end = machine.log->log_end_offset();
  const Result<LogAppendInfo> nothing = machine.Append(Buffer());
  ASSERT_OK(nothing);
  EXPECT_EQ(nothing->last_offset + 1, end);
  EXPECT_EQ(machine.log->log_end_offset(), end);
}

TEST(LogAppend, AFullDiskChangesNothingAndAppendsWorkAgainWhenThereIsRoom) {
  Machine machine;
  ASSERT_OK(machine.Open());
  ASSERT_OK(machine.Append(MakeBatch(5, 100, 1, WriterId(9), 0)));
  const std::vector<uint8_t> before = machine.ReadAll();
  machine.disk->SetCapacity(before.size() + 400);
  const Buffer next = MakeBatch(50, 100, 2, WriterId(9), 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(machine.Append(next).code(), ErrorCode::kNoSpace);
  EXPECT_EQ(machine.ReadAll(), before);
  EXPECT_EQ(machine.log->log_end_offset(), LogOffset(5));
  machine.disk->SetCapacity(UINT64_MAX);
  const Result<LogAppendInfo> info = machine.Append(next);
  ASSERT_OK(info);
  EXPECT_EQ(info->first_offset, LogOffset(5));
  EXPECT_FALSE(info->duplicated);
  ASSERT_OK(machine.Open());
  EXPECT_EQ(machine.log->log_end_offset(), LogOffset(55));
}

TEST(LogAppend, ARetryAmongTheLastFiveGetsItsFirstOffsetsAlsoAfterARestart) {
  Machine machine;
  ASSERT_OK(machine.Open());
  for (int32_t sequence = 0; sequence < 8; ++sequence) {
    ASSERT_OK(machine.Append(MakeBatch(2, 20, 1, WriterId(4), sequence)));
  }
  for (int round = 0; round < 3; ++round) {
    for (int32_t sequence = 3; sequence < 8; ++sequence) {
      const Result<LogAppendInfo> info = machine.Append(MakeBatch(2, 20, 1, WriterId(4), sequence));
      ASSERT_OK(info);
      EXPECT_TRUE(info->duplicated);
      EXPECT_EQ(info->first_offset, LogOffset(sequence * 2));
      EXPECT_EQ(info->last_offset, LogOffset(sequence * 2 + 1));
    }
    EXPECT_EQ(machine.Append(MakeBatch(2, 20, 1, WriterId(4), 2)).code(), ErrorCode::kOutOfOrderSequence);
    EXPECT_EQ(machine.Append(MakeBatch(2, 20, 1, WriterId(4), 9)).code(), ErrorCode::kOutOfOrderSequence);
    EXPECT_EQ(machine.Append(MakeBatch(2, 20, 1, WriterId(5), 1)).code(), ErrorCode::kOutOfOrderSequence);
    EXPECT_EQ(machine.log->log_end_offset(), LogOffset(16));
    // By the snapshot, then by a scan.
    ASSERT_OK(round == 0 ? machine.Reopen() : machine.Open({.clean = false, .recovery_point = LogOffset(0)}));
  }
}

TEST(LogAppend, ARequestWithARetryAndANewBatchAppendsTheNewOne) {
  Machine machine;
  ASSERT_OK(machine.Open());
  const Buffer first = MakeBatch(2, 20, 1, WriterId(4), 0);
  const Buffer second = MakeBatch(3, 20, 1, WriterId(4), 1);
  ASSERT_OK(machine.Append(first));
  const Result<LogAppendInfo> info = machine.Append(Concat({first, second, second}));
  ASSERT_OK(info);
  EXPECT_FALSE(info->duplicated);
  EXPECT_EQ(info->first_offset, LogOffset(0));
  EXPECT_EQ(info->last_offset, LogOffset(4));
  EXPECT_EQ(machine.log->log_end_offset(), LogOffset(5));
}

TEST(LogAppend, ASequenceErrorInTheLastBatchLeavesNoTraceOfTheFirst) {
  Machine machine;
  ASSERT_OK(machine.Open());
  const Buffer good = MakeBatch(2, 20, 1, WriterId(4), 0);
  const Buffer gap = MakeBatch(2, 20, 1, WriterId(5), 7);
  EXPECT_EQ(machine.Append(Concat({good, gap})).code(), ErrorCode::kOutOfOrderSequence);
  EXPECT_EQ(machine.log->log_end_offset(), LogOffset(0));
  EXPECT_EQ(machine.log->writers().size(), 0u);
  const Result<LogAppendInfo> info = machine.Append(good);
  ASSERT_OK(info);
  EXPECT_FALSE(info->duplicated);
}

TEST(LogAppend, AFollowerKeepsTheLeadersBytesAndRefusesGapsAndDuplicates) {
  Machine leader;
  Machine follower;
  ASSERT_OK(leader.Open());
  ASSERT_OK(follower.Open());
  ASSERT_OK(leader.Append(Concat({MakeBatch(2, 20, 1, WriterId(4), 0), MakeBatch(1)})));
  leader.now_ms = 2000;
  ASSERT_OK(leader.Append(MakeBatch(2, 20, 1, WriterId(4), 1)));
  const std::vector<uint8_t> bytes = leader.ReadAll();
  const Buffer records = Buffer::CopyOf(ByteView(bytes));
  const Result<LogAppendInfo> info = follower.log->AppendAsFollower(records);
  ASSERT_OK(info);
  EXPECT_EQ(info->timestamp, TimestampMs(2000));
  EXPECT_EQ(follower.ReadAll(), bytes);
  EXPECT_EQ(follower.log->AppendAsFollower(records).code(), ErrorCode::kLogOffsetOutOfRange);
  // The same batch once more, at the right offset.
  MutableBuffer again;
  again.Append(MakeBatch(2, 20, 1, WriterId(4), 1).view());
  format::StampLogBatch(again.mutable_view(), LogOffset(5), TimestampMs(2000));
  EXPECT_EQ(follower.log->AppendAsFollower(again.Freeze()).code(), ErrorCode::kDuplicateSequence);
}

TEST(LogAppend, RollsBySizeAndBySpaceInTheIndexAndReadsOn) {
  Machine machine;
  machine.options.segment_size_max = 2000;
  machine.options.index_interval = 100;
  machine.options.index_file_size = 48;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 60; ++i) ASSERT_OK(machine.Append(MakeBatch(1 + i % 3, 30, static_cast<uint8_t>(i))));
  EXPECT_GT(machine.log->segments_count(), 5u);
  const std::vector<uint8_t> all = machine.ReadAll();
  EXPECT_EQ(machine.ReadAll(300), all);
  EXPECT_EQ(*machine.log->size_bytes(), all.size());
  const size_t segments = machine.log->segments_count();
  ASSERT_OK(machine.Reopen());
  EXPECT_EQ(machine.log->segments_count(), segments);
  EXPECT_EQ(machine.ReadAll(1), all);
}

TEST(LogAppend, AnOlderLeaderEpochIsFenced) {
  Machine machine;
  ASSERT_OK(machine.Open());
  ASSERT_OK(machine.log->AppendAsLeader(MakeBatch(2), LeaderEpoch(3)));
  ASSERT_OK(machine.log->AppendAsLeader(MakeBatch(2), LeaderEpoch(5)));
  EXPECT_EQ(machine.log->AppendAsLeader(MakeBatch(2), LeaderEpoch(4)).code(), ErrorCode::kFencedLeaderEpoch);
  ASSERT_OK(machine.Open());
  const auto end = machine.log->leader_epochs().EndOffsetFor(LeaderEpoch(4), machine.log->log_end_offset());
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->epoch, LeaderEpoch(3));
  EXPECT_EQ(end->end_offset, LogOffset(2));
}

}  // namespace
}  // namespace strom::log
