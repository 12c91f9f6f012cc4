#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "rt/time.h"

namespace strom::rt {

/// One piece of work that another thread hands to an executor. It is run once and destroyed there; an executor that stops
/// destroys what has not run.
class Message {
 public:
  virtual ~Message() = default;
  virtual void Run() = 0;

  Message* next = nullptr;  // the executor's: its inbox is a list through the messages
};

/// A wait for a point in time. Owned by whoever waits; it must be cancelled before it dies.
struct Timer {
  MonotonicTime deadline;
  std::coroutine_handle<> waiter;       // resumed through the ready queue when the deadline has come
  void (*fire)(Timer&) = nullptr;       // or, when set, called instead
  uint64_t sequence = 0;                // the executor's: breaks ties in arrival order
  bool armed = false;                   // the executor's
  size_t heap_index = 0;                // the executor's
};

/// One shard: a queue of ready work, its clocks, its timers, its way to the pool of blocking threads. This is the seam
/// between production (rt/epoll) and simulation (sim/): everything above asks Executor::Current() through the free
/// functions of rt/, and so runs unchanged on simulated time.
///
/// All members but PostMessage() are called on the executor's own thread only.
class Executor {
 public:
  virtual ~Executor() = default;

  /// The executor that runs the calling thread; asserts that there is one.
  static Executor& Current();
  static Executor* CurrentOrNull();

  /// Resumes `handle` later, in order, from the loop: never inside this call.
  virtual void Post(std::coroutine_handle<> handle) = 0;
  /// Thread safe. Messages of one sender arrive in the order in which it sent them.
  virtual void PostMessage(std::unique_ptr<Message> message) = 0;

  virtual MonotonicTime Now() = 0;
  virtual TimestampMs WallClockNow() = 0;
  virtual void Arm(Timer& timer) = 0;
  virtual void Cancel(Timer& timer) = 0;

  /// Runs `work` on the pool of blocking threads, then resumes `then` on this shard. `work` must not throw.
  virtual void SubmitBlocking(std::function<void()> work, std::coroutine_handle<> then) = 0;

  /// This shard's number in [0, shard_count()), and its peers.
  virtual uint32_t shard_index() const = 0;
  virtual uint32_t shard_count() const = 0;
  virtual Executor& peer(uint32_t shard_index) = 0;

  /// For executors: makes `executor` (or none) the current one of this thread for the life of the scope.
  class Scope {
   public:
    explicit Scope(Executor* executor);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Executor* previous_;
  };
};

inline uint32_t ThisShard() { return Executor::Current().shard_index(); }
inline uint32_t ShardCount() { return Executor::Current().shard_count(); }

}  // namespace strom::rt
