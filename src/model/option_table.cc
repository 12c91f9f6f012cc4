#include "model/option_table.h"

#include <algorithm>

#include "model/config_value.h"
#include "model/names.h"

namespace strom::model {

namespace {

bool HasAlias(const Option& option, std::string_view key) {
  std::string_view rest = option.aliases;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    if (rest.substr(0, end) == key) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

Error Wrong(std::string_view key, const Error& error) {
  return MakeError(ErrorCode::kInvalidConfig, "the option '{}': {}", key, error.message);
}

Status InRange(const Option& option, std::string_view key, std::string_view value, int64_t number) {
  if (number >= option.min && number <= option.max) return Status::OK();
  const auto shown = [&](int64_t bound) {
    if (option.type == OptionType::kDuration) return FormatDuration(bound);
    if (option.type == OptionType::kMemorySize) return FormatMemorySize(bound);
    return fmt::format("{}", bound);
  };
  const bool open = option.max == INT64_MAX || (option.type == OptionType::kInteger && option.max == INT32_MAX);
  const std::string allowed = open ? fmt::format("{} or more is", shown(option.min))
                                   : fmt::format("{} to {} is", shown(option.min), shown(option.max));
  return MakeError(ErrorCode::kInvalidConfig, "the option '{}': {} is not allowed: {} expected", key, Shown(value),
                   allowed);
}

/// Checks a parsed integer, duration or size.
Status CheckNumber(const Option& option, std::string_view key, std::string_view value, const Result<int64_t>& number) {
  if (!number.ok()) return Wrong(key, number.error());
  return InRange(option, key, value, *number);
}

Status CheckChoice(const Option& option, std::string_view key, std::string_view value) {
  const std::string upper = UpperCase(Trimmed(value));
  std::string_view rest = option.choices;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('|'), rest.size());
    if (rest.substr(0, end) == upper) return Status::OK();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::string names(option.choices);
  for (size_t at = names.find('|'); at != std::string::npos; at = names.find('|', at)) names.replace(at, 1, ", ");
  return MakeError(ErrorCode::kInvalidConfig, "the option '{}': {} is not allowed: one of {} is expected", key,
                   Shown(value), names);
}

Status CheckList(const Option& option, std::string_view key, std::string_view value) {
  const auto items = ParseListValue(value);
  if (!items.ok()) return Wrong(key, items.error());
  if (option.choices.empty()) return Status::OK();
  for (const std::string& item : *items) STROM_TRY(CheckChoice(option, key, item));
  return Status::OK();
}

}  // namespace

std::span<const Option> AllOptions() { return {internal::kOptionRows, internal::kOptionRowCount}; }

bool MatchesPattern(std::string_view pattern, std::string_view key) {
  const size_t open = pattern.find('<');
  if (open == std::string_view::npos) return pattern == key;
  if (!key.starts_with(pattern.substr(0, open))) return false;
  const size_t close = pattern.find('>', open);
  std::string_view names = pattern.substr(open + 1, close - open - 1);
  const std::string_view after = pattern.substr(close + 1);
  key.remove_prefix(open);
  if (names.find('|') == std::string_view::npos) {
    for (size_t length = 1; length <= key.size(); ++length) {
      if (MatchesPattern(after, key.substr(length))) return true;
    }
    return false;
  }
  while (!names.empty()) {
    const size_t end = std::min(names.find('|'), names.size());
    const std::string_view name = names.substr(0, end);
    if (key.starts_with(name) && MatchesPattern(after, key.substr(name.size()))) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

const Option* FindOption(std::string_view key) {
  const std::span<const Option> all = AllOptions();
  const auto found =
      std::lower_bound(all.begin(), all.end(), key, [](const Option& o, std::string_view k) { return o.key < k; });
  if (found != all.end() && found->key == key) return &*found;
  for (const Option& option : all) {
    if (HasAlias(option, key)) return &option;
  }
  constexpr size_t kKeyLengthMax = 256;  // matching a pattern costs more than the length
  if (key.size() > kKeyLengthMax) return nullptr;
  const Option* best = nullptr;
  for (const Option& option : all) {
    if (!option.is_pattern || !MatchesPattern(option.key, key)) continue;
    // The more of it stands fixed, the better it says what is meant.
    if (best == nullptr || option.key.find('<') > best->key.find('<')) best = &option;
  }
  return best;
}

Status CheckOptionValue(const Option& option, std::string_view key, std::string_view value) {
  switch (option.type) {
    case OptionType::kBoolean: {
      const auto parsed = ParseBoolValue(value);
      return parsed.ok() ? Status::OK() : Status(Wrong(key, parsed.error()));
    }
    case OptionType::kInteger:
    case OptionType::kLong:
      return CheckNumber(option, key, value, ParseIntValue(value, option.min, option.max));
    case OptionType::kDuration:
      return CheckNumber(option, key, value, ParseDurationMs(value));
    case OptionType::kMemorySize:
      return CheckNumber(option, key, value, ParseMemorySize(value));
    case OptionType::kDouble: {
      const auto parsed = ParseDoubleValue(value);
      if (!parsed.ok()) return Wrong(key, parsed.error());
      if (*parsed >= static_cast<double>(option.min) && *parsed <= static_cast<double>(option.max)) return Status::OK();
      return MakeError(ErrorCode::kInvalidConfig,
                       "the option '{}': {} is not allowed: a number from {} to {} is expected", key, Shown(value),
                       option.min, option.max);
    }
    case OptionType::kList:
      return CheckList(option, key, value);
    case OptionType::kMap: {
      const auto parsed = ParseMapValue(value);
      return parsed.ok() ? Status::OK() : Status(Wrong(key, parsed.error()));
    }
    case OptionType::kEnum:
      return CheckChoice(option, key, value);
    case OptionType::kString:
    case OptionType::kPassword:
      return Status::OK();
  }
  return Status::OK();
}

std::string NearestKeyHint(std::string_view key, bool (*wanted)(const Option&)) {
  std::vector<std::string_view> keys;
  for (const Option& option : AllOptions()) {
    if (!option.is_pattern && wanted(option)) keys.push_back(option.key);
  }
  const std::optional<std::string_view> nearest = NearestName(key, keys);
  return nearest ? fmt::format("did you mean '{}'?", *nearest) : "";
}

std::string NotBuiltSentence(const Option& option) {
  std::string sentence = option.note.empty() ? "it is not built yet" : std::string(option.note);
  if (!option.step.empty()) sentence += fmt::format(" (step {} builds it)", option.step);
  return sentence;
}

}  // namespace strom::model
