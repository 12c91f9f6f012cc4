#include "model/schema.h"

#include <algorithm>

#include "model/data_type_json.h"
#include "model/schema_json.h"

namespace strom::model {

namespace {

void FindHighestId(const DataType& type, int32_t* highest) {
  if (!type.fields) return;
  for (const DataField& field : *type.fields) {
    *highest = std::max(*highest, field.field_id);
    FindHighestId(field.type, highest);
  }
}

/// The next free id, or -1 when all are used up (ValidateSchema refuses a schema with unassigned ids).
int32_t TakeId(int32_t* highest) { return *highest == INT32_MAX ? -1 : ++*highest; }

bool HasUnassignedId(const DataType& type) {
  if (!type.fields) return false;
  return std::any_of(type.fields->begin(), type.fields->end(), [&](const DataField& field) {
    return (type.root == TypeRoot::kRow && field.field_id < 0) || HasUnassignedId(field.type);
  });
}

void AssignNestedIds(DataType* type, int32_t* highest) {
  if (!HasUnassignedId(*type)) return;
  std::vector<DataField> fields = *type->fields;
  for (DataField& field : fields) {
    if (type->root == TypeRoot::kRow && field.field_id < 0) field.field_id = TakeId(highest);
    AssignNestedIds(&field.type, highest);
  }
  type->fields = std::make_shared<const std::vector<DataField>>(std::move(fields));
}

Result<std::optional<AggregateFunction>> ReadAggregate(const JsonNode& column) {
  STROM_ASSIGN(const std::optional<JsonNode> node, column.Optional("agg_function"));
  if (!node) return std::optional<AggregateFunction>();
  AggregateFunction function;
  STROM_ASSIGN(const std::string type, node->RequiredString("type"));
  const std::optional<std::string_view> name = FindAggregateFunction(type);
  if (!name) return std::optional<AggregateFunction>();  // dropped silently: json-formats.md 2
  function.type = *name;
  STROM_ASSIGN(const std::optional<JsonNode> parameters, node->Optional("parameters"));
  if (parameters) {
    STROM_ASSIGN(function.parameters, parameters->StringMap());
  }
  return std::optional<AggregateFunction>(std::move(function));
}

Result<Column> ReadColumn(const JsonNode& node) {
  Column column;
  STROM_ASSIGN(column.name, node.RequiredString("name"));
  STROM_ASSIGN(const JsonNode type, node.Required("data_type"));
  STROM_ASSIGN(column.type, ReadDataType(type));
  STROM_ASSIGN(column.comment, node.OptionalString("comment"));
  STROM_ASSIGN(column.aggregate, ReadAggregate(node));
  STROM_ASSIGN(const std::optional<int32_t> id, node.OptionalInt32("id", -1, INT32_MAX));
  column.id = id.value_or(-1);
  return column;
}

Result<std::vector<std::string>> OptionalStrings(const JsonNode& node, std::string_view key) {
  STROM_ASSIGN(const std::optional<JsonNode> member, node.Optional(key));
  if (!member) return std::vector<std::string>();
  return member->Strings();
}

}  // namespace

std::optional<size_t> Schema::FindColumn(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<size_t> Schema::FindColumnById(int32_t id) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].id == id) return i;
  }
  return std::nullopt;
}

int32_t HighestFieldId(const Schema& schema) {
  int32_t highest = -1;
  for (const Column& column : schema.columns) {
    highest = std::max(highest, column.id);
    FindHighestId(column.type, &highest);
  }
  return highest;
}

void ForgetFieldIds(DataType* type) {
  if (!type->fields) return;
  std::vector<DataField> fields = *type->fields;
  for (DataField& field : fields) {
    field.field_id = -1;
    ForgetFieldIds(&field.type);
  }
  type->fields = std::make_shared<const std::vector<DataField>>(std::move(fields));
}

void AssignFieldIds(Schema* schema) {
  const bool complete = std::none_of(schema->columns.begin(), schema->columns.end(),
                                     [](const Column& c) { return c.id < 0 || HasUnassignedId(c.type); });
  if (complete) return;
  int32_t highest = std::max(schema->highest_field_id, HighestFieldId(*schema));
  for (Column& column : schema->columns) {
    if (column.id < 0) column.id = TakeId(&highest);
    AssignNestedIds(&column.type, &highest);
  }
  schema->highest_field_id = highest;
}

std::optional<std::string_view> FindAggregateFunction(std::string_view name) {
  static constexpr std::string_view kNames[] = {"sum",         "product",
                                                "max",         "min",
                                                "last_value",  "last_value_ignore_nulls",
                                                "first_value", "first_value_ignore_nulls",
                                                "listagg",     "string_agg",
                                                "bool_and",    "bool_or",
                                                "rbm32",       "rbm64"};
  std::string wanted(name);
  for (char& c : wanted) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  for (const std::string_view known : kNames) {
    if (known == wanted) return known;
  }
  return std::nullopt;
}

Result<Schema> ReadSchema(const JsonNode& node) {
  Schema schema;
  STROM_ASSIGN(const JsonNode columns, node.Required("columns"));
  STROM_TRY(columns.ForEach([&](const JsonNode& member) -> Status {
    STROM_ASSIGN(Column column, ReadColumn(member));
    schema.columns.push_back(std::move(column));
    return Status::OK();
  }));
  STROM_ASSIGN(schema.primary_key, OptionalStrings(node, "primary_key"));
  STROM_ASSIGN(schema.auto_increment_columns, OptionalStrings(node, "auto_increment_column"));
  STROM_ASSIGN(const std::optional<int32_t> highest, node.OptionalInt32("highest_field_id", -1, INT32_MAX));
  schema.highest_field_id = highest.value_or(HighestFieldId(schema));
  AssignFieldIds(&schema);
  return schema;
}

void WriteSchema(const Schema& schema, JsonWriter* writer) {
  writer->BeginObject().Key("version").Int(1).Key("columns").BeginArray();
  for (const Column& column : schema.columns) {
    writer->BeginObject().Key("name").String(column.name).Key("data_type");
    WriteDataType(column.type, writer);
    if (column.comment) writer->Key("comment").String(*column.comment);
    if (column.aggregate) {
      writer->Key("agg_function").BeginObject().Key("type").String(column.aggregate->type);
      if (!column.aggregate->parameters.empty()) writer->Key("parameters").Strings(column.aggregate->parameters);
      writer->EndObject();
    }
    writer->Key("id").Int(column.id).EndObject();
  }
  writer->EndArray();
  if (!schema.primary_key.empty()) writer->Key("primary_key").Strings(schema.primary_key);
  if (!schema.auto_increment_columns.empty())
    writer->Key("auto_increment_column").Strings(schema.auto_increment_columns);
  writer->Key("highest_field_id").Int(schema.highest_field_id).EndObject();
}

Result<Schema> ParseSchemaJson(std::string_view json) {
  STROM_ASSIGN(const auto document, ParseJson(json, ErrorCode::kInvalidTable));
  return ReadSchema(JsonNode(*document, ErrorCode::kInvalidTable));
}

std::string ToJson(const Schema& schema) {
  JsonWriter writer;
  WriteSchema(schema, &writer);
  return writer.Take();
}

}  // namespace strom::model
