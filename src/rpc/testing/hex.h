#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace strom::rpc::testing {

/// Bytes of hexadecimal digits; blanks between them are for the reader.
inline Buffer Hex(std::string_view digits) {
  const auto value = [](char digit) { return static_cast<uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10); };
  MutableBuffer bytes;
  std::string compact;
  for (const char digit : digits) {
    if (digit != ' ') compact.push_back(digit);
  }
  for (size_t i = 0; i + 1 < compact.size(); i += 2) {
    bytes.AppendByte(static_cast<uint8_t>(value(compact[i]) << 4 | value(compact[i + 1])));
  }
  return bytes.Freeze();
}

inline std::string ToHex(ByteView bytes) {
  std::string digits;
  for (const uint8_t byte : bytes) {
    digits.push_back("0123456789abcdef"[byte >> 4]);
    digits.push_back("0123456789abcdef"[byte & 15]);
  }
  return digits;
}

}  // namespace strom::rpc::testing
