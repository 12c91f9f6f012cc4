#pragma once

#include <cstdint>

#include "base/timestamp.h"

namespace strom::log {

/// Whether `now` lies more than `limit_ms` after `stamp`. A stamp of a log may be any number: the CRC does not cover commit times.
inline bool IsOlderThan(TimestampMs stamp, TimestampMs now, int64_t limit_ms) {
  int64_t age = 0;
  if (__builtin_sub_overflow(now.value(), stamp.value(), &age)) return now > stamp;
  return age > limit_ms;
}

}  // namespace strom::log
