#include "rt/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rt/call.h"
#include "rt/manual_executor.h"
#include "rt/sync.h"

namespace strom::rt {
namespace {

Task<int64_t> SumDown(int64_t n) {
  if (n == 0) co_return 0;
  const int64_t rest = co_await SumDown(n - 1);
  co_return rest + n;
}

Task<int64_t> SumDownAfterAWait(int64_t n) {
  if (n == 0) {
    co_await Yield();
    co_return 0;
  }
  const int64_t rest = co_await SumDownAfterAWait(n - 1);
  co_return rest + n;
}

constexpr int64_t kMillion = 1'000'000;
constexpr int64_t kSum = kMillion * (kMillion + 1) / 2;

TEST(Task, AMillionNestedAwaitsTakeABoundedStack) {
  ManualExecutor executor;
  EXPECT_EQ(executor.Run(SumDown(kMillion)), kSum);
}

TEST(Task, AMillionNestedAwaitsThatEndLaterTakeABoundedStack) {
  ManualExecutor executor;
  EXPECT_EQ(executor.Run(SumDownAfterAWait(kMillion)), kSum);
}

Task<int64_t> Same(int64_t value) { co_return value; }

Task<int64_t> SumInALoop(int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 1; i <= n; ++i) {
    const int64_t value = co_await Same(i);
    sum += value;
  }
  co_return sum;
}

TEST(Task, AMillionAwaitsInARowTakeABoundedStack) {
  ManualExecutor executor;
  EXPECT_EQ(executor.Run(SumInALoop(kMillion)), kSum);
}

Task<void> Append(std::string* log, std::string what) {
  *log += what;
  co_return;
}

Task<void> AwaitAndNote(std::string* log) {
  *log += "1";
  Task<void> child = Append(log, "3");
  *log += "2";
  co_await std::move(child);
  *log += "4";
}

TEST(Task, IsLazyAndRunsInsideTheAwait) {
  ManualExecutor executor;
  std::string log;
  Spawn(AwaitAndNote(&log));
  EXPECT_EQ(log, "1234") << "nothing waits, so nothing goes through the ready queue";
}

Task<void> WaitThenNote(Event* event, std::string* log, std::string name) {
  co_await event->Wait();
  *log += name;
}

Task<void> AwaitWaitThenNote(Event* event, std::string* log) {
  co_await WaitThenNote(event, log, "a");
  *log += "b";
}

TEST(Task, TheAwaiterGoesOnBeforeOtherReadyWork) {
  ManualExecutor executor;
  Event event;
  std::string log;
  Spawn(AwaitWaitThenNote(&event, &log));
  Spawn(WaitThenNote(&event, &log, "c"));
  event.NotifyAll();
  executor.RunUntilIdle();
  EXPECT_EQ(log, "abc");
}

Task<void> SpawnsInside(std::string* log, Event* event) {
  *log += "1";
  Spawn(WaitThenNote(event, log, "4"));
  *log += "2";
  co_await Append(log, "3");
}

TEST(Task, ASpawnInsideATaskRunsToItsFirstWait) {
  ManualExecutor executor;
  Event event;
  std::string log;
  Spawn(SpawnsInside(&log, &event));
  EXPECT_EQ(log, "123");
  event.NotifyAll();
  executor.RunUntilIdle();
  EXPECT_EQ(log, "1234");
}

Task<void> Hold(std::shared_ptr<int> value, Event* event) {
  co_await event->Wait();
  *value += 1;
}

TEST(Task, ASpawnedFrameDestroysItselfAtTheEnd) {
  ManualExecutor executor;
  Event event;
  auto value = std::make_shared<int>(0);
  Spawn(Hold(value, &event));
  EXPECT_EQ(value.use_count(), 2);
  event.NotifyAll();
  executor.RunUntilIdle();
  EXPECT_EQ(value.use_count(), 1);
  EXPECT_EQ(*value, 1);
}

TEST(Task, ATaskThatIsNeverAwaitedOnlyDropsItsParameters) {
  ManualExecutor executor;
  Event event;
  auto value = std::make_shared<int>(0);
  { Task<void> never = Hold(value, &event); }
  EXPECT_EQ(value.use_count(), 1);
  EXPECT_EQ(*value, 0);
}

struct MoveOnly {
  std::unique_ptr<int> value;
};

Task<MoveOnly> MakeMoveOnly(std::unique_ptr<int> value) {
  co_await Yield();
  co_return MoveOnly{std::move(value)};
}

TEST(Task, CarriesMoveOnlyParametersAndValues) {
  ManualExecutor executor;
  const MoveOnly made = executor.Run(MakeMoveOnly(std::make_unique<int>(9)));
  EXPECT_EQ(*made.value, 9);
}

Task<long> CountOwners(std::shared_ptr<int> value) {
  // With the lambda inside the co_await this would not compile: g++ 12 would destroy its captures twice.
  Task<long> call = CallOn(1, [value] { return value.use_count(); });
  const long inside = co_await std::move(call);
  EXPECT_GT(inside, 1);
  auto count = [value] { return value.use_count(); };
  const long blocking = co_await Blocking(count);
  EXPECT_GT(blocking, 1);
  co_return value.use_count();
}

TEST(Task, FunctionObjectsInCallsAreDestroyedOnce) {
  ManualExecutor executor({.shards = 2});
  auto value = std::make_shared<int>(0);
  EXPECT_GE(executor.Run(CountOwners(value)), 2);
  EXPECT_EQ(value.use_count(), 1);
}

Task<void> AwaitTwice() {
  Task<int64_t> task = Same(1);
  co_await std::move(task);
  co_await std::move(task);
}

TEST(TaskDeathTest, AwaitingTwiceIsOurMistake) {
  EXPECT_DEATH(
      {
        ManualExecutor executor;
        executor.Run(AwaitTwice());
      },
      "awaited once");
}

TEST(TaskDeathTest, ResumingAHandleDirectlyIsNamed) {
  EXPECT_DEATH(
      {
        std::string log;
        Task<void> task = AwaitAndNote(&log);
        task.Release().resume();
      },
      "never by resume");
}

}  // namespace
}  // namespace strom::rt
