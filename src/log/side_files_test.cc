// The small files beside the segments, and the names of all.

#include <gtest/gtest.h>

#include "log/leader_epoch_history.h"
#include "log/log_file_names.h"
#include "log/offset_checkpoint.h"
#include "log/retention_clock.h"
#include "log/tablet_directories.h"
#include "rt/testing/simulated_disk.h"

namespace strom::log {
namespace {

TEST(LeaderEpochHistory, AnswersWhereAnEpochEnds) {
  LeaderEpochHistory history;
  EXPECT_FALSE(history.EndOffsetFor(LeaderEpoch(1), LogOffset(9)).has_value());
  EXPECT_TRUE(history.Assign(LeaderEpoch(2), LogOffset(0)));
  EXPECT_FALSE(history.Assign(LeaderEpoch(2), LogOffset(5)));
  EXPECT_TRUE(history.Assign(LeaderEpoch(4), LogOffset(10)));
  EXPECT_TRUE(history.Assign(LeaderEpoch(5), LogOffset(10)));  // epoch 4 wrote nothing
  EXPECT_TRUE(history.Assign(LeaderEpoch(9), LogOffset(30)));
  EXPECT_FALSE(history.EndOffsetFor(LeaderEpoch(1), LogOffset(40)).has_value());
  const auto end = [&](int32_t epoch) {
    const auto found = history.EndOffsetFor(LeaderEpoch(epoch), LogOffset(40));
    return std::pair(found->epoch.value(), found->end_offset.value());
  };
  EXPECT_EQ(end(2), std::pair(2, int64_t{10}));
  EXPECT_EQ(end(4), std::pair(2, int64_t{10}));
  EXPECT_EQ(end(7), std::pair(5, int64_t{30}));
  EXPECT_EQ(end(100), std::pair(9, int64_t{40}));
  EXPECT_EQ(history.EpochOf(LogOffset(29)), LeaderEpoch(5));
  EXPECT_TRUE(history.TruncateTo(LogOffset(30)));
  EXPECT_EQ(history.latest(), LeaderEpoch(5));
  EXPECT_TRUE(history.TruncateBelow(LogOffset(12)));
  EXPECT_EQ(history.starts().size(), 1u);
}

TEST(LeaderEpochHistory, ReadsWhatItWroteAndNothingElse) {
  LeaderEpochHistory history;
  history.Assign(LeaderEpoch(0), LogOffset(0));
  history.Assign(LeaderEpoch(7), LogOffset(1'000'000'000'000));
  const std::string text = history.Encode();
  const auto read = LeaderEpochHistory::Decode(AsBytes(text));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->starts(), history.starts());
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(LeaderEpochHistory::Decode(AsBytes(text.substr(0, i))).ok());
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      EXPECT_FALSE(LeaderEpochHistory::Decode(AsBytes(damaged)).ok()) << i;
    }
  }
}

