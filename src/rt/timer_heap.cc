#include "rt/timer_heap.h"

#include "base/assert.h"

namespace strom::rt {

void TimerHeap::Place(Timer& timer, size_t index) {
  heap_[index] = &timer;
  timer.heap_index = index;
}

void TimerHeap::Up(Timer& timer, size_t index) {
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    if (!Before(timer, *heap_[parent])) break;
    Place(*heap_[parent], index);
    index = parent;
  }
  Place(timer, index);
}

void TimerHeap::Down(Timer& timer, size_t index) {
  for (;;) {
    size_t child = 2 * index + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && Before(*heap_[child + 1], *heap_[child])) ++child;
    if (!Before(*heap_[child], timer)) break;
    Place(*heap_[child], index);
    index = child;
  }
  Place(timer, index);
}

void TimerHeap::Arm(Timer& timer) {
  STROM_ASSERT(!timer.armed, "a timer is armed once");
  timer.sequence = next_sequence_++;
  timer.armed = true;
  heap_.push_back(&timer);
  Up(timer, heap_.size() - 1);
}

void TimerHeap::Cancel(Timer& timer) {
  if (!timer.armed) return;
  const size_t index = timer.heap_index;
  STROM_ASSERT(index < heap_.size() && heap_[index] == &timer, "a timer is cancelled where it was armed");
  timer.armed = false;
  Timer& last = *heap_.back();
  heap_.pop_back();
  if (&last == &timer) return;
  if (index > 0 && Before(last, *heap_[(index - 1) / 2])) {
    Up(last, index);
  } else {
    Down(last, index);
  }
}

Timer& TimerHeap::Pop() {
  Timer& first = *heap_.front();
  Cancel(first);
  return first;
}

void TimerHeap::Expire(MonotonicTime now, Executor& executor) {
  // A timer that fires may arm another one that is due as well: that one waits for the next turn, or the turn has no end.
  const uint64_t armed_before = next_sequence_;
  while (!heap_.empty() && heap_.front()->deadline <= now && heap_.front()->sequence < armed_before) {
    FireTimer(Pop(), executor);
  }
}

void FireTimer(Timer& timer, Executor& executor) {
  if (timer.fire != nullptr) {
    timer.fire(timer);
  } else {
    executor.Post(timer.waiter);
  }
}

}  // namespace strom::rt
