#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace strom::model {

inline constexpr std::string_view kZoneFolder = "/usr/share/zoneinfo";

/// The offset of local time from UTC over time. A plain value, cheap to copy.
class TimeZone {
 public:
  /// UTC.
  TimeZone() = default;
  static TimeZone Fixed(int32_t offset_seconds);

  /// A zone by the ids that Java knows: "UTC", "Z", "GMT+8", "UTC-03:30", "+08:00", "Asia/Shanghai", short ids such as "PST".
  /// Regions are read from the system's zone files (package tzdata). kInvalidConfig for an unknown id or a missing package.
  static Result<TimeZone> Find(std::string_view id, std::string_view zone_folder = kZoneFolder);
  /// The zone of this machine: the variable TZ, else /etc/localtime, else UTC.
  static TimeZone Local();
  /// The content of a zone file (RFC 8536, any version). kInvalidConfig when it is malformed.
  static Result<TimeZone> FromZoneFile(ByteView content);

  /// Seconds east of UTC at an instant (seconds since 1970-01-01 UTC).
  int32_t OffsetAt(int64_t utc_seconds) const;
  /// The local time (seconds, as if it were UTC) that stands for `local_seconds`: itself, or, where the clock skips it, the time
  /// as much later as the clock skips.
  int64_t Normalize(int64_t local_seconds) const;

 private:
  struct Transition {
    int64_t at;  // UTC seconds; the offset holds from there on
    int32_t offset;
  };
  /// A day of each year on which the clock changes.
  struct RuleDay {
    enum class Form { kMonthWeekday, kJulian, kZeroBased } form = Form::kMonthWeekday;
    int32_t month = 1;
    int32_t week = 1;     // 5: the last one
    int32_t weekday = 0;  // 0: Sunday
    int32_t day = 0;      // of the year
    int32_t seconds = 7200;
  };
  /// What holds after the last transition: the POSIX TZ text at the end of a zone file.
  struct Rules {
    int32_t standard_offset = 0;
    bool has_daylight = false;
    int32_t daylight_offset = 0;
    RuleDay daylight_start;
    RuleDay daylight_end;

    static Result<Rules> Parse(std::string_view text);
    int32_t OffsetAt(int64_t utc_seconds) const;
  };
  struct Data {
    int32_t first_offset = 0;
    std::vector<Transition> transitions;  // ascending
    bool has_rules = false;
    Rules rules;
  };
  friend class ZoneFileReader;
  friend class RuleText;

  std::shared_ptr<const Data> data_;  // null: UTC
};

}  // namespace strom::model