TEST(OffsetCheckpoint, KeepsIdsOf64BitsAndRefusesWrongCounts) {
  rt::testing::SimulatedDisk disk(1);
  ASSERT_TRUE(disk.CreateDirectories("/data").ok());
  const model::TableBucket plain{TableId(3'000'000'000), std::nullopt, BucketId(4)};
  const model::TableBucket partitioned{TableId(1), PartitionId(5'000'000'000), BucketId(0)};
  EXPECT_TRUE(ReadOffsetCheckpoint(disk, "/data", kRecoveryPointCheckpoint)->empty());
  ASSERT_TRUE(
      WriteOffsetCheckpoint(disk, "/data", kRecoveryPointCheckpoint, {{plain, LogOffset(7)}, {partitioned, LogOffset(8)}}).ok());
  const auto read = ReadOffsetCheckpoint(disk, "/data", kRecoveryPointCheckpoint);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->at(plain), LogOffset(7));
  EXPECT_EQ(read->at(partitioned), LogOffset(8));
  EXPECT_TRUE(DecodeOffsetCheckpoint({})->empty());
  for (const std::string_view bad : {"1\n0\n", "0\n", "0\n1\n", "0\n2\n1 2 3\n", "0\n0\n1 2 3\n", "0\n1\n1 2\n", "0\n1\n1 2 3 4 5\n",
                                     "0\n1\n1 2 x\n", "0\n1\n1 2 -3\n", "0\n1\n1 99999999999 3\n", "0 0\n"}) {
    EXPECT_EQ(DecodeOffsetCheckpoint(AsBytes(bad)).code(), ErrorCode::kCorruptData) << bad;
  }
  EXPECT_EQ(DecodeOffsetCheckpoint(AsBytes(std::string_view("0\n1\n 1\t2  3")))->size(), 1u);
}

TEST(LogFileNames, AreTwentyDigitsAndASuffix) {
  EXPECT_EQ(LogFilePath("/d", LogOffset(123456), kTimeIndexSuffix), "/d/00000000000000123456.timeindex");
  EXPECT_EQ(ParseLogFileName("00000000000000123456.log", kLogSuffix), LogOffset(123456));
  for (const std::string_view bad : {"0000000000000012345.log", "00000000000000123456.log.cut", "0000000000000012345x.log",
                                     "-0000000000000123456.log", "09223372036854775807.log", "99999999999999999999.log"}) {
    EXPECT_FALSE(ParseLogFileName(bad, kLogSuffix).has_value()) << bad;
  }
}

TEST(TabletDirectories, AreFoundByTheirNames) {
  rt::testing::SimulatedDisk disk(1);
  for (const char* path : {"/data/db/my-table-150001/log-7", "/data/db/my-table-150001/kv-7", "/data/db/my-table-150001/eu-p7-p3/log-1",
                           "/data/db/what", "/data/remote-log-index-cache/x-1/log-0", "/data/.historical-lookup-cache/y-1/log-0"}) {
    ASSERT_TRUE(disk.CreateDirectories(path).ok());
  }
  const auto found = FindBucketDirectories(disk, "/data");
  ASSERT_TRUE(found.ok()) << found.ToString();
  ASSERT_EQ(found->buckets.size(), 2u);
  EXPECT_EQ(found->buckets[0].bucket, (model::TableBucket{TableId(150001), std::nullopt, BucketId(7)}));
  EXPECT_EQ(found->buckets[0].path.ToString(), "db.my-table");
  EXPECT_TRUE(found->buckets[0].has_log && found->buckets[0].has_kv);
  EXPECT_EQ(found->buckets[1].bucket, (model::TableBucket{TableId(150001), PartitionId(3), BucketId(1)}));
  EXPECT_EQ(found->buckets[1].path.partition_name, "eu-p7");
  EXPECT_EQ(found->buckets[1].log_directory, "/data/db/my-table-150001/eu-p7-p3/log-1");
  EXPECT_EQ(found->ignored, std::vector<std::string>{"/data/db/what"});
}

TEST(TabletDirectories, ACleanMarkCannotComeBackAfterItWasTaken) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    rt::testing::SimulatedDisk disk(seed);
    ASSERT_TRUE(disk.CreateDirectories("/data").ok());
    ASSERT_TRUE(disk.SyncDirectory("/").ok());
    EXPECT_FALSE(*TakeCleanMark(disk, "/data"));
    ASSERT_TRUE(WriteCleanMark(disk, "/data").ok());
    disk.RestartAfterPowerLoss();
    EXPECT_TRUE(*TakeCleanMark(disk, "/data"));
    disk.RestartAfterPowerLoss();
    EXPECT_FALSE(*TakeCleanMark(disk, "/data"));
  }
}

TEST(RetentionClock, FollowsTheWallButNotItsJumpsForward) {
  RetentionClock clock;
  const auto at = [](int64_t ms) { return rt::MonotonicTime{ms * 1'000'000}; };
  EXPECT_EQ(clock.Advance(TimestampMs(5000), at(0)), TimestampMs(5000));
  EXPECT_EQ(clock.Advance(TimestampMs(5100), at(100)), TimestampMs(5100));
  EXPECT_EQ(clock.Advance(TimestampMs(1'000'000), at(200)), TimestampMs(5300));
  EXPECT_EQ(clock.Advance(TimestampMs(1'000'100), at(300)), TimestampMs(5500));
  EXPECT_EQ(clock.Advance(TimestampMs(100), at(400)), TimestampMs(100));
  EXPECT_EQ(clock.Advance(TimestampMs(150), at(500)), TimestampMs(150));
}

}  // namespace
}  // namespace strom::log
