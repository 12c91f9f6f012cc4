#include "vector.h"

#include <gtest/gtest.h>

#include <charconv>
#include <fstream>
#include <ostream>
#include <sstream>

namespace strom::vectors {

using format::Int128;
using format::Value;
using model::DataField;
using model::DataType;
using model::TypeRoot;

namespace {

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return MakeError(ErrorCode::kNotFound, "cannot read {}", path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

uint64_t HexNumber(const std::string& hex) {
  uint64_t number = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
  return number;
}

Int128 DecimalNumber(const std::string& text) {
  unsigned __int128 magnitude = 0;
  for (const char c : text) {
    if (c != '-') magnitude = magnitude * 10 + static_cast<unsigned>(c - '0');
  }
  return static_cast<Int128>(text[0] == '-' ? 0 - magnitude : magnitude);
}

int NibbleOf(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

}  // namespace

std::string FromHex(std::string_view hex) {
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(NibbleOf(hex[i]) << 4 | NibbleOf(hex[i + 1]));
  return bytes;
}

std::string ToHex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string Vector::Artifact(const Json& artifact) const {
  std::string bytes;
  if (artifact.contains("hex")) {
    bytes = FromHex(artifact.at("hex").get<std::string>());
  } else {
    auto content = ReadFile(folder + "/" + artifact.at("file").get<std::string>());
    EXPECT_TRUE(content.ok()) << content.ToString();
    if (content.ok()) bytes = std::move(*content);
  }
  EXPECT_EQ(bytes.size(), artifact.at("size").get<size_t>()) << "artifact of " << id;
  return bytes;
}

Result<std::vector<Vector>> LoadVectors(const std::string& folder) {
  STROM_ASSIGN(const std::string text, ReadFile(folder + "/vectors.json"));
  Json index = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (index.is_discarded() || !index.is_object() || !index.contains("vectors")) {
    return MakeError(ErrorCode::kCorruptData, "{}/vectors.json is not an index of vectors", folder);
  }
  std::vector<Vector> vectors;
  for (Json& json : index["vectors"]) {
    std::string id = json.at("id").get<std::string>();
    std::string kind = json.at("kind").get<std::string>();
    vectors.push_back({std::move(id), std::move(kind), std::move(json), folder});
  }
  return vectors;
}

std::vector<DataField> FieldsFrom(const Json& columns) {
  std::vector<DataField> fields;
  for (const Json& column : columns) {
    auto type = model::ParseDataTypeJson(column.at("type").dump());
    EXPECT_TRUE(type.ok()) << type.ToString();
    if (type.ok()) {
      fields.push_back({.name = column.at("name").get<std::string>(), .type = *type, .description = {}, .field_id = static_cast<int32_t>(fields.size())});
    }
  }
  return fields;
}

model::Schema SchemaFrom(const Json& columns) {
  model::Schema schema;
  for (DataField& field : FieldsFrom(columns)) {
    model::Column column;
    column.name = field.name;
    column.type = field.type;
    column.id = field.field_id;
    schema.columns.push_back(std::move(column));
  }
  schema.highest_field_id = static_cast<int32_t>(schema.columns.size()) - 1;
  return schema;
}

Value ValueFrom(const DataType& type, const Json& json) {
  if (json.is_null()) return Value::Null();
  switch (type.root) {
    case TypeRoot::kBoolean:
      return Value::Boolean(json.get<bool>());
    case TypeRoot::kTinyInt:
    case TypeRoot::kSmallInt:
    case TypeRoot::kInteger:
    case TypeRoot::kBigInt:
    case TypeRoot::kDate:
    case TypeRoot::kTime:
      return Value::Integer(json.get<int64_t>());
    case TypeRoot::kFloat:
      return Value::Float(std::bit_cast<float>(static_cast<uint32_t>(HexNumber(json.at("bits").get<std::string>()))));
    case TypeRoot::kDouble:
      return Value::Double(std::bit_cast<double>(HexNumber(json.at("bits").get<std::string>())));
    case TypeRoot::kChar:
    case TypeRoot::kString:
      return Value::String(json.get<std::string>());
    case TypeRoot::kBinary:
    case TypeRoot::kBytes:
      return Value::String(FromHex(json.at("hex").get<std::string>()));
    case TypeRoot::kDecimal:
      return Value::Decimal(DecimalNumber(json.at("unscaled").get<std::string>()));
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      return Value::Timestamp(json.at("millis").get<int64_t>(), json.at("nanos_of_milli").get<int32_t>());
    case TypeRoot::kArray: {
      Value::Items items;
      for (const Json& element : json) items.push_back(ValueFrom(type.element(), element));
      return Value::Array(std::move(items));
    }
    case TypeRoot::kMap: {
      Value::Items items;
      for (const Json& entry : json) {
        items.push_back(ValueFrom(type.key(), entry.at(0)));
        items.push_back(ValueFrom(type.map_value(), entry.at(1)));
      }
      return Value::Map(std::move(items));
    }
    case TypeRoot::kRow:
      break;
  }
  return RowFrom(*type.fields, json);
}

Value RowFrom(format::Fields fields, const Json& json) {
  EXPECT_EQ(json.size(), fields.size());
  Value::Items items;
  for (size_t i = 0; i < fields.size() && i < json.size(); ++i) items.push_back(ValueFrom(fields[i].type, json.at(i)));
  return Value::Row(std::move(items));
}

}  // namespace strom::vectors

void strom::format::PrintTo(const Value& value, std::ostream* out) { *out << value.ToString(); }
