#include "rt/sync.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "rt/manual_executor.h"
#include "rt/timer_heap.h"

namespace strom::rt {
namespace {

using std::chrono::milliseconds;

Task<void> WaitAndNote(Event* event, MonotonicTime deadline, std::string name, std::string* log) {
  const bool woken = co_await event->Wait(deadline);
  *log += name + (woken ? "+" : "-");
}

TEST(Event, WakesAllWhoWaitNowInOrder) {
  ManualExecutor executor;
  Event event;
  std::string log;
  Spawn(WaitAndNote(&event, MonotonicTime::Never(), "a", &log));
  Spawn(WaitAndNote(&event, MonotonicTime::Never(), "b", &log));
  event.NotifyAll();
  Spawn(WaitAndNote(&event, MonotonicTime::Never(), "c", &log));
  executor.RunUntilIdle();
  EXPECT_EQ(log, "a+b+");
  event.NotifyOne();
  executor.RunUntilIdle();
  EXPECT_EQ(log, "a+b+c+");
}

TEST(Event, AWaiterWhoseDeadlineComesLeavesTheList) {
  ManualExecutor executor;
  Event event;
  std::string log;
  Spawn(WaitAndNote(&event, Now() + milliseconds(5), "a", &log));
  Spawn(WaitAndNote(&event, Now() + milliseconds(9), "b", &log));
  Spawn(WaitAndNote(&event, Now() + milliseconds(5), "c", &log));
  executor.Advance(milliseconds(5));
  EXPECT_EQ(log, "a-c-");
  EXPECT_TRUE(event.has_waiters());
  event.NotifyAll();
  executor.RunUntilIdle();
  EXPECT_EQ(log, "a-c-b+");
  executor.Advance(milliseconds(100));
  EXPECT_EQ(log, "a-c-b+") << "the timer of a woken waiter is cancelled";
}

TEST(Event, WokenAndTimedOutInOneTurnResumesOnce) {
  ManualExecutor executor;
  Event event;
  std::string log;
  Spawn(WaitAndNote(&event, Now() + milliseconds(5), "a", &log));
  event.NotifyAll();                       // posted, not resumed yet
  EXPECT_FALSE(executor.JumpToNextTimer());  // so its timer is gone
  executor.RunUntilIdle();
  EXPECT_EQ(log, "a+");

  Spawn(WaitAndNote(&event, Now() + milliseconds(5), "b", &log));
  EXPECT_TRUE(executor.JumpToNextTimer());  // timed out and posted, not resumed yet
  event.NotifyAll();
  executor.RunUntilIdle();
  EXPECT_EQ(log, "a+b-");
}

TEST(Event, ADeadlineInThePastTimesOutAtOnce) {
  ManualExecutor executor;
  Event event;
  std::string log;
  Spawn(WaitAndNote(&event, MonotonicTime{0}, "a", &log));
  executor.Run(Yield());
  executor.Advance(Duration(0));
  EXPECT_EQ(log, "a-");
}

TEST(Event, ADestroyedEventLeavesOnlyTheDeadline) {
  ManualExecutor executor;
  std::string log;
  auto event = std::make_unique<Event>();
  Spawn(WaitAndNote(event.get(), Now() + milliseconds(5), "a", &log));
  event.reset();
  executor.Advance(milliseconds(5));
  EXPECT_EQ(log, "a-");
}

Task<void> Work(Gate::Holder /*holder*/, Duration duration) { co_await Sleep(duration); }

Task<void> CloseAndNote(Gate* gate, std::string* log) {
  co_await gate->Close();
  *log += "closed";
}

TEST(Gate, CloseWaitsForAllAndLetsNobodyIn) {
  ManualExecutor executor;
  Gate gate;
  std::string log;
  Spawn(Work(gate.TryEnter(), milliseconds(5)));
  Spawn(Work(gate.TryEnter(), milliseconds(10)));
  Spawn(CloseAndNote(&gate, &log));
  EXPECT_FALSE(gate.TryEnter());
  EXPECT_TRUE(gate.closing());
  executor.Advance(milliseconds(9));
  EXPECT_EQ(log, "");
  EXPECT_EQ(gate.count(), 1u);
  executor.Advance(milliseconds(1));
  EXPECT_EQ(log, "closed");
}

TEST(Gate, CloseOfAnEmptyGateIsImmediateAndMayBeRepeated) {
  ManualExecutor executor;
  Gate gate;
  executor.Run(gate.Close());
  executor.Run(gate.Close());
  EXPECT_FALSE(gate.TryEnter());
}

Task<void> Take(Semaphore* semaphore, size_t count, std::string name, std::string* log) {
  co_await semaphore->Acquire(count);
  *log += name;
}

TEST(Semaphore, IsFairAlsoToLargeWishes) {
  ManualExecutor executor;
  Semaphore semaphore(2);
  std::string log;
  Spawn(Take(&semaphore, 1, "a", &log));
  Spawn(Take(&semaphore, 2, "b", &log));
  Spawn(Take(&semaphore, 1, "c", &log));
  EXPECT_EQ(log, "a");
  EXPECT_FALSE(semaphore.TryAcquire()) << "nobody overtakes the queue";
  semaphore.Release();
  executor.RunUntilIdle();
  EXPECT_EQ(log, "ab");
  semaphore.Release(2);
  executor.RunUntilIdle();
  EXPECT_EQ(log, "abc");
  EXPECT_EQ(semaphore.available(), 1u);
}

Task<void> SendAll(Channel<int>* channel, int count, int* sent) {
  for (int i = 0; i < count; ++i) {
    const bool ok = co_await channel->Send(i);
    if (!ok) co_return;
    ++*sent;
  }
  channel->Close();
}

Task<int> ReceiveAll(Channel<int>* channel) {
  int expected = 0;
  for (;;) {
    const std::optional<int> item = co_await channel->Receive();
    if (!item.has_value()) co_return expected;
    EXPECT_EQ(*item, expected);
    ++expected;
  }
}

TEST(Channel, DeliversInOrderWithBackPressure) {
  ManualExecutor executor;
  Channel<int> channel(3);
  int sent = 0;
  Spawn(SendAll(&channel, 100, &sent));
  EXPECT_EQ(sent, 3);
  EXPECT_FALSE(channel.TrySend(7));
  EXPECT_EQ(executor.Run(ReceiveAll(&channel)), 100);
  EXPECT_EQ(sent, 100);
}

TEST(Channel, CloseWakesSendersAndReceivers) {
  ManualExecutor executor;
  Channel<int> full(1);
  int sent = 0;
  Spawn(SendAll(&full, 5, &sent));
  EXPECT_EQ(sent, 1);
  full.Close();
  EXPECT_EQ(executor.Run(ReceiveAll(&full)), 1) << "what was sent is still received";
  executor.RunUntilIdle();
  EXPECT_EQ(sent, 1);
}

struct Fired {
  std::vector<const Timer*> order;
};
Fired* fired = nullptr;

TEST(TimerHeap, FiresAsASortedMapWould) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    ManualExecutor executor;  // somebody to post to; the heap under test is apart
    Random random(seed);
    Fired seen;
    fired = &seen;
    std::vector<Timer> timers(200);
    std::map<std::pair<int64_t, uint64_t>, Timer*> twin;
    TimerHeap heap;
    uint64_t sequence = 0;
    for (int step = 0; step < 2000; ++step) {
      Timer& timer = timers[random.Below(timers.size())];
      if (timer.armed) {
        twin.erase({timer.deadline.nanoseconds, timer.sequence});
        heap.Cancel(timer);
      } else {
        timer.deadline = {random.Between(0, 50)};
        timer.fire = [](Timer& each) { fired->order.push_back(&each); };
        heap.Arm(timer);
        twin[{timer.deadline.nanoseconds, sequence++}] = &timer;
      }
      if (random.OneIn(100)) {
        const int64_t now = random.Between(0, 60);
        seen.order.clear();
        heap.Expire({now}, Executor::Current());
        std::vector<const Timer*> expected;
        while (!twin.empty() && twin.begin()->first.first <= now) {
          expected.push_back(twin.begin()->second);
          twin.erase(twin.begin());
        }
        EXPECT_EQ(seen.order, expected);
      }
    }
    while (!heap.empty()) heap.Pop();
  }
}

}  // namespace
}  // namespace strom::rt
