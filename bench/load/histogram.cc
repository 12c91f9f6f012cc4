#include "load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace strom::bench {

size_t Histogram::IndexOf(uint64_t value) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - (kStepBits + 1));
  // Below 2^(kStepBits + 1) each value has a step of its own; above, the top bit says which power of two.
  return (static_cast<size_t>(shift) << kStepBits) + static_cast<size_t>(value >> shift);
}

uint64_t Histogram::UpperEnd(size_t index) {
  constexpr size_t kStepsPerPower = size_t{1} << kStepBits;
  if (index < 2 * kStepsPerPower) return index;
  const size_t shift = (index >> kStepBits) - 1;
  const uint64_t step = kStepsPerPower + (index & (kStepsPerPower - 1));
  return ((step + 1) << shift) - 1;
}

void Histogram::Add(int64_t nanoseconds) {
  const int64_t value = std::max<int64_t>(nanoseconds, 0);
  ++counts_[IndexOf(static_cast<uint64_t>(value))];
  ++count_;
  max_ = std::max(max_, value);
}

int64_t Histogram::At(double quantile) const {
  const auto wanted = static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count_)));
  uint64_t seen = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted && seen > 0) return std::min(static_cast<int64_t>(UpperEnd(i)), max_);
  }
  return 0;
}

}  // namespace strom::bench
