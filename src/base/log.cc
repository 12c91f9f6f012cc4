#include "base/log.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace strom {

namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::info;
}

std::shared_ptr<spdlog::logger> MakeLogger(const LogOptions& options) {
  std::vector<spdlog::sink_ptr> sinks;
  if (options.file.empty()) {
    sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  } else {
    sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(options.file, options.file_size_max,
                                                                           options.files_count_max));
  }
  auto logger = std::make_shared<spdlog::logger>("strom", sinks.begin(), sinks.end());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %L %v");
  logger->set_level(ToSpdlog(options.level));
  logger->flush_on(spdlog::level::info);
  return logger;
}

std::shared_ptr<spdlog::logger>& Logger() {
  static std::shared_ptr<spdlog::logger> logger = MakeLogger({});
  return logger;
}

}  // namespace

void InitLog(const LogOptions& options) {
  try {
    Logger() = MakeLogger(options);
  } catch (const std::exception& e) {
    Logger()->error("cannot write the log to {}: {}; log lines stay on standard error", options.file, e.what());
  }
}

bool LogEnabled(LogLevel level) { return Logger()->should_log(ToSpdlog(level)); }

void WriteLog(LogLevel level, std::string_view line) {
  Logger()->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

void FlushLog() { Logger()->flush(); }

}  // namespace strom
