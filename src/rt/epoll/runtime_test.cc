#include "rt/runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rt/call.h"
#include "rt/sync.h"

namespace strom::rt {
namespace {

using std::chrono::milliseconds;

int RunOn(uint32_t shards, std::function<Task<int>()> main) {
  auto runtime = Runtime::Start({.shards = shards, .blocking_threads = 3});
  EXPECT_TRUE(runtime.ok()) << runtime.ToString();
  return runtime.value()->Run(std::move(main));
}

Task<int> ReturnShardCount() { co_return static_cast<int>(ShardCount()); }

TEST(Runtime, RunsMainOnShardZeroAndReturnsItsValue) {
  EXPECT_EQ(RunOn(3, [] { return ReturnShardCount(); }), 3);
}

TEST(Runtime, StartsAndStopsWithoutRunning) {
  for (int i = 0; i < 20; ++i) {
    auto runtime = Runtime::Start({.shards = 2});
    ASSERT_TRUE(runtime.ok());
    EXPECT_EQ(runtime.value()->shard_count(), 2u);
  }
}

TEST(Runtime, HasAShardForEveryUsableCoreByDefault) {
  auto runtime = Runtime::Start({});
  ASSERT_TRUE(runtime.ok());
  EXPECT_GE(runtime.value()->shard_count(), 1u);
}

struct PerShard {
  std::thread::id thread;
  std::vector<int> arrived;
};

Task<void> Arrive(std::vector<PerShard>* shards, int number) {
  (*shards)[ThisShard()].arrived.push_back(number);
  if (number % 3 == 0) co_await Yield();
}

Task<void> CallInOrder(std::vector<PerShard>* shards, uint32_t shard, int number, Gate::Holder /*holder*/) {
  co_await CallOn(shard, [shards, number] { return Arrive(shards, number); });
}

Task<int> ManyCalls(std::vector<PerShard>* shards) {
  Gate gate;
  for (int number = 0; number < 3000; ++number) {
    Spawn(CallInOrder(shards, static_cast<uint32_t>(number) % ShardCount(), number, gate.TryEnter()));
  }
  co_await gate.Close();
  co_return 0;
}

TEST(Runtime, CallsOfOneSenderArriveInOrder) {
  std::vector<PerShard> shards(4);
  RunOn(4, [&shards] { return ManyCalls(&shards); });
  for (const PerShard& shard : shards) {
    EXPECT_EQ(shard.arrived.size(), 750u);
    EXPECT_TRUE(std::is_sorted(shard.arrived.begin(), shard.arrived.end()));
  }
}

Task<uint64_t> BounceBetweenShards(uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t value = co_await CallOn(static_cast<uint32_t>(i % ShardCount()), [i] { return i; });
    sum += value;
  }
  co_return sum;
}

Task<int> BounceOnAllShards() {
  constexpr uint64_t kCount = 2000;
  uint64_t sum = 0;
  for (uint32_t shard = 0; shard < ShardCount(); ++shard) {
    const uint64_t value = co_await CallOn(shard, [] { return BounceBetweenShards(kCount); });
    sum += value;
  }
  EXPECT_EQ(sum, ShardCount() * (kCount * (kCount - 1) / 2));
  co_return 0;
}

TEST(Runtime, NoWakeUpIsLostBetweenSleepingShards) {
  RunOn(3, [] { return BounceOnAllShards(); });
}

Task<void> BlockOnce(std::atomic<int>* running, std::atomic<int>* most, Gate::Holder /*holder*/) {
  co_await Blocking([running, most] {
    const int now = running->fetch_add(1) + 1;
    int seen = most->load();
    while (seen < now && !most->compare_exchange_weak(seen, now)) {
    }
    std::this_thread::yield();
    running->fetch_sub(1);
  });
}

Task<int> BlockOften(std::atomic<int>* running, std::atomic<int>* most) {
  Gate gate;
  for (int i = 0; i < 200; ++i) Spawn(BlockOnce(running, most, gate.TryEnter()));
  co_await gate.Close();
  const std::thread::id here = std::this_thread::get_id();
  const std::thread::id there = co_await Blocking([] { return std::this_thread::get_id(); });
  EXPECT_NE(here, there);
  EXPECT_EQ(here, std::this_thread::get_id());
  co_return 0;
}

TEST(Runtime, BlockingWorkRunsOnABoundedPoolAndComesBack) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  RunOn(1, [&] { return BlockOften(&running, &most); });
  EXPECT_EQ(running, 0);
  EXPECT_LE(most, 3);
}

