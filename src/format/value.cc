#include "format/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace strom::format {

namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      quoted += c;
    } else {
      quoted += fmt::format("\\x{:02x}", byte);
    }
  }
  return quoted + "\"";
}

}  // namespace

Value Value::Owned() const {
  switch (kind_) {
    case Kind::kBytes:
      return String(std::string(text()));
    case Kind::kArray:
    case Kind::kMap:
    case Kind::kRow: {
      Items owned;
      owned.reserve(items().size());
      for (const Value& item : items()) owned.push_back(item.Owned());
      return Value(kind_, std::move(owned));
    }
    default:
      return *this;
  }
}

bool operator==(const Value& a, const Value& b) {
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Value::Kind::kFloat:
      return std::bit_cast<uint32_t>(a.float_value()) == std::bit_cast<uint32_t>(b.float_value());
    case Value::Kind::kDouble:
      return std::bit_cast<uint64_t>(a.double_value()) == std::bit_cast<uint64_t>(b.double_value());
    case Value::Kind::kBytes:
      return a.text() == b.text();
    default:
      return a.data_ == b.data_;
  }
}

std::string_view KindName(Value::Kind kind) {
  constexpr std::string_view kNames[] = {"null",    "boolean",   "integer", "float", "double", "bytes",
                                         "decimal", "timestamp", "array",   "map",   "row"};
  return kNames[static_cast<size_t>(kind)];
}

std::string Value::ToString() const {
  switch (kind_) {
    case Kind::kNull:
      return "null";
    case Kind::kBoolean:
      return boolean() ? "true" : "false";
    case Kind::kInteger:
      return std::to_string(integer());
    case Kind::kFloat:
      return fmt::format("{}f", float_value());
    case Kind::kDouble:
      return fmt::format("{}", double_value());
    case Kind::kBytes:
      return Quoted(text());
    case Kind::kDecimal:
      return Int128ToString(decimal()) + "d";
    case Kind::kTimestamp:
      return fmt::format("{}ms+{}ns", timestamp().millis, timestamp().nanos_of_milli);
    case Kind::kArray:
    case Kind::kMap:
    case Kind::kRow:
      break;
  }
  const std::string_view brackets = kind_ == Kind::kArray ? "[]" : kind_ == Kind::kMap ? "{}" : "()";
  std::string text(1, brackets[0]);
  for (size_t i = 0; i < items().size(); ++i) {
    if (i > 0) text += ", ";
    text += items()[i].ToString();
  }
  return text + brackets[1];
}

std::string Int128ToString(Int128 value) {
  // Digits from the back; the magnitude is unsigned so that the smallest value works, too.
  auto magnitude = static_cast<unsigned __int128>(value);
  if (value < 0) magnitude = 0 - magnitude;
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  if (value < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string DecimalToString(Int128 unscaled, int32_t scale) {
  std::string text = Int128ToString(unscaled);
  if (scale <= 0) return text;
  const size_t sign = unscaled < 0 ? 1 : 0;
  const auto fraction = static_cast<size_t>(scale);
  if (text.size() - sign <= fraction) text.insert(sign, fraction + 1 - (text.size() - sign), '0');
  text.insert(text.size() - fraction, 1, '.');
  return text;
}

Int128 PowerOfTen(int32_t exponent) {
  STROM_ASSERT(exponent >= 0 && exponent <= 38, "10^{} does not fit 128 bits", exponent);
  Int128 power = 1;
  for (int32_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

}  // namespace strom::format
