#include "model/civil_time.h"
#include "model/names.h"
#include "model/time_zone.h"

namespace strom::model {

/// A cursor over a POSIX TZ text: "CET-1CEST,M3.5.0,M10.5.0/3".
class RuleText {
 public:
  explicit RuleText(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// A name of letters, or of anything between < and >.
  bool TakeName() {
    size_t length = 0;
    if (Take('<')) {
      length = rest_.find('>');
      if (length == std::string_view::npos) return false;
      rest_.remove_prefix(length + 1);
      return length > 0;
    }
    while (length < rest_.size() && IsLetter(rest_[length])) ++length;
    rest_.remove_prefix(length);
    return length > 0;
  }
  bool TakeNumber(int32_t max, int32_t* number) {
    size_t length = 0;
    int32_t value = 0;
    while (length < rest_.size() && length < 4 && rest_[length] >= '0' && rest_[length] <= '9') {
      value = value * 10 + (rest_[length++] - '0');
    }
    rest_.remove_prefix(length);
    *number = value;
    return length > 0 && value <= max;
  }
  /// [+-]hh[:mm[:ss]]
  bool TakeTime(int32_t* seconds) {
    const bool negative = Take('-');
    if (!negative) Take('+');
    int32_t hours = 0;
    int32_t minutes = 0;
    int32_t rest = 0;
    if (!TakeNumber(167, &hours)) return false;
    if (Take(':') && !TakeNumber(59, &minutes)) return false;
    if (Take(':') && !TakeNumber(59, &rest)) return false;
    *seconds = (hours * 3600 + minutes * 60 + rest) * (negative ? -1 : 1);
    return true;
  }
  bool TakeDay(TimeZone::RuleDay* day) {
    using Form = TimeZone::RuleDay::Form;
    if (Take('M')) {
      day->form = Form::kMonthWeekday;
      if (!TakeNumber(12, &day->month) || day->month < 1 || !Take('.') || !TakeNumber(5, &day->week) || day->week < 1 ||
          !Take('.') || !TakeNumber(6, &day->weekday)) {
        return false;
      }
    } else {
      day->form = Take('J') ? Form::kJulian : Form::kZeroBased;
      if (!TakeNumber(365, &day->day) || (day->form == Form::kJulian && day->day < 1)) return false;
    }
    return !Take('/') || TakeTime(&day->seconds);
  }

 private:
  static bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

  std::string_view rest_;
};

Result<TimeZone::Rules> TimeZone::Rules::Parse(std::string_view text) {
  RuleText cursor(text);
  Rules rules;
  const Error malformed =
      MakeError(ErrorCode::kInvalidConfig, "the rule {} of a time zone file cannot be read", Shown(text));
  int32_t west = 0;
  if (!cursor.TakeName() || !cursor.TakeTime(&west)) return malformed;
  rules.standard_offset = -west;
  if (cursor.AtEnd()) return rules;
  if (!cursor.TakeName()) return malformed;
  rules.has_daylight = true;
  rules.daylight_offset = rules.standard_offset + 3600;
  if (!cursor.Take(',')) {
    if (!cursor.TakeTime(&west) || !cursor.Take(',')) return malformed;
    rules.daylight_offset = -west;
  }
  if (!cursor.TakeDay(&rules.daylight_start) || !cursor.Take(',') || !cursor.TakeDay(&rules.daylight_end) ||
      !cursor.AtEnd()) {
    return malformed;
  }
  return rules;
}

namespace {

int64_t DayInYear(int64_t year, int32_t month, int32_t week, int32_t weekday) {
  const int64_t first = DaysFromCivil(year, month, 1);
  int32_t day = static_cast<int32_t>(FloorMod(weekday - WeekdayFromDays(first), 7)) + 7 * (week - 1);
  while (day >= DaysInMonth(year, month)) day -= 7;
  return first + day;
}

}  // namespace

int32_t TimeZone::Rules::OffsetAt(int64_t utc_seconds) const {
  if (!has_daylight) return standard_offset;
  const int64_t year = CivilFromDays(FloorDiv(utc_seconds + standard_offset, 86400)).year;
  const auto local_change = [&](const RuleDay& rule) {
    int64_t day = 0;
    switch (rule.form) {
      case RuleDay::Form::kMonthWeekday:
        day = DayInYear(year, rule.month, rule.week, rule.weekday);
        break;
      case RuleDay::Form::kZeroBased:
        day = DaysFromCivil(year, 1, 1) + rule.day;
        break;
      case RuleDay::Form::kJulian: {
        // Days 1 to 365, of which no one is 29 February.
        const bool behind_leap_day = DaysInMonth(year, 2) == 29 && rule.day >= 60;
        day = DaysFromCivil(year, 1, 1) + rule.day - 1 + (behind_leap_day ? 1 : 0);
        break;
      }
    }
    return day * 86400 + rule.seconds;
  };
  const int64_t start = local_change(daylight_start) - standard_offset;
  const int64_t end = local_change(daylight_end) - daylight_offset;
  const bool daylight =
      start < end ? utc_seconds >= start && utc_seconds < end : utc_seconds >= start || utc_seconds < end;
  return daylight ? daylight_offset : standard_offset;
}

}  // namespace strom::model
