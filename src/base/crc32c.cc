#include "base/crc32c.h"

#include <array>

#include "base/endian.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace strom {

namespace internal {

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

}  // namespace

uint32_t Crc32cPortable(ByteView bytes, uint32_t crc) {
  crc = ~crc;
  for (uint8_t byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ byte) & 0xFF];
  return ~crc;
}

}  // namespace internal

#if defined(__x86_64__)

namespace {

__attribute__((target("sse4.2"))) uint32_t Crc32cHardware(ByteView bytes, uint32_t crc) {
  uint64_t state = ~crc;
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  while (left >= 8) {
    state = _mm_crc32_u64(state, LoadLe<uint64_t>(at));
    at += 8;
    left -= 8;
  }
  auto tail = static_cast<uint32_t>(state);
  while (left > 0) {
    tail = _mm_crc32_u8(tail, *at++);
    --left;
  }
  return ~tail;
}

const bool kHasSse42 = __builtin_cpu_supports("sse4.2") != 0;

}  // namespace

uint32_t Crc32c(ByteView bytes, uint32_t crc) {
  return kHasSse42 ? Crc32cHardware(bytes, crc) : internal::Crc32cPortable(bytes, crc);
}

#else

uint32_t Crc32c(ByteView bytes, uint32_t crc) { return internal::Crc32cPortable(bytes, crc); }

#endif

}  // namespace strom
