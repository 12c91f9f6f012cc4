#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/ids.h"
#include "model/layout.h"

namespace strom::log {

// The files of a log tablet directory (spec/formats.md 10.1): 20 decimal digits of an offset and a suffix.
inline constexpr std::string_view kLogSuffix = model::kSegmentSuffix;
using model::kOffsetIndexSuffix;
using model::kTimeIndexSuffix;
using model::kWriterSnapshotSuffix;
/// What recovery cut off is kept under the file's name and this; nothing reads it again.
inline constexpr std::string_view kCutSuffix = ".cut";

/// Stands there while a truncation is not durable: whoever finds it at a start syncs the segments first, so that a later power loss cannot bring
/// back what was cut, between what was appended since.
inline constexpr const char* kTruncationMark = "truncation-in-flight";

/// `<directory>/<20 digits><suffix>`
std::string LogFilePath(std::string_view directory, LogOffset offset, std::string_view suffix);

/// The offset of a name that is 20 digits and exactly `suffix`. Nothing for one so large that a log could not go on from it.
std::optional<LogOffset> ParseLogFileName(std::string_view name, std::string_view suffix);

}  // namespace strom::log
