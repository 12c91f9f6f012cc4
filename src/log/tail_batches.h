#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/ids.h"

namespace strom::log {

/// Where the newest batches of the active segment lie, so that a reader that keeps up costs no header read. A ring that grows to its limit with
/// the appends; dense: each batch ends where the next begins, the last one at the log end.
class TailBatches {
 public:
  static constexpr size_t kBatchesMax = 128;  // power of two; 16 bytes each

  struct Batch {
    LogOffset base_offset;
    uint32_t position = 0;
    uint32_t size = 0;
  };

  void Push(const Batch& batch);
  /// Index of the batch that holds `offset` (at most the log end's last), or nothing when it is older than what is kept.
  std::optional<size_t> Find(LogOffset offset) const;
  size_t size() const { return count_; }
  /// The i-th oldest.
  const Batch& at(size_t i) const { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  void Clear() {
    first_ = 0;
    count_ = 0;
  }
  void Free() {
    Clear();
    std::vector<Batch>().swap(ring_);
  }

 private:
  std::vector<Batch> ring_;  // its size is 0 or a power of two
  size_t first_ = 0;
  size_t count_ = 0;
};

}  // namespace strom::log
