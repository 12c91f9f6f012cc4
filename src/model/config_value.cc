#include "model/config_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "model/names.h"

namespace strom::model {

namespace {

constexpr int64_t kNanosInMilli = 1'000'000;

struct Unit {
  std::string_view name;
  int64_t factor;
};

// Factors in nanoseconds.
constexpr std::array<Unit, 27> kDurationUnits = {{
    {"NS", 1},
    {"NANO", 1},
    {"NANOS", 1},
    {"NANOSECOND", 1},
    {"NANOSECONDS", 1},
    {"US", 1000},
    {"\xC2\xB5S", 1000},
    {"MICRO", 1000},
    {"MICROS", 1000},
    {"MICROSECOND", 1000},
    {"MICROSECONDS", 1000},
    {"MS", kNanosInMilli},
    {"MILLI", kNanosInMilli},
    {"MILLIS", kNanosInMilli},
    {"MILLISECOND", kNanosInMilli},
    {"MILLISECONDS", kNanosInMilli},
    {"S", 1000 * kNanosInMilli},
    {"SEC", 1000 * kNanosInMilli},
    {"SECS", 1000 * kNanosInMilli},
    {"SECOND", 1000 * kNanosInMilli},
    {"SECONDS", 1000 * kNanosInMilli},
    {"M", 60'000 * kNanosInMilli},
    {"MIN", 60'000 * kNanosInMilli},
    {"MINUTE", 60'000 * kNanosInMilli},
    {"MINUTES", 60'000 * kNanosInMilli},
    {"H", 3'600'000 * kNanosInMilli},
    {"D", 86'400'000 * kNanosInMilli},
}};
constexpr std::array<Unit, 4> kLongDurationUnits = {{
    {"HOUR", 3'600'000 * kNanosInMilli},
    {"HOURS", 3'600'000 * kNanosInMilli},
    {"DAY", 86'400'000 * kNanosInMilli},
    {"DAYS", 86'400'000 * kNanosInMilli},
}};
constexpr std::array<Unit, 20> kMemoryUnits = {{
    {"", 1},          {"B", 1},          {"BYTES", 1},       {"BYTE", 1},
    {"K", 1LL << 10}, {"KB", 1LL << 10}, {"KIB", 1LL << 10}, {"KIBIBYTES", 1LL << 10},
    {"M", 1LL << 20}, {"MB", 1LL << 20}, {"MIB", 1LL << 20}, {"MEBIBYTES", 1LL << 20},
    {"G", 1LL << 30}, {"GB", 1LL << 30}, {"GIB", 1LL << 30}, {"GIBIBYTES", 1LL << 30},
    {"T", 1LL << 40}, {"TB", 1LL << 40}, {"TIB", 1LL << 40}, {"TEBIBYTES", 1LL << 40},
}};

constexpr std::string_view kDurationHelp = "a number and a unit (ms, s, min, h or d), as in 500ms or 7 d";
constexpr std::string_view kMemoryHelp = "a number of bytes or a number and a unit (kb, mb, gb or tb), as in 64mb";

Error NotA(std::string_view what, std::string_view text, std::string_view help) {
  return MakeError(ErrorCode::kInvalidConfig, "{} is not {}: {} is expected", Shown(text), what, help);
}

struct Quantity {
  int64_t number;
  std::string unit;  // upper case
};

/// Digits, blanks, a word. Nothing when there are no digits or they do not fit.
std::optional<Quantity> SplitQuantity(std::string_view text) {
  text = Trimmed(text);
  Quantity quantity{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity.number);
  if (error != std::errc() || quantity.number < 0 || text.front() == '-') return std::nullopt;
  quantity.unit = UpperCase(Trimmed(text.substr(static_cast<size_t>(end - text.data()))));
  return quantity;
}

template <size_t N>
const Unit* FindUnit(const std::array<Unit, N>& units, std::string_view name) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
  return found == units.end() ? nullptr : &*found;
}

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Reads an item in quotes that starts at `*position`, and moves that behind it; nothing when it does not end.
std::optional<std::string> TakeQuoted(std::string_view text, size_t* position) {
  const char quote = text[*position];
  std::string item;
  for (size_t i = *position + 1; i < text.size(); ++i) {
    if (text[i] != quote) {
      item += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == quote) {
      item += text[i++];
    } else {
      *position = i + 1;
      return item;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

Result<bool> ParseBoolValue(std::string_view text) {
  const std::string upper = UpperCase(Trimmed(text));
  if (upper == "TRUE") return true;
  if (upper == "FALSE") return false;
  return NotA("a boolean", text, "true or false");
}

Result<int64_t> ParseIntValue(std::string_view text, int64_t min, int64_t max) {
  std::string_view digits = Trimmed(text);
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < min || number > max) {
    return NotA("allowed", text, fmt::format("an integer from {} to {}", min, max));
  }
  return number;
}

Result<double> ParseDoubleValue(std::string_view text) {
  const std::string_view digits = Trimmed(text);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number)) {
    return NotA("a number", text, "a decimal number such as 0.85");
  }
  return number;
}

Result<int64_t> ParseDurationMs(std::string_view text) {
  const std::optional<Quantity> quantity = SplitQuantity(text);
  if (!quantity) return NotA("a duration", text, kDurationHelp);
  const Unit* unit = FindUnit(kDurationUnits, quantity->unit);
  if (unit == nullptr) unit = FindUnit(kLongDurationUnits, quantity->unit);
  if (unit == nullptr) return NotA("a duration", text, kDurationHelp);
  if (unit->factor < kNanosInMilli) return quantity->number / (kNanosInMilli / unit->factor);
  int64_t milliseconds = 0;
  if (__builtin_mul_overflow(quantity->number, unit->factor / kNanosInMilli, &milliseconds)) {
    return NotA("a duration that fits in 64 bits of milliseconds", text, kDurationHelp);
  }
  return milliseconds;
}

Result<int64_t> ParseMemorySize(std::string_view text) {
  const std::optional<Quantity> quantity = SplitQuantity(text);
  if (!quantity) return NotA("a memory size", text, kMemoryHelp);
  const Unit* unit = FindUnit(kMemoryUnits, quantity->unit);
  if (unit == nullptr) return NotA("a memory size", text, kMemoryHelp);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(quantity->number, unit->factor, &bytes)) {
    return NotA("a memory size that fits in 64 bits", text, kMemoryHelp);
  }
  return bytes;
}

Result<std::vector<std::string>> ParseListValue(std::string_view text, char delimiter) {
  std::vector<std::string> items;
  size_t position = 0;
  bool item_expected = false;
  while (true) {
    while (position < text.size() && IsBlank(text[position])) ++position;
    if (position == text.size()) break;
    const char c = text[position];
    if (c == '\'' || c == '"') {
      std::optional<std::string> item = TakeQuoted(text, &position);
      if (!item) return NotA("a list", text, "a closing quote");
      items.push_back(std::move(*item));
    } else {
      const size_t end = std::min(text.find(delimiter, position), text.size());
      items.emplace_back(Trimmed(text.substr(position, end - position)));
      position = end;
    }
    item_expected = false;
    while (position < text.size() && IsBlank(text[position])) ++position;
    if (position == text.size()) break;
    if (text[position] != delimiter) return NotA("a list", text, fmt::format("'{}' between items", delimiter));
    ++position;
    item_expected = true;
  }
  if (item_expected) items.emplace_back();
  return items;
}

Result<std::map<std::string, std::string>> ParseMapValue(std::string_view text) {
  STROM_ASSIGN(const std::vector<std::string> items, ParseListValue(text));
  std::map<std::string, std::string> map;
  for (const std::string& item : items) {
    STROM_ASSIGN(const std::vector<std::string> pair, ParseListValue(item, ':'));
    if (pair.size() != 2) return NotA("a map", item, "key:value,key:value");
    if (!map.emplace(pair[0], pair[1]).second)
      return NotA("a map", text, fmt::format("the key '{}' only once", pair[0]));
  }
  return map;
}

std::string FormatDuration(int64_t milliseconds) {
  constexpr std::array<Unit, 4> kUnits = {{{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1000}}};
  for (const Unit& unit : kUnits) {
    if (milliseconds != 0 && milliseconds % unit.factor == 0)
      return fmt::format("{} {}", milliseconds / unit.factor, unit.name);
  }
  return fmt::format("{} ms", milliseconds);
}

std::string FormatMemorySize(int64_t bytes) {
  constexpr std::array<Unit, 4> kUnits = {{{"tb", 1LL << 40}, {"gb", 1LL << 30}, {"mb", 1LL << 20}, {"kb", 1LL << 10}}};
  for (const Unit& unit : kUnits) {
    if (bytes != 0 && bytes % unit.factor == 0) return fmt::format("{} {}", bytes / unit.factor, unit.name);
  }
  return fmt::format("{} b", bytes);
}

}  // namespace strom::model
