#pragma once

#include "model/ids.h"

namespace strom::replica {

/// What the high watermark of a leader follows from.
struct HighWatermarkInput {
  LogOffset current;        // never goes back
  LogOffset log_end;
  LogOffset synced_end;     // everything below is on the disk
  bool wait_for_sync = false;  // log.flush.interval-messages = 1: group commit
  size_t isr_size = 1;
  size_t min_isr = 1;
  LogOffset followers_end;  // least log end of the followers in the maximal ISR; the leader's own log end without followers
};

/// The high watermark that follows: the least end that every copy which counts has reached, and, with group commit, the disk,
/// too. Stands still while the ISR is below its minimum. Source: spec/server.md 9.2, design-replication.md 1.
LogOffset NextHighWatermark(const HighWatermarkInput& input);

}  // namespace strom::replica
