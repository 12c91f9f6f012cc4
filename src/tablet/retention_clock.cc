#include "tablet/retention_clock.h"

namespace strom::tablet {

TimestampMs RetentionClock::Read(rt::MonotonicTime now, TimestampMs wall) {
  const int64_t monotonic_ms = now.nanoseconds / 1'000'000;
  const int64_t offset = wall.value() - monotonic_ms;
  const int64_t tolerance = std::chrono::duration_cast<std::chrono::milliseconds>(kTolerance).count();
  if (!offset_ms_ || offset <= *offset_ms_ + tolerance) {
    offset_ms_ = offset;
    jumped_at_.reset();
  } else if (!jumped_at_) {
    jumped_at_ = now;
  } else if (now - *jumped_at_ >= kTrustTime) {
    offset_ms_ = offset;
    jumped_at_.reset();
  }
  return TimestampMs(monotonic_ms + *offset_ms_);
}

}  // namespace strom::tablet
