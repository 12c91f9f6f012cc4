#include "model/table_descriptor.h"

#include "model/json_node.h"
#include "model/json_writer.h"
#include "model/schema_json.h"

namespace strom::model {

namespace {

Result<Properties> RequiredMap(const JsonNode& node, std::string_view key) {
  STROM_ASSIGN(const JsonNode member, node.Required(key));
  return member.StringMap();
}

}  // namespace

Result<TableDescriptor> ParseTableDescriptorJson(std::string_view json) {
  STROM_ASSIGN(const auto document, ParseJson(json, ErrorCode::kInvalidTable));
  const JsonNode root(*document, ErrorCode::kInvalidTable);
  TableDescriptor table;
  STROM_ASSIGN(const JsonNode schema, root.Required("schema"));
  STROM_ASSIGN(table.schema, ReadSchema(schema));
  STROM_ASSIGN(table.comment, root.OptionalString("comment"));
  STROM_ASSIGN(const JsonNode partition_key, root.Required("partition_key"));
  STROM_ASSIGN(table.partition_keys, partition_key.Strings());
  STROM_ASSIGN(const std::optional<JsonNode> bucket_key, root.Optional("bucket_key"));
  STROM_ASSIGN(table.bucket_count, root.OptionalInt32("bucket_count", INT32_MIN, INT32_MAX));
  if (bucket_key) {
    table.has_distribution = true;
    STROM_ASSIGN(table.bucket_keys, bucket_key->Strings());
  } else if (table.bucket_count) {
    return root.Wrong("\"bucket_count\" without \"bucket_key\"");
  }
  STROM_ASSIGN(table.properties, RequiredMap(root, "properties"));
  STROM_ASSIGN(table.custom_properties, RequiredMap(root, "custom_properties"));
  return table;
}

std::string ToJson(const TableDescriptor& table) {
  JsonWriter writer;
  writer.BeginObject().Key("version").Int(1).Key("schema");
  WriteSchema(table.schema, &writer);
  if (table.comment) writer.Key("comment").String(*table.comment);
  writer.Key("partition_key").Strings(table.partition_keys);
  writer.Key("bucket_key").Strings(table.bucket_keys);
  if (table.bucket_count) writer.Key("bucket_count").Int(*table.bucket_count);
  writer.Key("properties").Strings(table.properties);
  writer.Key("custom_properties").Strings(table.custom_properties).EndObject();
  return writer.Take();
}

Result<DatabaseDescriptor> ParseDatabaseDescriptorJson(std::string_view json) {
  STROM_ASSIGN(const auto document, ParseJson(json, ErrorCode::kInvalidDatabase));
  const JsonNode root(*document, ErrorCode::kInvalidDatabase);
  DatabaseDescriptor database;
  STROM_ASSIGN(database.comment, root.OptionalString("comment"));
  STROM_ASSIGN(database.custom_properties, RequiredMap(root, "custom_properties"));
  return database;
}

std::string ToJson(const DatabaseDescriptor& database) {
  JsonWriter writer;
  writer.BeginObject().Key("version").Int(1);
  if (database.comment) writer.Key("comment").String(*database.comment);
  writer.Key("custom_properties").Strings(database.custom_properties).EndObject();
  return writer.Take();
}

}  // namespace strom::model
