#include "model/auto_partition.h"

#include <algorithm>
#include <array>

#include "model/civil_time.h"
#include "model/config_value.h"
#include "model/names.h"
#include "model/option_table.h"

namespace strom::model {

namespace {

struct LocalTime {
  int64_t year;
  int32_t month;
  int32_t day;
  int32_t hour;
};

struct UnitFacts {
  std::string_view name;
  std::string_view format;
  std::string_view fields;  // one letter each, largest first
};

constexpr std::array<UnitFacts, 5> kUnits = {{
    {"YEAR", "yyyy", "y"},
    {"QUARTER", "yyyyQ", "yQ"},
    {"MONTH", "yyyyMM", "yM"},
    {"DAY", "yyyyMMdd", "yMd"},
    {"HOUR", "yyyyMMddHH", "yMdH"},
}};

const UnitFacts& FactsOf(PartitionTimeUnit unit) { return kUnits[static_cast<size_t>(unit)]; }

/// One piece of a pattern: a time field (one of y Q M d H) of some width, or literal text.
struct Piece {
  char field = 0;
  size_t width = 0;
  std::string literal;
};

char CanonicalField(char letter) {
  switch (letter) {
    case 'u':
      return 'y';
    case 'q':
      return 'Q';
    case 'L':
      return 'M';
    default:
      return letter;
  }
}

size_t WidthOf(char field) { return field == 'y' ? 4 : field == 'Q' ? 1 : 2; }

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/// Nothing when a quote does not end or a character is reserved in patterns.
std::optional<std::vector<Piece>> SplitPattern(std::string_view pattern) {
  std::vector<Piece> pieces;
  const auto add_literal = [&](char c) {
    if (pieces.empty() || pieces.back().field != 0) pieces.emplace_back();
    pieces.back().literal += c;
  };
  bool quoted = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\'') {
      if (i + 1 < pattern.size() && pattern[i + 1] == '\'') {
        add_literal(pattern[i++]);
      } else {
        quoted = !quoted;
      }
    } else if (quoted || !IsLetter(c)) {
      if (!quoted && std::string_view("[]{}#").find(c) != std::string_view::npos) return std::nullopt;
      add_literal(c);
    } else {
      const size_t end = std::min(pattern.find_first_not_of(c, i), pattern.size());
      pieces.push_back({CanonicalField(c), end - i, ""});
      i = end - 1;
    }
  }
  if (quoted) return std::nullopt;
  return pieces;
}

int64_t FieldValue(char field, const LocalTime& time) {
  switch (field) {
    case 'y':
      return time.year;
    case 'Q':
      return (time.month + 2) / 3;
    case 'M':
      return time.month;
    case 'd':
      return time.day;
    default:
      return time.hour;
  }
}

std::string FormatTime(std::string_view pattern, const LocalTime& time) {
  std::string text;
  for (const Piece& piece : SplitPattern(pattern).value_or(std::vector<Piece>())) {
    text += piece.field == 0 ? piece.literal : fmt::format("{:0{}}", FieldValue(piece.field, time), piece.width);
  }
  return text;
}

bool InFieldRange(char field, int64_t value) {
  switch (field) {
    case 'y':
      return true;
    case 'Q':
      return value >= 1 && value <= 4;
    case 'M':
      return value >= 1 && value <= 12;
    case 'd':
      return value >= 1 && value <= 31;
    default:
      return value <= 23;
  }
}

/// True where `text` is a time in the pattern, a day that exists.
bool IsTimeOfFormat(std::string_view pattern, std::string_view text) {
  LocalTime time{0, 1, 1, 0};
  for (const Piece& piece : SplitPattern(pattern).value_or(std::vector<Piece>())) {
    if (piece.field == 0) {
      if (!text.starts_with(piece.literal)) return false;
      text.remove_prefix(piece.literal.size());
      continue;
    }
    if (text.size() < piece.width) return false;
    const std::string_view digits = text.substr(0, piece.width);
    if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
    int64_t value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    if (!InFieldRange(piece.field, value)) return false;
    if (piece.field == 'y') time.year = value;
    if (piece.field == 'M') time.month = static_cast<int32_t>(value);
    if (piece.field == 'd') time.day = static_cast<int32_t>(value);
    text.remove_prefix(piece.width);
  }
  return text.empty() && time.day <= DaysInMonth(time.year, time.month);
}

