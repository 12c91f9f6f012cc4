#include "kv/testing/tables.h"

#include "format/row_codec.h"
#include "model/schema_validation.h"

namespace strom::kv::testing {

using format::Value;

void AppendColumns(std::vector<ColumnSpec> columns, model::Schema* schema) {
  for (ColumnSpec& spec : columns) {
    model::Column column;
    column.name = std::move(spec.name);
    column.type = std::move(spec.type);
    if (!spec.aggregate.empty()) {
      column.aggregate = model::AggregateFunction{std::move(spec.aggregate), {}};
      if (!spec.delimiter.empty()) column.aggregate->parameters["delimiter"] = std::move(spec.delimiter);
    }
    schema->columns.push_back(std::move(column));
  }
  model::NormalizeSchema(schema);
}

model::Schema MakeSchema(std::vector<ColumnSpec> columns, std::vector<std::string> primary_key) {
  model::Schema schema;
  schema.primary_key = std::move(primary_key);
  AppendColumns(std::move(columns), &schema);
  return schema;
}

Result<std::shared_ptr<const KvTable>> TryMakeTable(const TableSpec& spec) {
  auto info = std::make_shared<model::TableInfo>();
  info->path = {"test", "table"};
  info->schema_id = SchemaId(static_cast<int32_t>(spec.schemas.size()));
  info->descriptor.schema = spec.schemas.back();
  info->descriptor.partition_keys = spec.partition_keys;
  info->descriptor.bucket_keys = spec.bucket_keys;
  info->descriptor.bucket_count = 1;
  info->descriptor.properties = spec.properties;
  STROM_ASSIGN(info->config, model::ParseTableConfig(spec.properties));
  KvTable::Schemas schemas;
  for (const model::Schema& schema : spec.schemas) {
    schemas.emplace(static_cast<int16_t>(schemas.size() + 1), std::make_shared<const model::Schema>(schema));
  }
  return KvTable::Make(std::move(info), schemas);
}

std::shared_ptr<const KvTable> MakeTable(const TableSpec& spec) { return TryMakeTable(spec).value(); }

Buffer EncodeRow(const KvTable& table, int16_t schema_id, const std::vector<Value>& values) {
  MutableBuffer out;
  const Status status = format::EncodeRow(table.row_format(), table.Find(schema_id)->fields, values, &out);
  STROM_ASSERT(status.ok(), "{}", status.ToString());
  return out.Freeze();
}

std::vector<Value> DecodeRow(const KvTable& table, int16_t schema_id, ByteView row) {
  const auto decoded = format::DecodeRow(table.row_format(), table.Find(schema_id)->fields, row);
  STROM_ASSERT(decoded.ok(), "{}", decoded.ToString());
  return decoded->Owned().items();
}

}  // namespace strom::kv::testing
