#include "model/auto_partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "model/civil_time.h"

namespace strom::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kDay = 86400;

int64_t Utc(int64_t year, int32_t month, int32_t day, int64_t hour = 0, int64_t minute = 0) {
  return DaysFromCivil(year, month, day) * kDay + hour * 3600 + minute * 60;
}

AutoPartition Partitioning(std::string unit, std::string zone = "UTC", Properties more = {}) {
  more["table.auto-partition.enabled"] = "true";
  more["table.auto-partition.time-unit"] = std::move(unit);
  more["table.auto-partition.time-zone"] = std::move(zone);
  auto partitioning = ParseAutoPartition(more);
  EXPECT_TRUE(partitioning.ok()) << partitioning.ToString();
  return *partitioning;
}

std::string ValueAt(const AutoPartition& partitioning, int64_t seconds, int64_t offset = 0) {
  const auto value = AutoPartitionValue(partitioning, TimestampMs(seconds * 1000), offset);
  return value.ok() ? *value : value.ToString();
}

/// Sets the zone of the C library for the life of the object.
class ZoneOfLibrary {
 public:
  explicit ZoneOfLibrary(const char* id) {
    setenv("TZ", id, 1);
    tzset();
  }
  ~ZoneOfLibrary() {
    unsetenv("TZ");
    tzset();
  }
};

TEST(CivilTime, DaysAndDatesAreInverse) {
  int64_t days = DaysFromCivil(-401, 1, 1);
  for (int64_t year = -401; year <= 2801; ++year) {
    for (int32_t month = 1; month <= 12; ++month) {
      for (int32_t day = 1; day <= DaysInMonth(year, month); ++day, ++days) {
        ASSERT_EQ(DaysFromCivil(year, month, day), days);
        const CivilDate date = CivilFromDays(days);
        ASSERT_TRUE(date.year == year && date.month == month && date.day == day) << year << "-" << month << "-" << day;
      }
    }
  }
  EXPECT_EQ(DaysFromCivil(1970, 1, 1), 0);
  EXPECT_EQ(WeekdayFromDays(0), 4);  // a Thursday
  EXPECT_EQ(WeekdayFromDays(-1), 3);
}

TEST(TimeZones, AgreeWithTheCLibraryFromPastToFarFuture) {
  constexpr uint64_t kSeed = 5;
  Random random(kSeed);
  for (const char* id : {"Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                         "Africa/Casablanca", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "Europe/Dublin",
                         "America/Sao_Paulo", "Antarctica/Troll", "Asia/Gaza", "EST5EDT"}) {
    const auto zone = TimeZone::Find(id);
    if (!zone.ok()) GTEST_SKIP() << zone.ToString();
    const ZoneOfLibrary library(id);
    for (int i = 0; i < 20000; ++i) {
      const time_t at = static_cast<time_t>(random.Between(Utc(1850, 1, 1), Utc(2200, 1, 1)));
      tm local{};
      localtime_r(&at, &local);
      ASSERT_EQ(zone->OffsetAt(at), local.tm_gmtoff) << id << " at " << at << " seed " << kSeed;
    }
  }
}

TEST(TimeZones, HaveManySpellings) {
  const auto offset = [](std::string_view id) {
    const auto zone = TimeZone::Find(id, "/nowhere");
    return zone.ok() ? zone->OffsetAt(0) : INT32_MIN;
  };
  EXPECT_EQ(offset("UTC"), 0);
  EXPECT_EQ(offset("Z"), 0);
  EXPECT_EQ(offset("GMT+8"), 8 * 3600);
  EXPECT_EQ(offset("UTC-03:30"), -(3 * 3600 + 1800));
  EXPECT_EQ(offset("+08:00"), 8 * 3600);
  EXPECT_EQ(offset("+0530"), 5 * 3600 + 1800);
  EXPECT_EQ(offset("EST"), -5 * 3600);
  for (const std::string bad :
       {"", "+", "+19:00", "+08:60", "GMT+", "+8:", "++8", "8", "../../etc/passwd", "Asia/Nowhere", "+:08"}) {
    EXPECT_EQ(offset(bad), INT32_MIN) << bad;
  }
  EXPECT_THAT(TimeZone::Find("Asia/Shanghai", "/nowhere").ToString(), HasSubstr("tzdata"));
}

