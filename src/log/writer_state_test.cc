#include "log/writer_state.h"

#include <gtest/gtest.h>

#include <limits>

#include <map>

#include "base/random.h"
#include "log/writer_snapshot.h"

namespace strom::log {
namespace {

constexpr WriterId kWriter{7};

WriterBatch Batch(int32_t sequence, int64_t last_offset = 0, int64_t timestamp = 0) {
  return {sequence, LogOffset(last_offset), 0, TimestampMs(timestamp)};
}

void Append(WriterState& state, const WriterBatch& batch) {
  state.Begin();
  ASSERT_TRUE(state.Check(kWriter, batch, WriterState::Origin::kLeader).ok());
  state.Apply(kWriter, batch);
  state.Commit();
}

TEST(WriterState, FindsTheLastFiveAndOnlyThem) {
  WriterState state(1000);
  for (int32_t sequence = 0; sequence < 9; ++sequence) Append(state, Batch(sequence, sequence * 10));
  for (int32_t sequence = 4; sequence < 9; ++sequence) {
    const auto earlier = state.Check(kWriter, Batch(sequence, 999), WriterState::Origin::kLeader);
    ASSERT_TRUE(earlier.ok());
    ASSERT_NE(*earlier, nullptr);
    EXPECT_EQ((*earlier)->last_offset, LogOffset(sequence * 10));
  }
  for (const int32_t sequence : {-1, 0, 3, 10}) {
    EXPECT_EQ(state.Check(kWriter, Batch(sequence), WriterState::Origin::kLeader).code(), ErrorCode::kOutOfOrderSequence) << sequence;
  }
}

TEST(WriterState, TheSequenceGoesOnAtZeroAfterTheLargest) {
  WriterState state(1000);
  state.Replay(kWriter, Batch(INT32_MAX));
  const auto next = state.Check(kWriter, Batch(0), WriterState::Origin::kLeader);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(*next, nullptr);
  EXPECT_EQ(state.Check(kWriter, Batch(INT32_MIN), WriterState::Origin::kLeader).code(), ErrorCode::kOutOfOrderSequence);
}

TEST(WriterState, ExpiresByLogTimeAlone) {
  WriterState state(1000);
  Append(state, Batch(0, 0, 5000));
  EXPECT_TRUE(state.Check(kWriter, Batch(1, 1, 6000), WriterState::Origin::kLeader).ok());
  EXPECT_EQ(state.Check(kWriter, Batch(1, 1, 6001), WriterState::Origin::kLeader).code(), ErrorCode::kOutOfOrderSequence);
  EXPECT_TRUE(state.Check(kWriter, Batch(1, 1, 6001), WriterState::Origin::kReplica).ok());
  const auto fresh = state.Check(kWriter, Batch(0, 1, 6001), WriterState::Origin::kLeader);
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ(*fresh, nullptr);  // not a retry: what it would repeat is forgotten
  state.RemoveExpired(TimestampMs(6000));
  EXPECT_EQ(state.size(), 1u);
  state.RemoveExpired(TimestampMs(6001));
  EXPECT_EQ(state.size(), 0u);
}

TEST(WriterState, ARollbackLeavesWhatWasThere) {
  Random random(3);
  WriterState state(1'000'000);
  std::map<int64_t, int32_t> next;
  for (int round = 0; round < 500; ++round) {
    const std::string before = WriterSnapshot::Of(state).Encode(WriterSnapshot::Form::kStrom);
    std::map<int64_t, int32_t> next_after = next;
    state.Begin();
    for (uint64_t i = random.Below(6); i > 0; --i) {
      const int64_t writer = static_cast<int64_t>(random.Below(4));
      const WriterBatch batch = Batch(next_after[writer]++, round);
      ASSERT_TRUE(state.Check(WriterId(writer), batch, WriterState::Origin::kLeader).ok());
      state.Apply(WriterId(writer), batch);
    }
    if (random.OneIn(2)) {
      state.Rollback();
      EXPECT_EQ(WriterSnapshot::Of(state).Encode(WriterSnapshot::Form::kStrom), before);
    } else {
      state.Commit();
      next = next_after;
    }
  }
}

TEST(WriterSnapshot, EveryFlippedBitAndEveryCutIsFoundOrHarmless) {
  WriterState state(1000);
  for (int32_t sequence = 0; sequence < 7; ++sequence) Append(state, Batch(sequence, sequence * 10, 77));
  const WriterSnapshot snapshot = WriterSnapshot::Of(state);
  const std::string text = snapshot.Encode(WriterSnapshot::Form::kStrom);
  ASSERT_EQ(snapshot.writers[0].batches.size(), 5u);
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(WriterSnapshot::Decode(AsBytes(text.substr(0, i))).ok()) << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const auto read = WriterSnapshot::Decode(AsBytes(damaged));
      if (read.ok()) {
        EXPECT_EQ(read->writers, snapshot.writers) << damaged;
      }
    }
  }
}

TEST(WriterState, AStampOfAnySizeIsOnlyOldOrNew) {
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();
  WriterState state(1000);
  state.Replay(WriterId(1), {0, LogOffset(0), 0, TimestampMs(kLow)});
  state.Replay(WriterId(2), {0, LogOffset(1), 0, TimestampMs(kHigh)});
  EXPECT_TRUE(state.IsExpired(*state.Find(WriterId(1)), TimestampMs(kHigh)));
  EXPECT_FALSE(state.IsExpired(*state.Find(WriterId(2)), TimestampMs(kLow)));
}

}  // namespace
}  // namespace strom::log
