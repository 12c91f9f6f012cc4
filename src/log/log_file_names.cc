#include "log/log_file_names.h"

#include <fmt/format.h>

#include <charconv>

namespace strom::log {

namespace {
constexpr size_t kDigits = 20;
}

std::string LogFilePath(std::string_view directory, LogOffset offset, std::string_view suffix) {
  return fmt::format("{}/{:020}{}", directory, offset.value(), suffix);
}

std::optional<LogOffset> ParseLogFileName(std::string_view name, std::string_view suffix) {
  if (name.size() != kDigits + suffix.size() || name.substr(kDigits) != suffix) return std::nullopt;
  int64_t offset = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + kDigits, offset);
  if (error != std::errc() || end != name.data() + kDigits || offset < 0 || name[0] == '-') return std::nullopt;
  return LogOffset(offset);
}

}  // namespace strom::log
