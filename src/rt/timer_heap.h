#pragma once

#include <cstdint>
#include <vector>

#include "rt/executor.h"

namespace strom::rt {

/// The armed timers of an executor, earliest deadline first, in arrival order where deadlines are equal. A binary heap of
/// pointers; each timer knows its place, so that cancelling one costs the depth of the heap.
class TimerHeap {
 public:
  bool empty() const { return heap_.empty(); }
  /// Never() when there is none.
  MonotonicTime next_deadline() const { return heap_.empty() ? MonotonicTime::Never() : heap_.front()->deadline; }
  void Arm(Timer& timer);
  /// No-op for a timer that is not armed.
  void Cancel(Timer& timer);
  /// Fires, or posts to `executor`, every timer that was armed before this call and has come due.
  void Expire(MonotonicTime now, Executor& executor);
  /// Takes out the first one; there must be one.
  Timer& Pop();

 private:
  static bool Before(const Timer& a, const Timer& b) {
    return a.deadline != b.deadline ? a.deadline < b.deadline : a.sequence < b.sequence;
  }
  void Place(Timer& timer, size_t index);
  void Up(Timer& timer, size_t index);
  void Down(Timer& timer, size_t index);

  std::vector<Timer*> heap_;
  uint64_t next_sequence_ = 0;
};

/// Fires a timer that has come due, or posts its waiter.
void FireTimer(Timer& timer, Executor& executor);

}  // namespace strom::rt
