#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace strom {

/// CRC-32C (Castagnoli, reflected 0x82F63B78) of `bytes`, going on from `crc`, the value of what came before (0 at the start).
/// Uses SSE 4.2 where the processor has it. Source: spec/formats.md 0.
uint32_t Crc32c(ByteView bytes, uint32_t crc = 0);

namespace internal {
uint32_t Crc32cPortable(ByteView bytes, uint32_t crc);
}

}  // namespace strom
