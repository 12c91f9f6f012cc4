#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "log/segment.h"
#include "log/writer_state.h"
#include "model/ids.h"
#include "rt/file.h"

namespace strom::log {

/// What a whole read of a segment file finds: the good batches at its start, and why it does not go on.
struct SegmentScan {
  enum class Stop {
    kEnd,    // all of the file is good batches
    kTorn,   // what is left is the beginning of a batch, as a write that was cut short leaves it
    kZeros,  // what is left is zeros: preallocated space, or blocks that never reached the disk
    kBad,    // a whole batch that is not what it should be
  };
  explicit SegmentScan(LogOffset base, uint32_t index_interval)
      : base_offset(base), index(base, index_interval), next_offset(base), writers(INT64_MAX) {}

  LogOffset base_offset;    // of the segment
  IndexBuilder index;       // of the good batches
  uint64_t file_size = 0;
  uint64_t valid_size = 0;  // of the good batches
  LogOffset next_offset;    // after the last good batch
  WriterState writers;      // of the good batches
  Stop stop = Stop::kEnd;
  std::string reason;       // file, position and what is wrong there; empty at the end
};

/// Reads the segment `base` from its start: header, offsets dense, CRC of every batch. Only reads; errors are those of the disk.
/// A torn batch whose bytes hold its successor, whole, is not torn: its length lies, and it counts as bad.
Result<SegmentScan> ScanSegment(const rt::File& file, LogOffset base, const SegmentContext& context);

}  // namespace strom::log
