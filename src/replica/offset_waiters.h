#pragma once

#include <map>

#include "base/result.h"
#include "model/ids.h"
#include "rt/sync.h"

namespace strom::replica {

/// Coroutines that wait until a moving offset has reached theirs. One shard only.
class OffsetWaiters {
 public:
  explicit OffsetWaiters(LogOffset current) : current_(current) {}
  OffsetWaiters(const OffsetWaiters&) = delete;
  OffsetWaiters& operator=(const OffsetWaiters&) = delete;

  LogOffset current() const { return current_; }
  /// Moves the offset and wakes whoever it satisfies. An offset that is not larger changes nothing.
  void Advance(LogOffset offset);
  /// OK once the offset is at least `target`; kDeadlineExceeded, or the error that FailAll() was given.
  rt::Task<Status> WaitFor(LogOffset target, rt::MonotonicTime deadline);
  /// Ends all waits with `error`: the bucket is led no more.
  void FailAll(const Error& error);
  size_t size() const { return waiters_.size(); }

 private:
  struct Waiter {
    rt::Event event;
    bool done = false;
    Status status;
  };
  LogOffset current_;
  std::multimap<LogOffset, Waiter*> waiters_;
};

}  // namespace strom::replica
