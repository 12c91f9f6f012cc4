#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "rt/executor.h"
#include "rt/sync.h"
#include "rt/task.h"

namespace strom::rpc {

/// Memory that the requests of one shard may take together. It is charged before a frame's body is read and given back when the request
/// has been answered; who finds it empty waits, first come first served, and meanwhile does not read.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t bytes) : bytes_(bytes), free_(bytes) {}

  /// Gives back what was charged when it dies.
  class Charge {
   public:
    Charge() = default;
    Charge(MemoryBudget* budget, size_t bytes) : budget_(budget), bytes_(bytes) {}
    Charge(Charge&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Charge& operator=(Charge&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Charge() {
      if (budget_ != nullptr) budget_->free_.Release(bytes_);
    }

   private:
    MemoryBudget* budget_ = nullptr;
    size_t bytes_ = 0;
  };

  /// A frame larger than the whole budget is charged all of it, so that it passes alone.
  rt::Task<Charge> Acquire(size_t bytes) {
    const size_t charged = std::min(bytes, bytes_);
    rt::Task<void> acquire = free_.Acquire(charged);
    co_await std::move(acquire);
    co_return Charge(this, charged);
  }
  bool TryAcquire(size_t bytes, Charge* charge) {
    const size_t charged = std::min(bytes, bytes_);
    if (!free_.TryAcquire(charged)) return false;
    *charge = Charge(this, charged);
    return true;
  }
  size_t available() const { return free_.available(); }

 private:
  const size_t bytes_;
  rt::Semaphore free_;
};

/// One budget a shard, for all listeners of the process.
class RequestMemory {
 public:
  RequestMemory(uint32_t shard_count, size_t bytes_per_shard) {
    for (uint32_t i = 0; i < shard_count; ++i) budgets_.push_back(std::make_unique<MemoryBudget>(bytes_per_shard));
  }
  MemoryBudget& OfThisShard() { return *budgets_[rt::ThisShard()]; }

 private:
  std::vector<std::unique_ptr<MemoryBudget>> budgets_;
};

}  // namespace strom::rpc
