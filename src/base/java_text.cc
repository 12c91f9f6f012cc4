#include "base/java_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace strom {

namespace {

struct Digits {
  std::string digits;  // without point
  int exponent = 0;    // of the first digit
};

/// Takes "d.ddde+nn" apart.
Digits Parse(std::string_view scientific) {
  Digits result;
  const size_t e = scientific.find('e');
  for (const char c : scientific.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  std::string_view exponent = scientific.substr(e + 1);
  if (exponent.front() == '+') exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), result.exponent);
  return result;
}

template <typename Float>
Digits ShortestDigits(Float magnitude) {
  std::array<char, 64> room;
  auto end = std::to_chars(room.data(), room.data() + room.size(), magnitude, std::chars_format::scientific).ptr;
  Digits result = Parse({room.data(), static_cast<size_t>(end - room.data())});
  if (result.digits.size() == 1) {
    // Java chooses among the two-digit numbers that read back, so the smallest double is 4.9E-324 and not 5.0E-324.
    end = std::to_chars(room.data(), room.data() + room.size(), magnitude, std::chars_format::scientific, 1).ptr;
    result = Parse({room.data(), static_cast<size_t>(end - room.data())});
  }
  return result;
}

template <typename Float>
std::string Text(Float value) {
  if (std::isnan(value)) return "NaN";
  std::string text = std::signbit(value) ? "-" : "";
  const Float magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return text + "Infinity";
  if (magnitude == 0) return text + "0.0";
  auto [digits, exponent] = ShortestDigits(magnitude);
  if (exponent < -3 || exponent >= 7) {
    text += digits[0];
    text += '.';
    text += digits.substr(1);
    return text + "E" + std::to_string(exponent);
  }
  if (exponent < 0) {
    if (digits.back() == '0') digits.pop_back();  // the second digit of a number that needs one
    return text + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  }
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) digits.append(whole + 1 - digits.size(), '0');
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

}  // namespace

std::string JavaText(float value) { return Text(value); }
std::string JavaText(double value) { return Text(value); }

}  // namespace strom
