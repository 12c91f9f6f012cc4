#include "model/data_type_json.h"

#include <array>
#include <utility>

namespace strom::model {

namespace {

constexpr std::array<std::pair<std::string_view, TypeRoot>, 19> kTypeNames = {{
    {"BOOLEAN", TypeRoot::kBoolean},
    {"TINYINT", TypeRoot::kTinyInt},
    {"SMALLINT", TypeRoot::kSmallInt},
    {"INTEGER", TypeRoot::kInteger},
    {"BIGINT", TypeRoot::kBigInt},
    {"FLOAT", TypeRoot::kFloat},
    {"DOUBLE", TypeRoot::kDouble},
    {"CHAR", TypeRoot::kChar},
    {"STRING", TypeRoot::kString},
    {"BINARY", TypeRoot::kBinary},
    {"BYTES", TypeRoot::kBytes},
    {"DECIMAL", TypeRoot::kDecimal},
    {"DATE", TypeRoot::kDate},
    {"TIME_WITHOUT_TIME_ZONE", TypeRoot::kTime},
    {"TIMESTAMP_WITHOUT_TIME_ZONE", TypeRoot::kTimestamp},
    {"TIMESTAMP_WITH_LOCAL_TIME_ZONE", TypeRoot::kTimestampLtz},
    {"ARRAY", TypeRoot::kArray},
    {"MAP", TypeRoot::kMap},
    {"ROW", TypeRoot::kRow},
}};

std::string_view JsonName(TypeRoot root) {
  for (const auto& [name, candidate] : kTypeNames) {
    if (candidate == root) return name;
  }
  return "";
}

Result<TypeRoot> ReadRoot(const JsonNode& node) {
  STROM_ASSIGN(const JsonNode member, node.Required("type"));
  STROM_ASSIGN(const std::string text, member.String());
  for (const auto& [name, root] : kTypeNames) {
    if (name == text) return root;
  }
  return member.Wrong(fmt::format("\"{}\" is not a data type", text));
}

Result<DataField> ReadField(const JsonNode& node, int depth) {
  DataField field;
  STROM_ASSIGN(field.name, node.RequiredString("name"));
  STROM_ASSIGN(const JsonNode type, node.Required("field_type"));
  STROM_ASSIGN(field.type, ReadDataType(type, depth));
  STROM_ASSIGN(field.description, node.OptionalString("description"));
  STROM_ASSIGN(const std::optional<int32_t> id, node.OptionalInt32("field_id", -1, INT32_MAX));
  field.field_id = id.value_or(-1);
  return field;
}

Result<DataType> ReadMember(const JsonNode& node, std::string_view key, int depth) {
  STROM_ASSIGN(const JsonNode member, node.Required(key));
  return ReadDataType(member, depth);
}

Result<DataType> ReadNested(const JsonNode& node, TypeRoot root, int depth) {
  if (root == TypeRoot::kArray) {
    STROM_ASSIGN(DataType element, ReadMember(node, "element_type", depth));
    return DataType::Array(std::move(element));
  }
  if (root == TypeRoot::kMap) {
    STROM_ASSIGN(DataType key, ReadMember(node, "key_type", depth));
    STROM_ASSIGN(DataType value, ReadMember(node, "value_type", depth));
    return DataType::Map(std::move(key), std::move(value));
  }
  STROM_ASSIGN(const JsonNode members, node.Required("fields"));
  std::vector<DataField> fields;
  STROM_TRY(members.ForEach([&](const JsonNode& member) -> Status {
    STROM_ASSIGN(DataField field, ReadField(member, depth));
    fields.push_back(std::move(field));
    return Status::OK();
  }));
  return DataType::Row(std::move(fields));
}

}  // namespace

Result<DataType> ReadDataType(const JsonNode& node, int depth) {
  if (depth >= kTypeDepthMax) return node.Wrong(fmt::format("types nest deeper than {} levels", kTypeDepthMax));
  STROM_ASSIGN(const TypeRoot root, ReadRoot(node));
  DataType type = DataType::Of(root);
  switch (root) {
    case TypeRoot::kChar:
    case TypeRoot::kBinary: {
      STROM_ASSIGN(type.length, node.RequiredInt32("length", 1, INT32_MAX));
      break;
    }
    case TypeRoot::kDecimal: {
      STROM_ASSIGN(type.precision, node.RequiredInt32("precision", 1, 38));
      STROM_ASSIGN(type.scale, node.RequiredInt32("scale", 0, type.precision));
      break;
    }
    case TypeRoot::kTime:
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz: {
      STROM_ASSIGN(type.precision, node.RequiredInt32("precision", 0, 9));
      break;
    }
    case TypeRoot::kArray:
    case TypeRoot::kMap:
    case TypeRoot::kRow: {
      STROM_ASSIGN(type, ReadNested(node, root, depth + 1));
      break;
    }
    default:
      break;
  }
  STROM_ASSIGN(const std::optional<JsonNode> nullable, node.Optional("nullable"));
  if (nullable) {
    STROM_ASSIGN(type.nullable, nullable->Bool());
  }
  return type;
}

void WriteDataType(const DataType& type, JsonWriter* writer) {
  writer->BeginObject().Key("type").String(JsonName(type.root));
  if (!type.nullable) writer->Key("nullable").Bool(false);
  switch (type.root) {
    case TypeRoot::kChar:
    case TypeRoot::kBinary:
      writer->Key("length").Int(type.length);
      break;
    case TypeRoot::kDecimal:
      writer->Key("precision").Int(type.precision).Key("scale").Int(type.scale);
      break;
    case TypeRoot::kTime:
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      writer->Key("precision").Int(type.precision);
      break;
    case TypeRoot::kArray:
      writer->Key("element_type");
      WriteDataType(type.element(), writer);
      break;
    case TypeRoot::kMap:
      writer->Key("key_type");
      WriteDataType(type.key(), writer);
      writer->Key("value_type");
      WriteDataType(type.map_value(), writer);
      break;
    case TypeRoot::kRow:
      writer->Key("fields").BeginArray();
      for (const DataField& field : *type.fields) {
        writer->BeginObject().Key("name").String(field.name).Key("field_type");
        WriteDataType(field.type, writer);
        if (field.description) writer->Key("description").String(*field.description);
        writer->Key("field_id").Int(field.field_id).EndObject();
      }
      writer->EndArray();
      break;
    default:
      break;
  }
  writer->EndObject();
}

Result<DataType> ParseDataTypeJson(std::string_view json) {
  STROM_ASSIGN(const auto document, ParseJson(json, ErrorCode::kInvalidTable));
  return ReadDataType(JsonNode(*document, ErrorCode::kInvalidTable));
}

std::string ToJson(const DataType& type) {
  JsonWriter writer;
  WriteDataType(type, &writer);
  return writer.Take();
}

}  // namespace strom::model
