#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace strom {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  std::string file;                 // empty: standard error only
  size_t file_size_max = 64 << 20;  // bytes; then the file is rotated
  size_t files_count_max = 5;
};

/// Sets where log lines go. Before it is called they go to standard error from kInfo on.
void InitLog(const LogOptions& options);
bool LogEnabled(LogLevel level);
void WriteLog(LogLevel level, std::string_view line);
void FlushLog();

template <typename... Args>
void Log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(level)) WriteLog(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace strom

/// One line per event that an operator acts on, with bucket, epoch and offsets.
#define STROM_LOG_DEBUG(...) ::strom::Log(::strom::LogLevel::kDebug, __VA_ARGS__)
#define STROM_LOG_INFO(...) ::strom::Log(::strom::LogLevel::kInfo, __VA_ARGS__)
#define STROM_LOG_WARN(...) ::strom::Log(::strom::LogLevel::kWarn, __VA_ARGS__)
#define STROM_LOG_ERROR(...) ::strom::Log(::strom::LogLevel::kError, __VA_ARGS__)
