#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/timestamp_value.h"

namespace strom::format {

/// 128 bits hold every DECIMAL (38 digits).
using Int128 = __int128;

/// One value of any type in memory, for what is not hot: tests, statistics, literals of filters, partition values, tools. The data path
/// uses FieldView. Which type it is, the schema says: a Value knows only its kind. Source: spec/formats.md 0.
///
/// | kind       | types |
/// |------------|-------|
/// | kInteger   | TINYINT, SMALLINT, INTEGER, BIGINT, DATE (days), TIME (milliseconds of the day) |
/// | kBytes     | CHAR, STRING (UTF-8), BINARY, BYTES; owned, or a view whose bytes must outlive the value |
/// | kDecimal   | DECIMAL: the unscaled value |
/// | kArray     | items are the elements |
/// | kMap       | items are key, value, key, value ... in the producer's order |
/// | kRow       | items are the fields |
class Value {
 public:
  enum class Kind : uint8_t { kNull, kBoolean, kInteger, kFloat, kDouble, kBytes, kDecimal, kTimestamp, kArray, kMap, kRow };
  using Items = std::vector<Value>;

  Value() = default;
  static Value Null() { return {}; }
  static Value Boolean(bool value) { return Value(Kind::kBoolean, value); }
  static Value Integer(int64_t value) { return Value(Kind::kInteger, value); }
  static Value Float(float value) { return Value(Kind::kFloat, value); }
  static Value Double(double value) { return Value(Kind::kDouble, value); }
  static Value String(std::string value) { return Value(Kind::kBytes, std::move(value)); }
  static Value Bytes(ByteView value) { return Value(Kind::kBytes, std::string(AsText(value))); }
  static Value View(std::string_view value) { return Value(Kind::kBytes, value); }
  static Value View(ByteView value) { return Value(Kind::kBytes, AsText(value)); }
  static Value Decimal(Int128 unscaled) { return Value(Kind::kDecimal, unscaled); }
  static Value Timestamp(int64_t millis, int32_t nanos_of_milli = 0) {
    return Value(Kind::kTimestamp, TimestampValue{millis, nanos_of_milli});
  }
  static Value Array(Items elements) { return Value(Kind::kArray, std::move(elements)); }
  static Value Map(Items keys_and_values) { return Value(Kind::kMap, std::move(keys_and_values)); }
  static Value Row(Items fields) { return Value(Kind::kRow, std::move(fields)); }

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }

  // Each of these may be called only on its kind.
  bool boolean() const { return std::get<bool>(data_); }
  int64_t integer() const { return std::get<int64_t>(data_); }
  float float_value() const { return std::get<float>(data_); }
  double double_value() const { return std::get<double>(data_); }
  Int128 decimal() const { return std::get<Int128>(data_); }
  TimestampValue timestamp() const { return std::get<TimestampValue>(data_); }
  std::string_view text() const {
    const auto* view = std::get_if<std::string_view>(&data_);
    return view != nullptr ? *view : std::string_view(std::get<std::string>(data_));
  }
  ByteView bytes() const { return AsBytes(text()); }
  const Items& items() const { return std::get<Items>(data_); }
  Items& items() { return std::get<Items>(data_); }

  /// The same with all bytes owned.
  Value Owned() const;

  /// Same kind and content. FLOAT and DOUBLE compare by their bits, so a NaN equals itself and -0.0 is not 0.0.
  friend bool operator==(const Value& a, const Value& b);
  /// For messages and test failures; bytes that are not printable ASCII appear as \xHH.
  std::string ToString() const;

 private:
  template <typename T>
  Value(Kind kind, T value) : kind_(kind), data_(std::move(value)) {}

  Kind kind_ = Kind::kNull;
  std::variant<std::monostate, bool, int64_t, float, double, Int128, TimestampValue, std::string_view, std::string, Items> data_;
};

std::string_view KindName(Value::Kind kind);

/// "-12345678901234567890" of an unscaled value.
std::string Int128ToString(Int128 value);
/// "123.4500": DECIMAL(p, s) in plain notation with `scale` digits after the point.
std::string DecimalToString(Int128 unscaled, int32_t scale);
/// 10 to the power of `exponent`, 0 to 38.
Int128 PowerOfTen(int32_t exponent);

}  // namespace strom::format
