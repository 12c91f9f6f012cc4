#include "log/log_file_names.h"

#include <fmt/format.h>

#include <charconv>

namespace strom::log {

namespace {
constexpr size_t kDigits = 20;
constexpr int64_t kOffsetMax = int64_t{1} << 62;  // leaves room to add
}

std::string LogFilePath(std::string_view directory, LogOffset offset, std::string_view suffix) {
  return fmt::format("{}/{:020}{}", directory, offset.value(), suffix);
}

std::optional<LogOffset> ParseLogFileName(std::string_view name, std::string_view suffix) {
  if (name.size() != kDigits + suffix.size() || name.substr(kDigits) != suffix) return std::nullopt;
  int64_t offset = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + kDigits, offset);
  if (error != std::errc() || end != name.data() + kDigits || name[0] == '-' || offset > kOffsetMax) return std::nullopt;
  return LogOffset(offset);
}

}  // namespace strom::log
