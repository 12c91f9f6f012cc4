#include "model/data_type.h"

#include <fmt/format.h>

namespace strom::model {

namespace {

DataType Nested(TypeRoot root, std::vector<DataField> fields, bool nullable) {
  DataType type = DataType::Of(root, nullable);
  type.fields = std::make_shared<const std::vector<DataField>>(std::move(fields));
  return type;
}

DataField Unnamed(DataType type) {
  DataField field;
  field.type = std::move(type);
  return field;
}

DataType WithPrecision(TypeRoot root, int32_t precision, bool nullable) {
  DataType type = DataType::Of(root, nullable);
  type.precision = precision;
  return type;
}

DataType WithLength(TypeRoot root, int32_t length, bool nullable) {
  DataType type = DataType::Of(root, nullable);
  type.length = length;
  return type;
}

std::string RowToString(const std::vector<DataField>& fields) {
  std::string text = "ROW<";
  for (const DataField& field : fields) {
    if (text.size() > 4) text += ", ";
    text += fmt::format("`{}` {}", field.name, field.type.ToString());
    if (field.description) text += fmt::format(" '{}'", *field.description);
  }
  return text + ">";
}

std::string NameOf(const DataType& type) {
  switch (type.root) {
    case TypeRoot::kBoolean:
      return "BOOLEAN";
    case TypeRoot::kTinyInt:
      return "TINYINT";
    case TypeRoot::kSmallInt:
      return "SMALLINT";
    case TypeRoot::kInteger:
      return "INT";
    case TypeRoot::kBigInt:
      return "BIGINT";
    case TypeRoot::kFloat:
      return "FLOAT";
    case TypeRoot::kDouble:
      return "DOUBLE";
    case TypeRoot::kChar:
      return fmt::format("CHAR({})", type.length);
    case TypeRoot::kString:
      return "STRING";
    case TypeRoot::kBinary:
      return fmt::format("BINARY({})", type.length);
    case TypeRoot::kBytes:
      return "BYTES";
    case TypeRoot::kDecimal:
      return fmt::format("DECIMAL({}, {})", type.precision, type.scale);
    case TypeRoot::kDate:
      return "DATE";
    case TypeRoot::kTime:
      return fmt::format("TIME({})", type.precision);
    case TypeRoot::kTimestamp:
      return fmt::format("TIMESTAMP({})", type.precision);
    case TypeRoot::kTimestampLtz:
      return fmt::format("TIMESTAMP_LTZ({})", type.precision);
    case TypeRoot::kArray:
      return fmt::format("ARRAY<{}>", type.element().ToString());
    case TypeRoot::kMap:
      return fmt::format("MAP<{}, {}>", type.key().ToString(), type.map_value().ToString());
    case TypeRoot::kRow:
      return RowToString(*type.fields);
  }
  return "?";
}

}  // namespace

DataType DataType::Of(TypeRoot root, bool nullable) {
  DataType type;
  type.root = root;
  type.nullable = nullable;
  return type;
}

DataType DataType::Char(int32_t length, bool nullable) { return WithLength(TypeRoot::kChar, length, nullable); }
DataType DataType::Binary(int32_t length, bool nullable) { return WithLength(TypeRoot::kBinary, length, nullable); }

DataType DataType::Decimal(int32_t precision, int32_t scale, bool nullable) {
  DataType type = WithPrecision(TypeRoot::kDecimal, precision, nullable);
  type.scale = scale;
  return type;
}

DataType DataType::Time(int32_t precision, bool nullable) {
  return WithPrecision(TypeRoot::kTime, precision, nullable);
}
DataType DataType::Timestamp(int32_t precision, bool nullable) {
  return WithPrecision(TypeRoot::kTimestamp, precision, nullable);
}
DataType DataType::TimestampLtz(int32_t precision, bool nullable) {
  return WithPrecision(TypeRoot::kTimestampLtz, precision, nullable);
}

DataType DataType::Array(DataType element, bool nullable) {
  std::vector<DataField> fields;
  fields.push_back(Unnamed(std::move(element)));
  return Nested(TypeRoot::kArray, std::move(fields), nullable);
}

DataType DataType::Map(DataType key, DataType value, bool nullable) {
  key.nullable = false;
  std::vector<DataField> fields;
  fields.push_back(Unnamed(std::move(key)));
  fields.push_back(Unnamed(std::move(value)));
  return Nested(TypeRoot::kMap, std::move(fields), nullable);
}

DataType DataType::Row(std::vector<DataField> fields, bool nullable) {
  return Nested(TypeRoot::kRow, std::move(fields), nullable);
}

const DataType& DataType::element() const {
  STROM_ASSERT(root == TypeRoot::kArray, "element() of {}", ToString());
  return (*fields)[0].type;
}

const DataType& DataType::key() const {
  STROM_ASSERT(root == TypeRoot::kMap, "key() of {}", ToString());
  return (*fields)[0].type;
}

const DataType& DataType::map_value() const {
  STROM_ASSERT(root == TypeRoot::kMap, "map_value() of {}", ToString());
  return (*fields)[1].type;
}

std::string DataType::ToString() const { return NameOf(*this) + (nullable ? "" : " NOT NULL"); }

bool operator==(const DataType& a, const DataType& b) {
  if (a.root != b.root || a.nullable != b.nullable || a.length != b.length || a.precision != b.precision ||
      a.scale != b.scale) {
    return false;
  }
  if (!a.fields || !b.fields) return !a.fields && !b.fields;
  return a.fields == b.fields || *a.fields == *b.fields;
}

bool operator==(const DataField& a, const DataField& b) {
  return a.name == b.name && a.type == b.type && a.description == b.description && a.field_id == b.field_id;
}

bool SamePhysicalType(const DataType& a, const DataType& b) {
  if (a.root != b.root || a.length != b.length || a.precision != b.precision || a.scale != b.scale) return false;
  if (!a.fields || !b.fields) return !a.fields && !b.fields;
  if (a.fields->size() != b.fields->size()) return false;
  for (size_t i = 0; i < a.fields->size(); ++i) {
    if (!SamePhysicalType((*a.fields)[i].type, (*b.fields)[i].type)) return false;
  }
  return true;
}

}  // namespace strom::model
