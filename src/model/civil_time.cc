#include "model/civil_time.h"

namespace strom::model {

namespace {

constexpr int64_t kDaysInEra = 146097;                // 400 years
constexpr int64_t kDaysToEpochFromYearZero = 719468;  // 0000-03-01 to 1970-01-01

bool IsLeapYear(int64_t year) {
  return FloorMod(year, 4) == 0 && (FloorMod(year, 100) != 0 || FloorMod(year, 400) == 0);
}

}  // namespace

int64_t DaysFromCivil(int64_t year, int32_t month, int32_t day) {
  // Years start in March here, so that the leap day is the last one.
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t era = FloorDiv(y, 400);
  const int64_t year_of_era = y - era * 400;
  const int64_t day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  return era * kDaysInEra + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         kDaysToEpochFromYearZero;
}

CivilDate CivilFromDays(int64_t days) {
  const int64_t shifted = days + kDaysToEpochFromYearZero;
  const int64_t era = FloorDiv(shifted, kDaysInEra);
  const int64_t day_of_era = shifted - era * kDaysInEra;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int32_t day = static_cast<int32_t>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  const int32_t month = static_cast<int32_t>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

int32_t DaysInMonth(int64_t year, int32_t month) {
  if (month == 2) return IsLeapYear(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

int32_t WeekdayFromDays(int64_t days) { return static_cast<int32_t>(FloorMod(days + 4, 7)); }

}  // namespace strom::model
