#pragma once

#include <chrono>
#include <cstdint>

#include "base/timestamp.h"

namespace strom::rt {

using Duration = std::chrono::nanoseconds;

/// A point of the monotonic clock. In the simulator it is the simulated clock.
struct MonotonicTime {
  int64_t nanoseconds = 0;

  constexpr auto operator<=>(const MonotonicTime&) const = default;
  constexpr MonotonicTime operator+(Duration d) const { return {nanoseconds + d.count()}; }
  constexpr Duration operator-(MonotonicTime other) const { return Duration(nanoseconds - other.nanoseconds); }
  static constexpr MonotonicTime Never() { return {INT64_MAX}; }
};

/// The clocks of the executor that runs this thread. Logic asks these, never std::chrono.
MonotonicTime Now();
TimestampMs WallClockNow();

}  // namespace strom::rt
