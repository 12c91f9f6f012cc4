#pragma once

#include <chrono>
#include <optional>

#include "base/timestamp.h"
#include "rt/time.h"

namespace strom::tablet {

/// The time by which data expires: the wall clock, but a jump of it ahead is believed only once it has lasted, so that a clock that was set
/// wrong for a moment does not expire everything at once (design.md 2, Time). A jump back is followed at once: that deletes nothing.
class RetentionClock {
 public:
  /// A jump ahead up to this size is a correction, not a jump.
  static constexpr rt::Duration kTolerance = std::chrono::minutes(1);
  /// How long a jump ahead must last.
  static constexpr rt::Duration kTrustTime = std::chrono::hours(1);

  TimestampMs Read(rt::MonotonicTime now, TimestampMs wall);

 private:
  std::optional<int64_t> offset_ms_;      // wall - monotonic, as believed
  std::optional<rt::MonotonicTime> jumped_at_;  // since when the wall clock is ahead of that
};

}  // namespace strom::tablet
