#pragma once

#include <coroutine>
#include <cstddef>
#include <vector>

namespace strom::rt {

/// Coroutines that are ready to go on, first come first served: a ring that doubles when it is full and never shrinks.
class ReadyQueue {
 public:
  bool empty() const { return head_ == tail_; }
  size_t size() const { return tail_ - head_; }
  void Push(std::coroutine_handle<> handle) {
    if (size() == ring_.size()) Grow();
    ring_[tail_++ & (ring_.size() - 1)] = handle;
  }
  /// There must be one.
  std::coroutine_handle<> Pop() { return ring_[head_++ & (ring_.size() - 1)]; }

 private:
  void Grow() {
    std::vector<std::coroutine_handle<>> larger(ring_.size() * 2);
    const size_t count = size();
    for (size_t i = 0; i < count; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_ = std::move(larger);
    head_ = 0;
    tail_ = count;
  }

  std::vector<std::coroutine_handle<>> ring_{std::vector<std::coroutine_handle<>>(256)};  // a power of two
  size_t head_ = 0;  // both only grow; the place is the number modulo the size
  size_t tail_ = 0;
};

}  // namespace strom::rt
