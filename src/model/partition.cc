#include "model/partition.h"

#include <algorithm>
#include <cmath>

#include "base/java_text.h"
#include "model/civil_time.h"
#include "model/names.h"

namespace strom::model {

namespace {

constexpr int64_t kMillisInDay = 86'400'000;

/// Java's toString with the point as an underscore; infinity has a name of its own here. Source: spec/formats.md 9, trap 18.
template <typename Float>
std::string FloatText(Float x) {
  if (std::isinf(x)) return x < 0 ? "-Inf" : "Inf";
  std::string text = JavaText(x);
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
}

std::string DateText(int64_t days) {
  const CivilDate date = CivilFromDays(days);
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

std::string TimeText(int64_t millis) {
  return fmt::format("{:02}-{:02}-{:02}_{:03}", millis / 3'600'000, millis / 60'000 % 60, millis / 1000 % 60,
                     millis % 1000);
}

std::string TimestampText(const TimestampValue& value) {
  const int64_t days = FloorDiv(value.millis, kMillisInDay);
  const int64_t millis = FloorMod(value.millis, kMillisInDay);
  std::string fraction = fmt::format("{:09}", millis % 1000 * 1'000'000 + value.nanos_of_milli);
  fraction.resize(fraction.find_last_not_of('0') + 1);
  return fmt::format("{}-{:02}-{:02}-{:02}_{}", DateText(days), millis / 3'600'000, millis / 60'000 % 60,
                     millis / 1000 % 60, fraction);
}

std::string HexText(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return text;
}

Error WrongSpec(const TablePath& table, std::string_view what) {
  return MakeError(ErrorCode::kPartitionSpecInvalid, "the partition spec does not fit the table {}: {}",
                   table.ToString(), what);
}

/// Each key of the spec once, and one of the table's.
Status CheckSpecKeys(const TablePath& table, const std::vector<std::string>& keys, const PartitionSpec& spec) {
  if (keys.empty()) {
    return MakeError(ErrorCode::kTableNotPartitioned, "the table {} is not partitioned", table.ToString());
  }
  for (size_t i = 0; i < spec.size(); ++i) {
    if (std::find(keys.begin(), keys.end(), spec[i].first) == keys.end()) {
      return WrongSpec(table,
                       fmt::format("{} is not one of its partition keys ({})", Shown(spec[i].first), Joined(keys)));
    }
    for (size_t j = 0; j < i; ++j) {
      if (spec[j].first == spec[i].first)
        return WrongSpec(table, fmt::format("the key {} comes twice", Shown(spec[i].first)));
    }
  }
  return Status::OK();
}

}  // namespace

std::string ResolvedPartitionSpec::Name() const {
  std::string name;
  for (size_t i = 0; i < values.size(); ++i) name += (i == 0 ? "" : "$") + values[i];
  return name;
}

std::string ResolvedPartitionSpec::QualifiedName() const {
  std::string name;
  for (size_t i = 0; i < values.size(); ++i) name += (i == 0 ? "" : "/") + keys[i] + "=" + values[i];
  return name;
}

PartitionSpec ResolvedPartitionSpec::ToSpec() const {
  PartitionSpec spec;
  for (size_t i = 0; i < values.size(); ++i) spec.emplace_back(keys[i], values[i]);
  return spec;
}

bool ResolvedPartitionSpec::Matches(const PartitionSpec& partial) const {
  return std::all_of(partial.begin(), partial.end(), [&](const auto& pair) {
    const auto found = std::find(keys.begin(), keys.end(), pair.first);
    return found != keys.end() && values[static_cast<size_t>(found - keys.begin())] == pair.second;
  });
}

Result<ResolvedPartitionSpec> ParsePartitionName(const std::vector<std::string>& keys, std::string_view name) {
  ResolvedPartitionSpec spec;
  spec.keys = keys;
  for (size_t start = 0; start <= name.size();) {
    const size_t end = std::min(name.find('$', start), name.size());
    spec.values.emplace_back(name.substr(start, end - start));
    start = end + 1;
  }
  if (spec.values.size() != keys.size()) {
    return MakeError(ErrorCode::kPartitionSpecInvalid, "the partition name {} has {} values; the partition keys are {}",
                     Shown(name), spec.values.size(), Joined(keys));
  }
  return spec;
}

Status ValidatePartitionValue(std::string_view value, bool for_create) {
  std::optional<std::string> wrong = WhatIsWrongWithName(value);
  if (!wrong && for_create && value.starts_with("__")) wrong = "values that start with '__' are reserved";
  if (!wrong) return Status::OK();
  return MakeError(ErrorCode::kPartitionSpecInvalid, "the partition value {} is not valid: {}", Shown(value), *wrong);
}

Result<ResolvedPartitionSpec> ResolvePartitionSpec(const TablePath& table, const std::vector<std::string>& keys,
                                                   const PartitionSpec& spec, bool for_create) {
  STROM_TRY(CheckSpecKeys(table, keys, spec));
  ResolvedPartitionSpec resolved;
  resolved.keys = keys;
  for (const std::string& key : keys) {
    const auto found = std::find_if(spec.begin(), spec.end(), [&](const auto& pair) { return pair.first == key; });
    if (found == spec.end()) return WrongSpec(table, fmt::format("the value of the key '{}' is missing", key));
    STROM_TRY(ValidatePartitionValue(found->second, for_create));
    resolved.values.push_back(found->second);
  }
  return resolved;
}

Status ValidatePartialSpec(const TablePath& table, const std::vector<std::string>& keys, const PartitionSpec& partial) {
  STROM_TRY(CheckSpecKeys(table, keys, partial));
  for (const auto& [key, value] : partial) STROM_TRY(ValidatePartitionValue(value, /*for_create=*/false));
  return Status::OK();
}

bool IsPartitionKeyType(const DataType& type) { return !type.is_nested() && type.root != TypeRoot::kDecimal; }

Result<std::string> PartitionValueToString(const DataType& type, const PartitionValue& value) {
  switch (type.root) {
    case TypeRoot::kChar:
    case TypeRoot::kString:
      if (const auto* text = std::get_if<std::string>(&value)) return *text;
      break;
    case TypeRoot::kBinary:
    case TypeRoot::kBytes:
      if (const auto* bytes = std::get_if<std::string>(&value)) return HexText(*bytes);
      break;
    case TypeRoot::kBoolean:
      if (const auto* flag = std::get_if<bool>(&value)) return std::string(*flag ? "true" : "false");
      break;
    case TypeRoot::kTinyInt:
    case TypeRoot::kSmallInt:
    case TypeRoot::kInteger:
    case TypeRoot::kBigInt:
      if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
      break;
    case TypeRoot::kDate:
      if (const auto* days = std::get_if<int64_t>(&value)) return DateText(*days);
      break;
    case TypeRoot::kTime:
      if (const auto* millis = std::get_if<int64_t>(&value);
          millis != nullptr && *millis >= 0 && *millis < kMillisInDay) {
        return TimeText(*millis);
      }
      break;
    case TypeRoot::kFloat:
      if (const auto* number = std::get_if<float>(&value)) return FloatText(*number);
      break;
    case TypeRoot::kDouble:
      if (const auto* number = std::get_if<double>(&value)) return FloatText(*number);
      break;
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      if (const auto* stamp = std::get_if<TimestampValue>(&value);
          stamp != nullptr && stamp->nanos_of_milli >= 0 && stamp->nanos_of_milli < 1'000'000) {
        return TimestampText(*stamp);
      }
      break;
    default:
      return MakeError(ErrorCode::kPartitionSpecInvalid, "a column of type {} cannot be a partition key",
                       type.ToString());
  }
  return MakeError(ErrorCode::kPartitionSpecInvalid, "a partition value does not fit its type {}", type.ToString());
}

}  // namespace strom::model
