#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace strom {

static_assert(std::endian::native == std::endian::little, "the loads below are plain copies on little-endian machines");

/// Reads an integer, float or double stored little-endian at any address.
template <typename T>
T LoadLe(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void StoreLe(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <std::integral T>
T ByteSwap(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<T>(__builtin_bswap16(static_cast<uint16_t>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(value)));
  } else {
    return static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(value)));
  }
}

/// Reads an integer stored big-endian at any address.
template <std::integral T>
T LoadBe(const void* from) {
  return ByteSwap(LoadLe<T>(from));
}

template <std::integral T>
void StoreBe(void* to, T value) {
  StoreLe(to, ByteSwap(value));
}

}  // namespace strom
