#include "log/log_file_names.h"

#include <fmt/format.h>

namespace strom::log {

namespace {
constexpr int64_t kOffsetMax = int64_t{1} << 62;
}

std::string LogFilePath(std::string_view directory, LogOffset offset, std::string_view suffix) {
  return fmt::format("{}/{}", directory, model::OffsetFileName(offset, suffix));
}

std::optional<LogOffset> ParseLogFileName(std::string_view name, std::string_view suffix) {
  const std::optional<LogOffset> offset = model::ParseOffsetFileName(name, suffix);
  if (!offset || offset->value() < 0 || offset->value() > kOffsetMax) return std::nullopt;
  return offset;
}

}  // namespace strom::log
