#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include "base/bytes.h"

namespace strom::format {

/// Base-128 of the unsigned pattern, low group first, bit 7 = more follows, no zigzag: -1 takes 5 bytes (32 bit) or 10 (64 bit).
/// Source: spec/formats.md 0.
inline constexpr size_t kVarintSizeMax32 = 5;
inline constexpr size_t kVarintSizeMax64 = 10;

template <std::unsigned_integral T>
size_t VarintSize(T value) {
  return (static_cast<size_t>(std::bit_width(static_cast<T>(value | 1))) + 6) / 7;
}

/// Writes at `to`, which has room, and returns the count of bytes.
template <std::unsigned_integral T>
size_t PutVarint(uint8_t* to, T value) {
  size_t size = 0;
  while (value >= 0x80) {
    to[size++] = static_cast<uint8_t>(value | 0x80);
    value = static_cast<T>(value >> 7);
  }
  to[size++] = static_cast<uint8_t>(value);
  return size;
}

template <std::unsigned_integral T>
void AppendVarint(T value, MutableBuffer* out) {
  PutVarint(out->Extend(VarintSize(value)), value);
}

/// Reads at the start of `bytes` and returns the count of bytes taken; 0 when they end too early or say more than T holds.
template <std::unsigned_integral T>
size_t GetVarint(ByteView bytes, T* value) {
  T result = 0;
  constexpr size_t kSizeMax = sizeof(T) == 4 ? kVarintSizeMax32 : kVarintSizeMax64;
  const size_t end = bytes.size() < kSizeMax ? bytes.size() : kSizeMax;
  for (size_t i = 0; i < end; ++i) {
    const uint8_t byte = bytes[i];
    const auto shift = static_cast<unsigned>(7 * i);
    const T group = static_cast<T>(byte & 0x7F);
    if (static_cast<T>(static_cast<T>(group << shift) >> shift) != group) return 0;
    result = static_cast<T>(result | static_cast<T>(group << shift));
    if ((byte & 0x80) == 0) {
      *value = result;
      return i + 1;
    }
  }
  return 0;
}

}  // namespace strom::format
