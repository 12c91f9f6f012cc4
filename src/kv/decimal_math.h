#pragma once

#include <cstdint>
#include <optional>

#include "format/value.h"

namespace strom::kv {

/// Arithmetic on unscaled DECIMAL(precision, scale) values; both operands and the result have that type. Nothing where the result has more digits than
/// the precision allows, which the reference makes a null (spec/formats.md 13.4). The operands may have any value.
std::optional<format::Int128> SumOfDecimals(format::Int128 a, format::Int128 b, int32_t precision);
/// Rounded to the scale, halves away from zero.
std::optional<format::Int128> ProductOfDecimals(format::Int128 a, format::Int128 b, int32_t precision, int32_t scale);

}  // namespace strom::kv
