#pragma once

#include <cstdint>

#include "format/arrow_layout.h"

namespace strom::format {

/// A TIME, given in milliseconds of the day, in the unit of its Arrow column.
constexpr int64_t ArrowTicksOfTime(int64_t millis, int32_t precision) {
  const int64_t ticks = ArrowTicksPerSecond(precision);
  return ticks == 1 ? millis / 1000 : millis * (ticks / 1000);
}

/// A TIMESTAMP in the unit of its Arrow column; false where it does not fit into 64 bits. Seconds are cut toward zero, as Java does.
constexpr bool ArrowTicksOfTimestamp(int64_t millis, int32_t nanos_of_milli, int32_t precision, int64_t* ticks) {
  const int64_t ticks_per_second = ArrowTicksPerSecond(precision);
  if (ticks_per_second == 1) {
    *ticks = millis / 1000;
    return true;
  }
  const int64_t ticks_per_milli = ticks_per_second / 1000;
  const int64_t fraction = nanos_of_milli / (1'000'000 / ticks_per_milli);
  return !__builtin_mul_overflow(millis, ticks_per_milli, ticks) && !__builtin_add_overflow(*ticks, fraction, ticks);
}

/// The way back: milliseconds of the day.
constexpr int64_t MillisOfArrowTime(int64_t ticks, int32_t precision) {
  const int64_t ticks_per_second = ArrowTicksPerSecond(precision);
  if (ticks_per_second == 1) return ticks * 1000;
  const int64_t by = ticks_per_second / 1000;
  return ticks / by - (ticks % by < 0 ? 1 : 0);
}

/// The way back, by floor division; false where the milliseconds do not fit into 64 bits.
constexpr bool TimestampOfArrowTicks(int64_t ticks, int32_t precision, int64_t* millis, int32_t* nanos_of_milli) {
  const int64_t ticks_per_second = ArrowTicksPerSecond(precision);
  *nanos_of_milli = 0;
  if (ticks_per_second == 1) return !__builtin_mul_overflow(ticks, int64_t{1000}, millis);
  const int64_t ticks_per_milli = ticks_per_second / 1000;
  *millis = ticks / ticks_per_milli - (ticks % ticks_per_milli < 0 ? 1 : 0);
  *nanos_of_milli = static_cast<int32_t>((ticks - *millis * ticks_per_milli) * (1'000'000 / ticks_per_milli));
  return true;
}

}  // namespace strom::format
