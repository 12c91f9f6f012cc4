#pragma once

#include <cstdint>

#include "base/endian.h"
#include "log/index_file.h"

namespace strom::log {

/// `.index` (spec/formats.md 10.2): 8 bytes an entry, **big-endian**: i32 last offset of an append less the segment's base, i32 file position where
/// that append begins.
struct OffsetIndexEntry {
  static constexpr size_t kSize = 8;
  uint32_t relative_offset = 0;
  uint32_t position = 0;

  static OffsetIndexEntry Load(const uint8_t* from) { return {LoadBe<uint32_t>(from), LoadBe<uint32_t>(from + 4)}; }
  void Store(uint8_t* to) const {
    StoreBe(to, relative_offset);
    StoreBe(to + 4, position);
  }
  auto operator<=>(const OffsetIndexEntry&) const = default;
};

using OffsetIndex = IndexFile<OffsetIndexEntry>;

}  // namespace strom::log
