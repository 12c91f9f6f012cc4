#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace strom::model {

enum class TypeRoot : uint8_t {
  kBoolean,
  kTinyInt,
  kSmallInt,
  kInteger,
  kBigInt,
  kFloat,
  kDouble,
  kChar,  // length
  kString,
  kBinary,  // length
  kBytes,
  kDecimal,  // precision, scale
  kDate,
  kTime,          // precision
  kTimestamp,     // precision; without time zone
  kTimestampLtz,  // precision; with local time zone
  kArray,         // children[0] = element
  kMap,           // children[0] = key, children[1] = value
  kRow,           // fields
};

struct DataField;

/// A column's type. A plain value; nested types are shared and immutable. Source: spec/json-formats.md 1, formats.md 0.
struct DataType {
  TypeRoot root = TypeRoot::kInteger;
  bool nullable = true;
  int32_t length = 0;     // CHAR and BINARY: >= 1
  int32_t precision = 0;  // DECIMAL 1..38; TIME, TIMESTAMP, TIMESTAMP_LTZ 0..9
  int32_t scale = 0;      // DECIMAL 0..precision
  std::shared_ptr<const std::vector<DataField>>
      fields;  // ARRAY: 1 (element); MAP: 2 (key, value); ROW: its fields. Else null.

  static DataType Of(TypeRoot root, bool nullable = true);
  static DataType Char(int32_t length, bool nullable = true);
  static DataType Binary(int32_t length, bool nullable = true);
  static DataType Decimal(int32_t precision, int32_t scale, bool nullable = true);
  static DataType Time(int32_t precision, bool nullable = true);
  static DataType Timestamp(int32_t precision, bool nullable = true);
  static DataType TimestampLtz(int32_t precision, bool nullable = true);
  static DataType Array(DataType element, bool nullable = true);
  static DataType Map(DataType key, DataType value, bool nullable = true);
  static DataType Row(std::vector<DataField> fields, bool nullable = true);

  const DataType& element() const;    // ARRAY
  const DataType& key() const;        // MAP
  const DataType& map_value() const;  // MAP

  bool is_nested() const { return root == TypeRoot::kArray || root == TypeRoot::kMap || root == TypeRoot::kRow; }
  /// p <= 18: the unscaled value fits in 64 bits.
  bool is_compact_decimal() const { return root == TypeRoot::kDecimal && precision <= 18; }
  /// p <= 3: milliseconds say it all.
  bool is_compact_timestamp() const { return precision <= 3; }

  /// "DECIMAL(10, 2) NOT NULL"
  std::string ToString() const;
};

/// A field of a ROW (or, without name and id, the element of an ARRAY or the key and value of a MAP).
struct DataField {
  std::string name;
  DataType type;
  std::optional<std::string> description;
  int32_t field_id = -1;  // -1: not assigned
};

bool operator==(const DataType& a, const DataType& b);
bool operator==(const DataField& a, const DataField& b);
/// Equal but for nullability, field names, descriptions and ids: the same bytes mean the same values.
bool SamePhysicalType(const DataType& a, const DataType& b);

/// Nesting deeper than this is refused wherever a type comes from outside (design: recursive messages).
inline constexpr int kTypeDepthMax = 64;

/// JSON of spec/json-formats.md 1. The parser refuses unknown types, bad lengths, precisions and scales, and deep nesting; the
/// error names the place in the document.
Result<DataType> ParseDataTypeJson(std::string_view json);
std::string ToJson(const DataType& type);

}  // namespace strom::model