TEST(TimeZones, FilesThatAreCutAreRefusedAndNeverReadBeyondTheirEnd) {
  std::ifstream file(std::string(kZoneFolder) + "/Europe/Berlin", std::ios::binary);
  if (!file) GTEST_SKIP() << "no zone files here";
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_TRUE(TimeZone::FromZoneFile(AsBytes(whole)).ok());
  for (size_t size = 0; size + 1 < whole.size(); ++size) {
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(TimeZone::FromZoneFile(cut).ok()) << size;
  }
  Random random(3);
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint8_t> flipped(whole.begin(), whole.end());
    flipped[random.Below(flipped.size())] ^= static_cast<uint8_t>(1u << random.Below(8));
    if (const auto zone = TimeZone::FromZoneFile(flipped); zone.ok())
      (void)zone->OffsetAt(static_cast<int64_t>(random.Below(1ULL << 33)));
  }
}

TEST(TimeZones, SkippedLocalTimesMoveOn) {
  const auto zone = TimeZone::Find("Europe/Berlin");
  if (!zone.ok()) GTEST_SKIP() << zone.ToString();
  EXPECT_EQ(zone->Normalize(Utc(2026, 3, 29, 2, 30)), Utc(2026, 3, 29, 3, 30));
  EXPECT_EQ(zone->Normalize(Utc(2026, 3, 29, 1, 59)), Utc(2026, 3, 29, 1, 59));
  EXPECT_EQ(zone->Normalize(Utc(2026, 3, 29, 3, 0)), Utc(2026, 3, 29, 3, 0));
  EXPECT_EQ(zone->Normalize(Utc(2026, 10, 25, 2, 30)), Utc(2026, 10, 25, 2, 30));
}

TEST(AutoPartitions, ValuesFollowTheZonesCalendar) {
  const int64_t eve = Utc(2025, 12, 31, 20);
  EXPECT_EQ(ValueAt(Partitioning("day", "+08:00"), eve), "20260101");
  EXPECT_EQ(ValueAt(Partitioning("day"), eve), "20251231");
  EXPECT_EQ(ValueAt(Partitioning("hour", "GMT-1"), eve, 5), "2026010100");
  EXPECT_EQ(ValueAt(Partitioning("quarter"), eve, 1), "20261");
  EXPECT_EQ(ValueAt(Partitioning("month"), Utc(2025, 1, 31), 1), "202502");
  EXPECT_EQ(ValueAt(Partitioning("year"), Utc(2024, 2, 29), -1), "2023");
  if (const auto berlin = TimeZone::Find("Europe/Berlin"); berlin.ok()) {
    // The hour from 02:00 is skipped: 01:00 is followed by 03:00.
    EXPECT_EQ(ValueAt(Partitioning("hour", "Europe/Berlin"), Utc(2026, 3, 29, 0, 30), 1), "2026032903");
  }
}

TEST(AutoPartitions, ValuesNeverLeaveTheYearsThatSort) {
  EXPECT_THAT(ValueAt(Partitioning("year"), Utc(2026, 1, 1), 8000), HasSubstr("out of range"));
  EXPECT_THAT(ValueAt(Partitioning("year"), Utc(2026, 1, 1), INT32_MIN), HasSubstr("out of range"));
  EXPECT_THAT(ValueAt(Partitioning("hour"), INT64_MAX / 1000, 1), HasSubstr("out of range"));
  const AutoPartition keep = Partitioning("year", "UTC", {{"table.auto-partition.num-retention", "2147483647"}});
  EXPECT_FALSE(IsExpiredPartition(keep, TimestampMs(Utc(2026, 1, 1) * 1000), "0001"));
}

TEST(AutoPartitions, AreMadeAheadUpToALimit) {
  const TimestampMs now(Utc(2026, 12, 31, 5) * 1000);
  EXPECT_THAT(AutoPartitionValuesAhead(Partitioning("day"), now, 100), ElementsAre("20261231", "20270101"));
  const AutoPartition many = Partitioning("day", "UTC", {{"table.auto-partition.num-precreate", "2147483647"}});
  EXPECT_EQ(AutoPartitionValuesAhead(many, now, 1000).size(), 1000u);
  EXPECT_THAT(
      AutoPartitionValuesAhead(Partitioning("day", "UTC", {{"table.auto-partition.num-precreate", "0"}}), now, 10),
      IsEmpty());
}

