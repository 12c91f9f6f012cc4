#pragma once

#include <compare>
#include <cstdint>

namespace strom {

/// A TIMESTAMP or TIMESTAMP_LTZ of a row: milliseconds since 1970-01-01 (rounded down) and nanoseconds within them, 0 to 999,999.
/// Source: spec/formats.md 0.
struct TimestampValue {
  int64_t millis = 0;
  int32_t nanos_of_milli = 0;
  auto operator<=>(const TimestampValue&) const = default;
};

}  // namespace strom
