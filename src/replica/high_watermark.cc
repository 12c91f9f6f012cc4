#include "replica/high_watermark.h"

#include <algorithm>

namespace strom::replica {

LogOffset NextHighWatermark(const HighWatermarkInput& input) {
  if (input.isr_size < input.min_isr) return input.current;
  LogOffset bound = std::min(input.log_end, input.followers_end);
  if (input.wait_for_sync) bound = std::min(bound, input.synced_end);
  return std::max(input.current, bound);
}

}  // namespace strom::replica