TEST(AutoPartitions, ExpireAsTheExampleOfTheSpecSays) {
  const AutoPartition two = Partitioning("day", "UTC", {{"table.auto-partition.num-retention", "2"}});
  const TimestampMs now(Utc(2025, 5, 8, 12) * 1000);
  EXPECT_TRUE(IsExpiredPartition(two, now, "20250505"));
  EXPECT_FALSE(IsExpiredPartition(two, now, "20250506"));
  EXPECT_FALSE(IsExpiredPartition(two, now, kHistoricalPartition));
  EXPECT_FALSE(
      IsExpiredPartition(Partitioning("day", "UTC", {{"table.auto-partition.num-retention", "-1"}}), now, "19700101"));
}

TEST(AutoPartitions, PartitionsThatClientsMakeFitTheFormatAndAreNotExpired) {
  const AutoPartition days = Partitioning("day");
  const TimestampMs now(Utc(2026, 3, 10) * 1000);
  const auto code = [&](const AutoPartition& partitioning, const std::string& value) {
    return CheckNewPartitionTime(partitioning, now, ResolvedPartitionSpec{{"dt"}, {value}}).code();
  };
  EXPECT_EQ(code(days, "20260310"), ErrorCode::kNone);
  EXPECT_EQ(code(days, "20260303"), ErrorCode::kNone);
  EXPECT_EQ(code(days, "20260302"), ErrorCode::kPartitionSpecInvalid);
  for (const std::string bad : {"2026-03-10", "202603", "20260230", "20261301", "2026031a", "", "202603100"}) {
    EXPECT_EQ(code(days, bad), ErrorCode::kPartitionSpecInvalid) << bad;
  }
  AutoPartition format = Partitioning("day", "UTC", {{"table.auto-partition.time-format", "'d'yyyy-MM-dd"}});
  EXPECT_EQ(code(format, "d2026-03-10"), ErrorCode::kNone);
  EXPECT_EQ(code(format, "20260310"), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(code(AutoPartition{}, "anything"), ErrorCode::kNone);
  AutoPartition second = Partitioning("day", "UTC", {{"table.auto-partition.key", "dt"}});
  EXPECT_EQ(CheckNewPartitionTime(second, now, {{"region", "dt"}, {"eu", "20260310"}}).code(), ErrorCode::kNone);
}

TEST(TimeFormats, KeepTheOrderOfTimes) {
  const auto code = [](std::string_view format, PartitionTimeUnit unit) {
    return ValidateTimeFormat(format, unit).code();
  };
  EXPECT_EQ(code("yyyy-MM-dd", PartitionTimeUnit::kDay), ErrorCode::kNone);
  EXPECT_EQ(code("uuuuLLdd", PartitionTimeUnit::kDay), ErrorCode::kNone);
  EXPECT_EQ(code("yyyy'Q'q", PartitionTimeUnit::kQuarter), ErrorCode::kNone);
  EXPECT_EQ(code("yyyyMMdd_HH", PartitionTimeUnit::kHour), ErrorCode::kNone);
  for (const std::string bad : {"", "yyyyMM", "yyMMdd", "yyyyMdd", "ddMMyyyy", "yyyy/MM/dd", "yyyyMMddHH", "yyyy[MM]dd",
                                "yyyyMMdd'", "yyyyMMee", "'__'yyyyMMdd", "yyyy''MMdd", "yyyyMMddyyyy"}) {
    EXPECT_EQ(code(bad, PartitionTimeUnit::kDay), ErrorCode::kInvalidTable) << bad;
  }
}

TEST(TimeFormats, RandomTimesSortAsTheirTexts) {
  Random random(11);
  const std::map<std::string, std::string> formats = {
      {"day", "yyyy-MM-dd"}, {"hour", "yyyyMMdd_HH"}, {"quarter", "yyyy'Q'Q"}, {"month", "'m'yyyyMM"}};
  for (const auto& [unit, format] : formats) {
    const AutoPartition partitioning = Partitioning(unit, "UTC", {{"table.auto-partition.time-format", format}});
    for (int i = 0; i < 2000; ++i) {
      const int64_t a = random.Between(0, Utc(9000, 1, 1));
      const int64_t b = random.Between(0, Utc(9000, 1, 1));
      ASSERT_LE(ValueAt(partitioning, std::min(a, b)), ValueAt(partitioning, std::max(a, b)));
    }
  }
}

}  // namespace
}  // namespace strom::model
