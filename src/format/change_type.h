#pragma once

#include <cstdint>
#include <string_view>

namespace strom::format {

/// What happened to a row. The codes are those of log records and of the change type vector (spec/formats.md 2).
enum class ChangeType : uint8_t {
  kAppendOnly = 0,
  kInsert = 1,
  kUpdateBefore = 2,
  kUpdateAfter = 3,
  kDelete = 4,
};

inline constexpr uint8_t kChangeTypeMax = 4;

/// "+A", "+I", "-U", "+U", "-D"
constexpr std::string_view ChangeTypeName(ChangeType type) {
  constexpr std::string_view kNames[] = {"+A", "+I", "-U", "+U", "-D"};
  return kNames[static_cast<uint8_t>(type)];
}

}  // namespace strom::format
