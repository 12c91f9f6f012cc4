#include "rt/manual_executor.h"

#include <gtest/gtest.h>

#include <string>

#include "rt/call.h"
#include "rt/sync.h"

namespace strom::rt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Task<int> SleepThenReturn(Duration duration, int value) {
  co_await Sleep(duration);
  co_return value;
}

Task<void> Note(Duration duration, std::string name, std::string* log) {
  co_await Sleep(duration);
  *log += name;
}

TEST(ManualExecutor, JumpsToTheNextTimerWhenNothingIsReady) {
  ManualExecutor executor;
  const MonotonicTime before = executor.Now();
  EXPECT_EQ(executor.Run(SleepThenReturn(seconds(3600), 7)), 7);
  EXPECT_EQ(executor.Now() - before, seconds(3600));
  EXPECT_EQ(executor.WallClockNow(), TimestampMs(1'700'003'600'000));
}

TEST(ManualExecutor, FiresTimersInOrderOfDeadlineThenArrival) {
  ManualExecutor executor;
  std::string log;
  Spawn(Note(milliseconds(20), "c", &log));
  Spawn(Note(milliseconds(10), "a", &log));
  Spawn(Note(milliseconds(10), "b", &log));
  executor.RunUntilIdle();
  EXPECT_EQ(log, "");
  executor.Advance(milliseconds(10));
  EXPECT_EQ(log, "ab");
  executor.Advance(milliseconds(10));
  EXPECT_EQ(log, "abc");
}

TEST(ManualExecutor, ATimerFiresAtItsOwnTimeDuringALongAdvance) {
  ManualExecutor executor;
  std::string log;
  Spawn(Note(milliseconds(1), "x", &log));
  executor.Advance(seconds(1));
  EXPECT_EQ(log, "x");
  EXPECT_EQ(executor.Now(), MonotonicTime{2'000'000'000});
}

uint32_t WhichShard() { return ThisShard(); }

Task<uint32_t> AskShard(uint32_t shard) {
  const uint32_t answer = co_await CallOn(shard, &WhichShard);
  EXPECT_EQ(ThisShard(), 0u);
  co_return answer;
}

TEST(ManualExecutor, CallsReachTheirShardAndComeBack) {
  ManualExecutor executor({.shards = 3});
  EXPECT_EQ(executor.Run(AskShard(2)), 2u);
  EXPECT_EQ(executor.Run(AskShard(0)), 0u);
}

Task<bool> RunsWithoutExecutor() {
  const bool answer = co_await Blocking([] { return Executor::CurrentOrNull() == nullptr; });
  EXPECT_NE(Executor::CurrentOrNull(), nullptr);
  co_return answer;
}

TEST(ManualExecutor, BlockingWorkSeesNoExecutorAndTakesSimulatedTime) {
  ManualExecutor executor({.blocking_time = milliseconds(5)});
  const MonotonicTime before = executor.Now();
  EXPECT_TRUE(executor.Run(RunsWithoutExecutor()));
  EXPECT_EQ(executor.Now() - before, milliseconds(5));
}

Task<void> NoteAfterYields(std::string name, std::string* log) {
  for (int i = 0; i < 3; ++i) {
    co_await Yield();
    *log += name;
  }
}

std::string Interleaving(uint64_t seed) {
  ManualExecutor executor({.shards = 3, .seed = seed});
  std::string log;
  for (uint32_t shard = 0; shard < 3; ++shard) {
    executor.SpawnOn(shard, NoteAfterYields(std::string(1, static_cast<char>('a' + shard)), &log));
  }
  executor.RunUntilIdle();
  return log;
}

TEST(ManualExecutor, ASeedDrawsTheSameOrderOfShardsEachTime) {
  EXPECT_EQ(Interleaving(0), "abcabcabc");
  EXPECT_EQ(Interleaving(5), Interleaving(5));
  bool differs = false;
  for (uint64_t seed = 1; seed < 10; ++seed) differs = differs || Interleaving(seed) != Interleaving(0);
  EXPECT_TRUE(differs);
}

TEST(ManualExecutor, AWallClockThatJumpsBackMovesNoTimer) {
  ManualExecutor executor;
  std::string log;
  Spawn(Note(milliseconds(10), "x", &log));
  executor.SetWallClock(TimestampMs(1000));
  executor.Advance(milliseconds(10));
  EXPECT_EQ(log, "x");
  EXPECT_EQ(executor.WallClockNow(), TimestampMs(1010));
}

Task<void> WaitFor(Event* event) { co_await event->Wait(); }

TEST(ManualExecutorDeathTest, AWaitThatCannotEndIsNamed) {
  EXPECT_DEATH(
      {
        ManualExecutor executor;
        Event event;
        executor.Run(WaitFor(&event));
      },
      "deadlock");
}

}  // namespace
}  // namespace strom::rt
