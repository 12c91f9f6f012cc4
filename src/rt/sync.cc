#include "rt/sync.h"

#include "base/assert.h"
#include "rt/executor.h"

namespace strom::rt {

namespace internal {

WaitList::~WaitList() {
  for (Waiter* waiter = head; waiter != nullptr; waiter = waiter->next) waiter->list = nullptr;
}

void WaitList::Add(Waiter& waiter) {
  waiter.list = this;
  waiter.next = nullptr;
  waiter.previous = tail;
  (tail != nullptr ? tail->next : head) = &waiter;
  tail = &waiter;
}

void WaitList::Remove(Waiter& waiter) {
  (waiter.previous != nullptr ? waiter.previous->next : head) = waiter.next;
  (waiter.next != nullptr ? waiter.next->previous : tail) = waiter.previous;
  waiter.list = nullptr;
}

bool WaitList::WakeOne() {
  if (head == nullptr) return false;
  Waiter& waiter = *head;
  Remove(waiter);
  Executor& executor = Executor::Current();
  if (waiter.timer.armed) executor.Cancel(waiter.timer);
  executor.Post(waiter.handle);
  return true;
}

void WaitList::WakeAll() {
  // Post() never resumes anybody inside the call, so the list only shrinks here.
  while (WakeOne()) {
  }
}

Waiter::~Waiter() {
  if (list != nullptr) list->Remove(*this);
  if (timer.armed) Executor::Current().Cancel(timer);
}

void Waiter::OnDeadline(Timer& timer) {
  Waiter& waiter = *static_cast<Deadline&>(timer).waiter;
  if (waiter.list != nullptr) waiter.list->Remove(waiter);
  waiter.timed_out = true;
  Executor::Current().Post(waiter.handle);
}

void WaitAwaiter::await_suspend(std::coroutine_handle<> handle) {
  waiter.handle = handle;
  list.Add(waiter);
  if (deadline == MonotonicTime::Never()) return;
  waiter.timer.waiter = &waiter;
  waiter.timer.deadline = deadline;
  waiter.timer.fire = &Waiter::OnDeadline;
  Executor::Current().Arm(waiter.timer);
}

}  // namespace internal

Gate::Holder Gate::TryEnter() {
  if (closing_) return {};
  ++count_;
  return Holder(this);
}

Task<void> Gate::Close() {
  closing_ = true;
  while (count_ > 0) co_await empty_.Wait();
}

void Gate::Leave() {
  STROM_ASSERT(count_ > 0, "a gate is left more often than entered");
  if (--count_ == 0) empty_.NotifyAll();
}

namespace {

struct QueueAwaiter {
  std::deque<std::pair<size_t, std::coroutine_handle<>>>& queue;
  size_t count;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) { queue.emplace_back(count, handle); }
  void await_resume() const noexcept {}
};

struct SleepAwaiter {
  Timer timer;
  ~SleepAwaiter() {
    if (timer.armed) Executor::Current().Cancel(timer);
  }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    timer.waiter = handle;
    Executor::Current().Arm(timer);
  }
  void await_resume() const noexcept {}
};

struct YieldAwaiter {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) { Executor::Current().Post(handle); }
  void await_resume() const noexcept {}
};

}  // namespace

Task<void> Semaphore::Acquire(size_t count) {
  if (TryAcquire(count)) co_return;
  QueueAwaiter turn{queue_, count};
  co_await turn;  // Release() has taken the permits for us
}

bool Semaphore::TryAcquire(size_t count) {
  if (!queue_.empty() || permits_ < count) return false;
  permits_ -= count;
  return true;
}

void Semaphore::Release(size_t count) {
  permits_ += count;
  while (!queue_.empty() && queue_.front().first <= permits_) {
    permits_ -= queue_.front().first;
    Executor::Current().Post(queue_.front().second);
    queue_.pop_front();
  }
}

Task<void> SleepUntil(MonotonicTime deadline) {
  SleepAwaiter sleep;
  sleep.timer.deadline = deadline;
  co_await sleep;
}

Task<void> Yield() {
  YieldAwaiter yield;
  co_await yield;
}

}  // namespace strom::rt
