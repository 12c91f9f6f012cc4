#include "format/hudi_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/endian.h"
#include "base/java_text.h"
#include "model/civil_time.h"

namespace strom::format {

using model::DataType;
using model::TypeRoot;

namespace {

constexpr std::string_view kNull = "__null__";
constexpr std::string_view kEmpty = "__empty__";
constexpr int64_t kSecondsPerDay = 86'400;

/// ISO 8601 as Java prints LocalDateTime (seconds may be left out) and Instant ('Z', always with seconds).
std::string TimestampText(TimestampValue timestamp, bool instant) {
  const int64_t seconds = model::FloorDiv(timestamp.millis, 1000);
  const int64_t nanos = (timestamp.millis - seconds * 1000) * 1'000'000 + timestamp.nanos_of_milli;
  const int64_t days = model::FloorDiv(seconds, kSecondsPerDay);
  const int64_t second_of_day = seconds - days * kSecondsPerDay;
  const model::CivilDate date = model::CivilFromDays(days);

  std::string text = date.year > 9999 ? "+" : date.year < 0 ? "-" : "";
  text += fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}", date.year < 0 ? -date.year : date.year, date.month, date.day, second_of_day / 3600,
                      second_of_day / 60 % 60);
  if (instant || second_of_day % 60 != 0 || nanos != 0) {
    text += fmt::format(":{:02}", second_of_day % 60);
    if (nanos % 1'000'000 == 0) {
      if (nanos != 0) text += fmt::format(".{:03}", nanos / 1'000'000);
    } else if (nanos % 1000 == 0) {
      text += fmt::format(".{:06}", nanos / 1000);
    } else {
      text += fmt::format(".{:09}", nanos);
    }
  }
  if (instant) text += 'Z';
  return text;
}

/// Takes one code point off the front; U+FFFD for a byte that begins none.
uint32_t NextCodePoint(std::string_view* utf8) {
  const auto lead = static_cast<uint8_t>(utf8->front());
  const size_t size = lead < 0x80 ? 1 : lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xC2 && lead < 0xE0 ? 2 : 0;
  uint32_t code = size == 1 ? lead : lead & (0x7Fu >> size);
  bool valid = size > 0 && size <= utf8->size();
  for (size_t i = 1; valid && i < size; ++i) {
    const auto next = static_cast<uint8_t>((*utf8)[i]);
    valid = (next & 0xC0) == 0x80;
    code = code << 6 | (next & 0x3F);
  }
  valid = valid && !(size == 3 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) && !(size == 4 && (code < 0x10000 || code > 0x10FFFF));
  utf8->remove_prefix(valid ? size : 1);
  return valid ? code : 0xFFFD;
}

}  // namespace

int32_t JavaStringHash(std::string_view utf8) {
  uint32_t hash = 0;
  while (!utf8.empty()) {
    const uint32_t code = NextCodePoint(&utf8);
    if (code >= 0x10000) {
      hash = 31 * hash + (0xD800 + ((code - 0x10000) >> 10));
      hash = 31 * hash + (0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      hash = 31 * hash + code;
    }
  }
  return static_cast<int32_t>(hash);
}

Result<std::string> HudiKeyText(const DataType& type, const Value& value) {
  DecimalBytes room;
  FieldView view;
  STROM_TRY(ViewOfValue(type, value, &room, &view));
  switch (type.root) {
    case TypeRoot::kChar:
    case TypeRoot::kString:
      return std::string(view.text());
    case TypeRoot::kBoolean:
      return std::string(view.number != 0 ? "true" : "false");
    case TypeRoot::kFloat:
      return JavaText(view.float_value());
    case TypeRoot::kDouble:
      return JavaText(view.double_value());
    case TypeRoot::kDecimal:
      return DecimalToString(value.decimal(), type.scale);
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      return TimestampText({view.number, view.nanos_of_milli}, type.root == TypeRoot::kTimestampLtz);
    default:
      return std::to_string(view.number);
  }
}

Status EncodeHudiKey(Fields columns, std::span<const Value> values, MutableBuffer* out) {
  uint32_t hash = 1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_null()) {
      hash = 31 * hash + (values.size() == 1 ? static_cast<uint32_t>(JavaStringHash(kNull)) : 0);
      continue;
    }
    STROM_ASSIGN(const std::string text, HudiKeyText(columns[i].type, values[i]));
    if (values.size() > 1 && (std::count(text.begin(), text.end(), ',') > 0 || text == kNull || text == kEmpty)) {
      return MakeError(ErrorCode::kUnknownServerError, "key column {} holds '{}': Hudi keys of several columns take neither ',' nor '{}' nor '{}'",
                       columns[i].name, text, kNull, kEmpty);
    }
    hash = 31 * hash + static_cast<uint32_t>(JavaStringHash(text));
  }
  StoreBe(out->Extend(4), hash);
  return Status::OK();
}

}  // namespace strom::format
