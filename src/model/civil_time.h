#pragma once

#include <cstdint>

namespace strom::model {

/// A date of the proleptic Gregorian calendar; month 1..12, day 1..31.
struct CivilDate {
  int64_t year;
  int32_t month;
  int32_t day;
};

/// Days since 1970-01-01, for any year.
int64_t DaysFromCivil(int64_t year, int32_t month, int32_t day);
CivilDate CivilFromDays(int64_t days);
int32_t DaysInMonth(int64_t year, int32_t month);
/// 0 = Sunday.
int32_t WeekdayFromDays(int64_t days);

/// Rounds towards minus infinity; `b` > 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t FloorMod(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

}  // namespace strom::model
