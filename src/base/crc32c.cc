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

/// What `count` zero bytes make of a CRC register, as tables by byte of the register: linear, so the parts are xored.
class ZerosOperator {
 public:
  explicit constexpr ZerosOperator(size_t count) {
    for (int bit = 0; bit < 32; ++bit) {
      uint32_t state = uint32_t{1} << bit;
      for (size_t i = 0; i < count; ++i) state = (state >> 8) ^ internal::kTable[state & 0xFF];
      basis_[bit] = state;
    }
    for (size_t part = 0; part < 4; ++part) {
      for (uint32_t byte = 0; byte < 256; ++byte) {
        for (size_t bit = 0; bit < 8; ++bit) {
          if ((byte >> bit & 1) != 0) tables_[part][byte] ^= basis_[part * 8 + bit];
        }
      }
    }
  }
  uint32_t operator()(uint32_t state) const {
    return tables_[0][state & 0xFF] ^ tables_[1][state >> 8 & 0xFF] ^ tables_[2][state >> 16 & 0xFF] ^ tables_[3][state >> 24];
  }

 private:
  std::array<uint32_t, 32> basis_{};
  std::array<std::array<uint32_t, 256>, 4> tables_{};
};

/// Three neighbouring lanes of kLane bytes each at once: the instruction takes three cycles, and one can begin in each.
template <size_t kLane>
__attribute__((target("sse4.2"))) uint64_t TakeLanes(uint64_t state, const uint8_t*& at, size_t& left) {
  static_assert(kLane % 8 == 0);
  static constexpr ZerosOperator kBehind(kLane);
  while (left >= 3 * kLane) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (size_t i = 0; i < kLane; i += 8) {
      state = _mm_crc32_u64(state, LoadLe<uint64_t>(at + i));
      second = _mm_crc32_u64(second, LoadLe<uint64_t>(at + kLane + i));
      third = _mm_crc32_u64(third, LoadLe<uint64_t>(at + 2 * kLane + i));
    }
    state = kBehind(static_cast<uint32_t>(state)) ^ second;
    state = kBehind(static_cast<uint32_t>(state)) ^ third;
    at += 3 * kLane;
    left -= 3 * kLane;
  }
  return state;
}

__attribute__((target("sse4.2"))) uint32_t Crc32cHardware(ByteView bytes, uint32_t crc) {
  uint64_t state = ~crc;
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  state = TakeLanes<1024>(state, at, left);
  state = TakeLanes<128>(state, at, left);
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
