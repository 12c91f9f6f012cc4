#pragma once

#include <array>
#include <cstdint>

namespace strom::bench {

/// Counts of durations in nanoseconds, kept to better than 1 % at any size: 128 steps for each power of two.
class Histogram {
 public:
  /// A value below zero counts as zero.
  void Add(int64_t nanoseconds);
  uint64_t count() const { return count_; }
  int64_t max() const { return max_; }
  /// The upper end of the step that holds the value at `quantile`, 0 to 1; never above max(). 0 when nothing was added.
  int64_t At(double quantile) const;

 private:
  static constexpr int kStepBits = 7;
  static constexpr size_t kSteps = size_t{65 - kStepBits} << kStepBits;

  static size_t IndexOf(uint64_t value);
  static uint64_t UpperEnd(size_t index);

  std::array<uint64_t, kSteps> counts_{};
  uint64_t count_ = 0;
  int64_t max_ = 0;
};

}  // namespace strom::bench
