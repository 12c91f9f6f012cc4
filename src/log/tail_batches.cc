#include "log/tail_batches.h"


namespace strom::log {

void TailBatches::Push(const Batch& batch) {
  if (count_ == ring_.size()) {
    if (ring_.size() < kBatchesMax) {
      std::vector<Batch> larger(ring_.empty() ? 8 : ring_.size() * 2);
      for (size_t i = 0; i < count_; ++i) larger[i] = at(i);
      ring_.swap(larger);
      first_ = 0;
    } else {
      first_ = (first_ + 1) & (ring_.size() - 1);
      --count_;
    }
  }
  ring_[(first_ + count_) & (ring_.size() - 1)] = batch;
  ++count_;
}

std::optional<size_t> TailBatches::Find(LogOffset offset) const {
  if (count_ == 0 || offset < at(0).base_offset) return std::nullopt;
  size_t low = 0;  // its base offset is at or below
  size_t high = count_;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (at(middle).base_offset <= offset ? low : high) = middle;
  }
  return low;
}

}  // namespace strom::log
