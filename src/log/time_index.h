#pragma once

#include <cstdint>

#include "base/endian.h"
#include "log/index_file.h"

namespace strom::log {

/// `.timeindex` (spec/formats.md 10.2): 12 bytes an entry, **big-endian**: i64 largest commit timestamp so far, i32 base offset of the batch that first
/// had it less the segment's base. Timestamps grow strictly.
struct TimeIndexEntry {
  static constexpr size_t kSize = 12;
  int64_t timestamp = 0;
  uint32_t relative_offset = 0;

  static TimeIndexEntry Load(const uint8_t* from) { return {LoadBe<int64_t>(from), LoadBe<uint32_t>(from + 8)}; }
  void Store(uint8_t* to) const {
    StoreBe(to, timestamp);
    StoreBe(to + 8, relative_offset);
  }
  auto operator<=>(const TimeIndexEntry&) const = default;
};

using TimeIndex = IndexFile<TimeIndexEntry>;

}  // namespace strom::log
