#pragma once

#include <fmt/format.h>

#include <string>

namespace strom {

/// Prints where and what, then aborts. Never returns.
[[noreturn]] void AssertFailed(const char* file, int line, const char* expression, const std::string& message);

}  // namespace strom

/// Our own mistake: on in production, prints values and aborts. User bytes never reach one.
/// STROM_ASSERT(condition, "format {}", values...)
#define STROM_ASSERT(condition, ...)                                                            \
  do {                                                                                          \
    if (!(condition)) [[unlikely]] {                                                            \
      ::strom::AssertFailed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__));     \
    }                                                                                           \
  } while (false)
