#pragma once

#include <algorithm>
#include <optional>

#include "base/timestamp.h"
#include "rt/time.h"

namespace strom::log {

/// The wall clock as retention may believe it. A wall clock that jumps forward (a bad time server, a machine that wakes up) must not expire
/// everything at once, so this one moves at most twice as fast as time itself: a jump by ten days is caught up in ten days, and what expires
/// in that time expires at twice its pace. A jump backward is followed at once: it only keeps things longer. The first call believes the wall.
///
/// Commit timestamps and the expiry of writers do not ask it: they follow log time, which is the same on all replicas.
class RetentionClock {
 public:
  TimestampMs Advance(TimestampMs wall, rt::MonotonicTime now) {
    if (!last_) {
      believed_ = wall;
    } else {
      const int64_t passed_ms = std::max<int64_t>(0, (now - *last_).count() / 1'000'000);
      believed_ = std::min(wall, TimestampMs(believed_.value() + 2 * passed_ms));
    }
    last_ = now;
    return believed_;
  }

 private:
  std::optional<rt::MonotonicTime> last_;
  TimestampMs believed_;
};

}  // namespace strom::log