LocalTime LocalTimeOf(int64_t local_seconds) {
  const CivilDate date = CivilFromDays(FloorDiv(local_seconds, 86400));
  return {date.year, date.month, date.day, static_cast<int32_t>(FloorMod(local_seconds, 86400) / 3600)};
}

/// Months later on the calendar; a day that the month does not have becomes its last one.
int64_t PlusMonths(int64_t local_seconds, int64_t months) {
  const CivilDate date = CivilFromDays(FloorDiv(local_seconds, 86400));
  const int64_t month_count = date.year * 12 + date.month - 1 + months;
  const int64_t year = FloorDiv(month_count, 12);
  const int32_t month = static_cast<int32_t>(FloorMod(month_count, 12)) + 1;
  const int32_t day = std::min(date.day, DaysInMonth(year, month));
  return DaysFromCivil(year, month, day) * 86400 + FloorMod(local_seconds, 86400);
}

LocalTime TimeAfter(const AutoPartition& partitioning, int64_t utc_seconds, int64_t offset) {
  const TimeZone& zone = partitioning.zone;
  // Hours go by on the time line; longer units on the local calendar.
  if (partitioning.unit == PartitionTimeUnit::kHour) {
    const int64_t utc = utc_seconds + offset * 3600;
    return LocalTimeOf(utc + zone.OffsetAt(utc));
  }
  const int64_t local = utc_seconds + zone.OffsetAt(utc_seconds);
  int64_t moved = local;
  switch (partitioning.unit) {
    case PartitionTimeUnit::kYear:
      moved = PlusMonths(local, offset * 12);
      break;
    case PartitionTimeUnit::kQuarter:
      moved = PlusMonths(local, offset * 3);
      break;
    case PartitionTimeUnit::kMonth:
      moved = PlusMonths(local, offset);
      break;
    default:
      moved = local + offset * 86400;
      break;
  }
  return LocalTimeOf(zone.Normalize(moved));
}

Status ReadOption(const Properties& properties, const std::string& name, std::string* text) {
  const std::string key = "table.auto-partition." + name;
  const Option* option = FindOption(key);
  STROM_ASSERT(option != nullptr, "the option {} is not in the table", key);
  const auto found = properties.find(key);
  *text = found == properties.end() ? std::string(option->default_value) : found->second;
  return found == properties.end() ? Status::OK() : CheckOptionValue(*option, key, *text);
}

}  // namespace

std::string_view PartitionTimeUnitName(PartitionTimeUnit unit) { return FactsOf(unit).name; }

size_t AutoPartition::KeyPosition(const std::vector<std::string>& partition_keys) const {
  const auto found = std::find(partition_keys.begin(), partition_keys.end(), key);
  return found == partition_keys.end() ? 0 : static_cast<size_t>(found - partition_keys.begin());
}

Result<AutoPartition> ParseAutoPartition(const Properties& properties) {
  AutoPartition partitioning;
  std::string enabled;
  std::string unit;
  std::string precreate;
  std::string retention;
  std::string zone;
  STROM_TRY(ReadOption(properties, "enabled", &enabled));
  STROM_TRY(ReadOption(properties, "key", &partitioning.key));
  STROM_TRY(ReadOption(properties, "time-unit", &unit));
  STROM_TRY(ReadOption(properties, "time-format", &partitioning.time_format));
  STROM_TRY(ReadOption(properties, "num-precreate", &precreate));
  STROM_TRY(ReadOption(properties, "num-retention", &retention));
  STROM_TRY(ReadOption(properties, "time-zone", &zone));
  partitioning.enabled = *ParseBoolValue(enabled);
  partitioning.key = std::string(Trimmed(partitioning.key));
  const std::string unit_name = UpperCase(Trimmed(unit));
  const auto facts =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const UnitFacts& f) { return f.name == unit_name; });
  STROM_ASSERT(facts != kUnits.end(), "the time unit {} passed the check of its option", unit);
  partitioning.unit = static_cast<PartitionTimeUnit>(facts - kUnits.begin());
  partitioning.has_time_format = properties.contains("table.auto-partition.time-format");
  if (!partitioning.has_time_format) partitioning.time_format = facts->format;
  partitioning.num_precreate = static_cast<int32_t>(*ParseIntValue(precreate));
  partitioning.num_retention = static_cast<int32_t>(*ParseIntValue(retention));
  if (zone.empty()) {
    partitioning.zone = TimeZone::Local();
  } else {
    auto found = TimeZone::Find(Trimmed(zone));
    if (!found.ok()) {
      return MakeError(ErrorCode::kInvalidConfig, "the option 'table.auto-partition.time-zone': {}",
                       found.error().message);
    }
    partitioning.zone = *found;
  }
  return partitioning;
}

