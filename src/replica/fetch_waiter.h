#pragma once

#include <deque>

#include "rt/sync.h"

namespace strom::replica {

class FetchWaiter;

/// The fetches that wait for news of one bucket: a higher high watermark, or a change of its state.
class FetchWaiterList {
 public:
  FetchWaiterList() = default;
  FetchWaiterList(const FetchWaiterList&) = delete;
  FetchWaiterList& operator=(const FetchWaiterList&) = delete;
  ~FetchWaiterList();

  /// Wakes all of them; each leaves this list and reads again.
  void NotifyAll();
  bool empty() const { return head_ == nullptr; }

 private:
  friend class FetchWaiter;
  struct Link {
    FetchWaiter* waiter = nullptr;
    FetchWaiterList* list = nullptr;
    Link* previous = nullptr;
    Link* next = nullptr;
  };
  void Insert(Link& link);
  void Remove(Link& link);
  Link* head_ = nullptr;
};

/// One fetch that waits on any number of buckets of one shard. Lives in the frame of the fetch.
class FetchWaiter {
 public:
  FetchWaiter() = default;
  FetchWaiter(const FetchWaiter&) = delete;
  FetchWaiter& operator=(const FetchWaiter&) = delete;
  ~FetchWaiter() { Clear(); }

  void Watch(FetchWaiterList& bucket);
  /// True when any bucket had news (or Notify() was called), false at the deadline. Watches nothing afterwards.
  rt::Task<bool> Wait(rt::MonotonicTime deadline);
  /// Wakes the fetch from outside: its answer is complete without this shard.
  void Notify();

 private:
  friend class FetchWaiterList;
  void Clear();
  bool notified_ = false;
  rt::Event event_;
  std::deque<FetchWaiterList::Link> links_;  // a deque: links do not move
};

}  // namespace strom::replica
