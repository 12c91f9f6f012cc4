#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "rt/executor.h"

namespace strom::rt {

/// Messages from any thread to one shard: a lock-free stack that the owner takes whole and turns around, so that the
/// messages of one sender keep their order. The head also says whether the owner sleeps: only the first message after
/// that has to wake it, and a busy shard is never woken.
class Inbox {
 public:
  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() { DestroyAll(TakeAll()); }

  /// Any thread. True when the owner sleeps and the caller has to wake it.
  bool Push(std::unique_ptr<Message> message) {
    Message* const pushed = message.release();
    uintptr_t head = head_.load(std::memory_order_relaxed);
    do {
      pushed->next = head == kAsleep ? nullptr : reinterpret_cast<Message*>(head);
    } while (!head_.compare_exchange_weak(head, reinterpret_cast<uintptr_t>(pushed), std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return head == kAsleep;
  }

  /// Owner: from now on senders wake it. False, and it stays awake, when messages are there.
  bool FallAsleep() {
    uintptr_t expected = kEmpty;
    return head_.compare_exchange_strong(expected, kAsleep, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  /// Owner: all messages, oldest first, linked by `next`; wakes up when it slept.
  Message* TakeAll() {
    if (head_.load(std::memory_order_relaxed) == kEmpty) return nullptr;
    const uintptr_t head = head_.exchange(kEmpty, std::memory_order_acquire);
    if (head == kAsleep) return nullptr;
    Message* oldest = nullptr;
    for (Message* message = reinterpret_cast<Message*>(head); message != nullptr;) {
      Message* const older = std::exchange(message->next, oldest);
      oldest = message;
      message = older;
    }
    return oldest;
  }

  static void DestroyAll(Message* message) {
    while (message != nullptr) delete std::exchange(message, message->next);
  }

 private:
  static constexpr uintptr_t kEmpty = 0;
  static constexpr uintptr_t kAsleep = 1;  // no message lies at this address

  alignas(64) std::atomic<uintptr_t> head_ = kEmpty;
};

}  // namespace strom::rt
