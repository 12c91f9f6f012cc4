#include "kv/decimal_math.h"

#include <algorithm>
#include <array>

namespace strom::kv {

using format::Int128;
using UInt128 = unsigned __int128;

namespace {

UInt128 MagnitudeOf(Int128 value) { return value < 0 ? -static_cast<UInt128>(value) : static_cast<UInt128>(value); }

/// 256 bits, the lowest 64 first.
using Wide = std::array<uint64_t, 4>;

Wide Multiplied(UInt128 a, UInt128 b) {
  const std::array<uint64_t, 2> x = {static_cast<uint64_t>(a), static_cast<uint64_t>(a >> 64)};
  const std::array<uint64_t, 2> y = {static_cast<uint64_t>(b), static_cast<uint64_t>(b >> 64)};
  Wide product{};
  for (size_t i = 0; i < 2; ++i) {
    UInt128 carry = 0;
    for (size_t j = 0; j < 2; ++j) {
      carry += static_cast<UInt128>(x[i]) * y[j] + product[i + j];
      product[i + j] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    product[i + 2] = static_cast<uint64_t>(carry);
  }
  return product;
}

/// The product of two magnitudes of at most 2^127 is at most 2^254, so the sum cannot overflow.
void Add(UInt128 addend, Wide* wide) {
  const std::array<uint64_t, 4> parts = {static_cast<uint64_t>(addend), static_cast<uint64_t>(addend >> 64), 0, 0};
  UInt128 carry = 0;
  for (size_t i = 0; i < 4; ++i) {
    carry += static_cast<UInt128>((*wide)[i]) + parts[i];
    (*wide)[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
}

void Divide(uint64_t divisor, Wide* wide) {
  UInt128 rest = 0;
  for (size_t i = 4; i-- > 0;) {
    rest = rest << 64 | (*wide)[i];
    (*wide)[i] = static_cast<uint64_t>(rest / divisor);
    rest %= divisor;
  }
}

}  // namespace

std::optional<Int128> SumOfDecimals(Int128 a, Int128 b, int32_t precision) {
  Int128 sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  if (MagnitudeOf(sum) >= static_cast<UInt128>(format::PowerOfTen(precision))) return std::nullopt;
  return sum;
}

std::optional<Int128> ProductOfDecimals(Int128 a, Int128 b, int32_t precision, int32_t scale) {
  Wide product = Multiplied(MagnitudeOf(a), MagnitudeOf(b));
  if (scale > 0) {
    // Half of the divisor first: then cutting off rounds halves up. 10^19 is the largest power of ten in 64 bits.
    Add(static_cast<UInt128>(format::PowerOfTen(scale)) / 2, &product);
    for (int32_t digits = scale; digits > 0; digits -= 19)
      Divide(static_cast<uint64_t>(format::PowerOfTen(std::min(digits, 19))), &product);
  }
  const UInt128 magnitude = static_cast<UInt128>(product[1]) << 64 | product[0];
  if (product[2] != 0 || product[3] != 0 || magnitude >= static_cast<UInt128>(format::PowerOfTen(precision)))
    return std::nullopt;
  return (a < 0) != (b < 0) ? -static_cast<Int128>(magnitude) : static_cast<Int128>(magnitude);
}

}  // namespace strom::kv
