#include "replica/replica.h"

#include "replica/high_watermark.h"
#include "replica/testing/replica_fixture.h"

namespace strom::replica {
namespace {

using testing::MakeBatch;
using testing::MakeNotice;
using testing::ReplicaTest;

rt::Task<void> WaitAndNote(Replica* replica, LogOffset next, rt::MonotonicTime deadline, std::optional<Status>* result) {
  Status status = co_await replica->WaitCommitted(next, deadline);
  *result = status;
}

rt::Task<void> WatchAndNote(Replica* replica, bool* woken) {
  FetchWaiter waiter;
  waiter.Watch(replica->fetch_waiters());
  const bool news = co_await waiter.Wait(rt::MonotonicTime::Never());
  *woken = news;
}

TEST_F(ReplicaTest, RefusesWorkUntilItLeads) {
  Open();
  EXPECT_EQ(replica_->Append(MakeBatch(1), -1).code(), ErrorCode::kNotLeaderOrFollower);
  EXPECT_EQ(replica_->Read({.offset = LogOffset(0), .max_bytes = 100}, *view_).code(), ErrorCode::kNotLeaderOrFollower);
  EXPECT_EQ(replica_->LatestOffset().code(), ErrorCode::kNotLeaderOrFollower);
}

TEST_F(ReplicaTest, AnAppendCommitsAtOnceAndAnswersTheWaitingFetch) {
  Open();
  Lead();
  bool woken = false;
  rt::Spawn(WatchAndNote(replica_.get(), &woken));
  const auto appended = replica_->Append(MakeBatch(3), -1);
  ASSERT_TRUE(appended.ok()) << appended.ToString();
  EXPECT_EQ(appended->base_offset, LogOffset(0));
  EXPECT_EQ(replica_->high_watermark(), LogOffset(3));
  executor_.RunUntilIdle();
  EXPECT_TRUE(woken);
  const auto read = replica_->Read({.offset = LogOffset(0), .max_bytes = 1 << 20}, *view_);
  ASSERT_TRUE(read.ok()) << read.ToString();
  EXPECT_GT(read->records.size(), 0U);
  EXPECT_EQ(read->high_watermark, LogOffset(3));
}

TEST_F(ReplicaTest, WithGroupCommitNothingIsCommittedBeforeTheDiskHasIt) {
  Open(/*group_commit=*/true);
  Lead();
  const auto appended = replica_->Append(MakeBatch(2), -1);
  ASSERT_TRUE(appended.ok());
  EXPECT_EQ(replica_->high_watermark(), LogOffset(0));
  std::optional<Status> acknowledged;
  rt::Spawn(WaitAndNote(replica_.get(), appended->next_offset, rt::MonotonicTime::Never(), &acknowledged));
  EXPECT_FALSE(acknowledged.has_value());
  const auto early = replica_->Read({.offset = LogOffset(0), .max_bytes = 1 << 20, .min_one_batch = true}, *view_);
  ASSERT_TRUE(early.ok());
  EXPECT_TRUE(early->records.empty());
  executor_.RunUntilIdle();
  ASSERT_TRUE(acknowledged.has_value());
  EXPECT_TRUE(acknowledged->ok());
  EXPECT_EQ(replica_->high_watermark(), LogOffset(2));
  EXPECT_EQ(replica_->log()->flushed_offset(), LogOffset(2));
}

TEST_F(ReplicaTest, AFailedSyncRefusesTheBucketAndFailsWhoeverWaits) {
  Open(/*group_commit=*/true);
  Lead();
  disk_.FailSyncs(true);
  // The first append of an epoch syncs the epoch history: it fails before anything is written.
  EXPECT_FALSE(replica_->Append(MakeBatch(1), -1).ok());
  disk_.FailSyncs(false);
  executor_.RunUntilIdle();
  const auto appended = replica_->Append(MakeBatch(1), -1);
  if (!appended.ok()) {
    EXPECT_TRUE(replica_->refused().has_value());
    return;
  }
  executor_.RunUntilIdle();
  disk_.FailSyncs(true);
  const auto lost = replica_->Append(MakeBatch(1), -1);
  ASSERT_TRUE(lost.ok());
  std::optional<Status> acknowledged;
  rt::Spawn(WaitAndNote(replica_.get(), lost->next_offset, rt::MonotonicTime::Never(), &acknowledged));
  executor_.RunUntilIdle();
  ASSERT_TRUE(acknowledged.has_value());
  EXPECT_FALSE(acknowledged->ok());
  EXPECT_TRUE(replica_->refused().has_value());
  EXPECT_FALSE(replica_->Append(MakeBatch(1), -1).ok());
}

TEST_F(ReplicaTest, OlderEpochsAreFencedAndALostLeadershipFailsWaiters) {
  Open(/*group_commit=*/true);
  Lead(5);
  EXPECT_EQ(replica_->ApplyNotice(MakeNotice(table_, 4)).code(), ErrorCode::kFencedLeaderEpoch);
  const auto appended = replica_->Append(MakeBatch(1), -1);
  ASSERT_TRUE(appended.ok());
  std::optional<Status> acknowledged;
  rt::Spawn(WaitAndNote(replica_.get(), appended->next_offset, rt::MonotonicTime::Never(), &acknowledged));
  ASSERT_TRUE(replica_->ApplyNotice(MakeNotice(table_, 6, testing::kBucket, ServerId(9))).ok());
  executor_.RunUntilIdle();
  ASSERT_TRUE(acknowledged.has_value());
  EXPECT_EQ(acknowledged->code(), ErrorCode::kNotLeaderOrFollower);
}

TEST_F(ReplicaTest, ANoticeForOtherServersIsRefused) {
  Open();
  auto notice = MakeNotice(table_, 1);
  notice.replicas = {ServerId(3)};
  EXPECT_EQ(replica_->ApplyNotice(notice).code(), ErrorCode::kUnknownTableOrBucket);
}

TEST_F(ReplicaTest, AnAcknowledgementThatDoesNotComeTimesOut) {
  Open(/*group_commit=*/true);
  Lead();
  std::optional<Status> acknowledged;
  rt::Spawn(WaitAndNote(replica_.get(), LogOffset(10), rt::Now() + std::chrono::seconds(1), &acknowledged));
  executor_.Advance(std::chrono::milliseconds(999));
  EXPECT_FALSE(acknowledged.has_value());
  executor_.Advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(acknowledged.has_value());
  EXPECT_EQ(acknowledged->code(), ErrorCode::kRequestTimeOut);
}

TEST_F(ReplicaTest, ALockedDiskRefusesAppendsWithACodeThatClientsRetryAndServesReads) {
  Open();
  Lead();
  ASSERT_TRUE(replica_->Append(MakeBatch(1), 1).ok());
  environment_.disk_write_locked = true;
  const auto refused = replica_->Append(MakeBatch(1), 1);
  EXPECT_EQ(refused.code(), ErrorCode::kStorageException);
  EXPECT_TRUE(IsRetriable(refused.code()));
  EXPECT_TRUE(replica_->Read({.offset = LogOffset(0), .max_bytes = 100}, *view_).ok());
  environment_.disk_write_locked = false;
  EXPECT_TRUE(replica_->Append(MakeBatch(1), 1).ok());
}

TEST_F(ReplicaTest, AFullDiskRefusesAppendsAndRecoversByItself) {
  Open();
  Lead();
  ASSERT_TRUE(replica_->Append(MakeBatch(1), 1).ok());
  disk_.SetCapacity(1);
  const auto refused = replica_->Append(MakeBatch(1), 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(ToWireCode(refused.code()), ErrorCode::kStorageException);
  EXPECT_TRUE(replica_->Read({.offset = LogOffset(0), .max_bytes = 100}, *view_).ok());
  disk_.SetCapacity(1 << 20);
  const auto appended = replica_->Append(MakeBatch(1), 1);
  ASSERT_TRUE(appended.ok()) << appended.ToString();
  EXPECT_EQ(appended->base_offset, LogOffset(1));
}

TEST_F(ReplicaTest, ARepeatedBatchGetsTheOffsetOfTheFirstTime) {
  Open();
  Lead();
  ASSERT_TRUE(replica_->Append(MakeBatch(2, WriterId(4), 0), -1).ok());
  const auto second = replica_->Append(MakeBatch(3, WriterId(4), 1), -1);
  ASSERT_TRUE(second.ok());
  const auto repeated = replica_->Append(MakeBatch(3, WriterId(4), 1), -1);
  ASSERT_TRUE(repeated.ok()) << repeated.ToString();
  EXPECT_EQ(repeated->base_offset, second->base_offset);
  EXPECT_EQ(repeated->next_offset, second->next_offset);
  EXPECT_EQ(replica_->high_watermark(), LogOffset(5));
}

TEST_F(ReplicaTest, TooSmallAnIsrRefusesBeforeTheAppend) {
  Open();
  Lead();
  environment_.min_isr = 2;
  EXPECT_EQ(replica_->Append(MakeBatch(1), -1).code(), ErrorCode::kNotEnoughReplicas);
  EXPECT_EQ(replica_->log()->log_end_offset(), LogOffset(0));
}

TEST_F(ReplicaTest, ReadLastGivesTheBatchesOfTheLastRows) {
  Open();
  Lead();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(replica_->Append(MakeBatch(1), 1).ok());
  const auto all = replica_->ReadLast(100, *view_);
  const auto last = replica_->ReadLast(3, *view_);
  ASSERT_TRUE(all.ok());
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(all->size(), 10 * (last->size() / 3));
  EXPECT_TRUE(replica_->ReadLast(0, *view_)->empty());
}

TEST_F(ReplicaTest, ARefusedBucketAnswersWithTheReason) {
  const Replica refused(&environment_, testing::kBucket, testing::kPath, table_,
                        MakeError(ErrorCode::kCorruptData, "00000.log is damaged at 42"));
  EXPECT_EQ(refused.EarliestOffset().code(), ErrorCode::kCorruptData);
  EXPECT_NE(refused.LatestOffset().error().message.find("at 42"), std::string::npos);
}

TEST(OffsetWaiters, WakesThoseWhoseOffsetIsReachedAndNoOthers) {
  rt::ManualExecutor executor;
  OffsetWaiters waiters(LogOffset(0));
  EXPECT_TRUE(executor.Run(waiters.WaitFor(LogOffset(0), rt::MonotonicTime::Never())).ok());
  EXPECT_EQ(executor.Run(waiters.WaitFor(LogOffset(5), rt::Now() + std::chrono::seconds(1))).code(),
            ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(waiters.size(), 0U);
}

TEST(HighWatermark, IsTheLeastEndThatCountsAndNeverGoesBack) {
  HighWatermarkInput input{.current = LogOffset(3), .log_end = LogOffset(9), .synced_end = LogOffset(5), .followers_end = LogOffset(7)};
  EXPECT_EQ(NextHighWatermark(input), LogOffset(7));
  input.wait_for_sync = true;
  EXPECT_EQ(NextHighWatermark(input), LogOffset(5));
  input.synced_end = LogOffset(1);
  EXPECT_EQ(NextHighWatermark(input), LogOffset(3));
  input.synced_end = LogOffset(9);
  input.min_isr = 2;
  EXPECT_EQ(NextHighWatermark(input), LogOffset(3));
}

}  // namespace
}  // namespace strom::replica