Status ValidateTimeFormat(std::string_view format, PartitionTimeUnit unit) {
  const auto wrong = [&](std::string_view what) {
    return MakeError(ErrorCode::kInvalidTable, "the option 'table.auto-partition.time-format': {} is not allowed: {}",
                     Shown(format), what);
  };
  const auto pieces = SplitPattern(format);
  if (!pieces) return wrong("quotes must be closed, and '[', ']', '{', '}' and '#' are reserved");
  std::string fields;
  for (const Piece& piece : *pieces) {
    if (piece.field == 0) continue;
    if (std::string_view("yQMdH").find(piece.field) == std::string_view::npos) {
      return wrong(fmt::format("'{}' is not one of the time fields yyyy, Q, MM, dd, HH", piece.field));
    }
    if (piece.width != WidthOf(piece.field)) {
      return wrong(fmt::format("the field '{}' must be {} wide, so that texts sort as their times do", piece.field,
                               WidthOf(piece.field)));
    }
    fields += piece.field;
  }
  if (fields != FactsOf(unit).fields) {
    return wrong(fmt::format("for the time unit {} it must have the fields of {}, each once and in that order",
                             FactsOf(unit).name, FactsOf(unit).format));
  }
  const Status value = ValidatePartitionValue(FormatTime(format, {2024, 11, 11, 11}), /*for_create=*/true);
  return value.ok() ? value : Status(wrong(value.error().message));
}

Result<std::string> AutoPartitionValue(const AutoPartition& partitioning, TimestampMs now, int64_t offset) {
  constexpr int64_t kYearMillis = 400LL * 366 * 86'400'000;
  constexpr int64_t kOffsetMax = 1LL << 32;
  if (now.value() < -kYearMillis * 100 || now.value() > kYearMillis * 100 || offset < -kOffsetMax ||
      offset > kOffsetMax) {
    return MakeError(ErrorCode::kPartitionSpecInvalid, "a partition {} units from {} ms is out of range", offset, now);
  }
  const LocalTime time = TimeAfter(partitioning, FloorDiv(now.value(), 1000), offset);
  if (time.year < 0 || time.year > 9999) {
    return MakeError(ErrorCode::kPartitionSpecInvalid, "a partition of the year {} is out of range", time.year);
  }
  return FormatTime(partitioning.time_format, time);
}

std::vector<std::string> AutoPartitionValuesAhead(const AutoPartition& partitioning, TimestampMs now, size_t limit) {
  std::vector<std::string> values;
  for (int64_t i = 0; i < partitioning.num_precreate && values.size() < limit; ++i) {
    auto value = AutoPartitionValue(partitioning, now, i);
    if (!value.ok()) break;
    // Two offsets can fall on one value where the clock goes back.
    if (values.empty() || values.back() != *value) values.push_back(std::move(*value));
  }
  return values;
}

bool IsExpiredPartition(const AutoPartition& partitioning, TimestampMs now, std::string_view value) {
  if (partitioning.num_retention < 0 || value == kHistoricalPartition) return false;
  const auto oldest_kept = AutoPartitionValue(partitioning, now, -static_cast<int64_t>(partitioning.num_retention));
  return oldest_kept.ok() && value < std::string_view(*oldest_kept);
}

Status CheckNewPartitionTime(const AutoPartition& partitioning, TimestampMs now, const ResolvedPartitionSpec& spec) {
  if (!partitioning.enabled && !partitioning.has_time_format) return Status::OK();
  const std::string& value = spec.values[partitioning.KeyPosition(spec.keys)];
  if (!IsTimeOfFormat(partitioning.time_format, value)) {
    return MakeError(ErrorCode::kPartitionSpecInvalid,
                     "the partition value {} is not a time of the format '{}' (time unit {})", Shown(value),
                     partitioning.time_format, PartitionTimeUnitName(partitioning.unit));
  }
  if (partitioning.enabled && IsExpiredPartition(partitioning, now, value)) {
    return MakeError(ErrorCode::kPartitionSpecInvalid,
                     "the partition value {} is out of date: {} time units are kept, so it would be dropped at once",
                     Shown(value), partitioning.num_retention);
  }
  return Status::OK();
}

}  // namespace strom::model
