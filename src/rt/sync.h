#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "rt/task.h"
#include "rt/time.h"

namespace strom::rt {

namespace internal {
struct Waiter;

/// Coroutines that wait, first come first served. A list that dies leaves its waiters alone: only their deadlines wake them.
struct WaitList {
  Waiter* head = nullptr;
  Waiter* tail = nullptr;
  WaitList() = default;
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;
  ~WaitList();
  bool empty() const { return head == nullptr; }
  void Add(Waiter& waiter);
  void Remove(Waiter& waiter);
  /// Takes out and posts the first one; false when nobody waits.
  bool WakeOne();
  /// Takes out and posts those who wait now.
  void WakeAll();
};

/// One waiting coroutine, with an optional deadline. Lives in the frame of the waiter, at one address.
/// Invariant: while the timer is armed nobody has woken it, so it is posted once: by the list or by the timer.
struct Waiter {
  struct Deadline : Timer {
    Waiter* waiter = nullptr;
  };
  std::coroutine_handle<> handle;
  WaitList* list = nullptr;  // null once woken
  Waiter* previous = nullptr;
  Waiter* next = nullptr;
  bool timed_out = false;
  Deadline timer;

  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter();
  static void OnDeadline(Timer& timer);
};

/// Made in place by Wait() and awaited there: it can be neither copied nor moved.
struct WaitAwaiter {
  WaitList& list;
  MonotonicTime deadline;
  Waiter waiter;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle);
  /// True when woken, false when the deadline came first.
  bool await_resume() const { return !waiter.timed_out; }
};
}  // namespace internal

/// Something that happens: wakes all who wait *now*. It keeps no memory of past notifications, so check the condition in a
/// loop around the wait. One shard only.
class Event {
 public:
  void NotifyAll() { waiters_.WakeAll(); }
  void NotifyOne() { waiters_.WakeOne(); }
  bool has_waiters() const { return !waiters_.empty(); }
  /// co_await event.Wait(): resumes at the next notification (true) or at the deadline (false).
  internal::WaitAwaiter Wait(MonotonicTime deadline = MonotonicTime::Never()) { return {waiters_, deadline, {}}; }

 private:
  internal::WaitList waiters_;
};

/// Counts background work, so that its owner can wait for the end of it. One shard only.
class Gate {
 public:
  class Holder {
   public:
    Holder() = default;
    explicit Holder(Gate* gate) : gate_(gate) {}
    Holder(Holder&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Holder& operator=(Holder&& other) noexcept {
      std::swap(gate_, other.gate_);
      return *this;
    }
    ~Holder() {
      if (gate_ != nullptr) gate_->Leave();
    }
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    Gate* gate_ = nullptr;
  };

  /// An empty holder once the gate closes: then do not start.
  Holder TryEnter();
  bool closing() const { return closing_; }
  size_t count() const { return count_; }
  /// Lets nobody in any more and waits until all have left.
  Task<void> Close();

 private:
  void Leave();
  size_t count_ = 0;
  bool closing_ = false;
  Event empty_;
};

/// Counted permits, first come first served: a large wish at the head holds back small ones behind it. One shard only.
class Semaphore {
 public:
  explicit Semaphore(size_t permits) : permits_(permits) {}
  Task<void> Acquire(size_t count = 1);
  bool TryAcquire(size_t count = 1);
  void Release(size_t count = 1);
  size_t available() const { return permits_; }

 private:
  size_t permits_;
  // Invariant: when somebody queues, the first one wants more than there is.
  std::deque<std::pair<size_t, std::coroutine_handle<>>> queue_;
};

/// A bounded queue between coroutines of one shard.
template <typename T>
class Channel {
 public:
  explicit Channel(size_t capacity) : capacity_(capacity) {}
  /// False when the channel is full or closed.
  bool TrySend(T value) {
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(value));
    not_empty_.NotifyOne();
    return true;
  }
  /// Waits for room; false when the channel is closed.
  Task<bool> Send(T value) {
    while (!closed_ && items_.size() >= capacity_) {
      co_await not_full_.Wait();
    }
    co_return TrySend(std::move(value));
  }
  /// The next item; nothing once the channel is closed and empty.
  Task<std::optional<T>> Receive() {
    while (items_.empty() && !closed_) {
      co_await not_empty_.Wait();
    }
    if (items_.empty()) co_return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    not_full_.NotifyOne();
    co_return item;
  }
  void Close() {
    closed_ = true;
    not_empty_.NotifyAll();
    not_full_.NotifyAll();
  }
  size_t size() const { return items_.size(); }

 private:
  size_t capacity_;
  bool closed_ = false;
  std::deque<T> items_;
  Event not_empty_;
  Event not_full_;
};

/// Suspends until `deadline` (or for `duration`).
Task<void> SleepUntil(MonotonicTime deadline);
inline Task<void> Sleep(Duration duration) { return SleepUntil(Now() + duration); }
/// Lets everything else that is ready run first.
Task<void> Yield();

}  // namespace strom::rt