Task<void> SleepAndNote(Duration duration, char name, std::string* log, Gate::Holder /*holder*/) {
  co_await Sleep(duration);
  *log += name;
}

Task<void> SleepInThreeOrders(std::string* log) {
  Gate gate;
  const MonotonicTime begin = Now();
  Spawn(SleepAndNote(milliseconds(6), 'c', log, gate.TryEnter()));
  Spawn(SleepAndNote(milliseconds(2), 'a', log, gate.TryEnter()));
  Spawn(SleepAndNote(milliseconds(4), 'b', log, gate.TryEnter()));
  co_await gate.Close();
  EXPECT_GE(Now() - begin, milliseconds(6));
}

TEST(Runtime, TimersFireInOrderAndNotEarly) {
  std::string log;
  RunForTest([&log] { return SleepInThreeOrders(&log); });
  EXPECT_EQ(log, "abc");
}


Task<void> WaitWithDeadline(Event* event, bool* woken) {
  const MonotonicTime deadline = Now() + milliseconds(3);
  *woken = co_await event->Wait(deadline);
}

TEST(Runtime, AnEventWithADeadlineTimesOutOnTheRealClock) {
  bool woken = true;
  Event event;
  RunForTest([&] { return WaitWithDeadline(&event, &woken); });
  EXPECT_FALSE(woken);
  EXPECT_FALSE(event.has_waiters());
}

Task<void> Forever() {
  for (;;) co_await Yield();
}

Task<void> SleepForever() { co_await Sleep(std::chrono::hours(1000)); }

Task<int> LeaveWorkBehind() {
  Spawn(Forever());
  Spawn(SleepForever());
  co_await CallOn(1, [] { Spawn(Forever()); });
  co_await CallOn(1, [] { Spawn(SleepForever()); });
  co_return 5;
}

TEST(Runtime, StopsWhileTasksAreBusyAndAsleep) {
  if (!internal::kKeepFrames) GTEST_SKIP() << "the address sanitizer reports the frames that are left behind, rightly";
  EXPECT_EQ(RunOn(2, [] { return LeaveWorkBehind(); }), 5);
}

Task<void> BurnTime(Duration duration) {
  const MonotonicTime end = Now() + duration;
  while (Now() < end) {
  }
  co_await Yield();
  co_await Sleep(Duration(1));
}

Task<void> CountStalls(uint64_t* without, uint64_t* with) {
  co_await BurnTime(milliseconds(1));
  *without = Counters().stalls;
  co_await BurnTime(milliseconds(25));
  *with = Counters().stalls;
}

TEST(Runtime, ARunWithoutABreakIsCountedAsAStall) {
  uint64_t without = 0;
  uint64_t with = 0;
  RunForTest([&] { return CountStalls(&without, &with); });
  EXPECT_GE(with, without + 1);
}

Task<void> SleepAndCountWaits(uint64_t* waits) {
  const uint64_t before = Counters().wait_calls;
  co_await Sleep(milliseconds(30));
  *waits = Counters().wait_calls - before;
}

TEST(Runtime, AnIdleShardDoesNotPoll) {
  uint64_t waits = 0;
  RunForTest([&] { return SleepAndCountWaits(&waits); });
  EXPECT_LE(waits, 3u);
}

}  // namespace
}  // namespace strom::rt
