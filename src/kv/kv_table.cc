#include "kv/kv_table.h"

#include <algorithm>

#include "format/bucketing.h"
#include "format/compacted_row.h"
#include "format/indexed_row.h"

namespace strom::kv {

using format::FieldView;
using format::RowFormat;
using model::Column;
using model::Schema;
using model::TableInfo;

namespace {

/// Where each column of `from` stands in `to`, by column id; -1: nowhere.
std::vector<int32_t> PositionsIn(const Schema& from, const Schema& to) {
  std::vector<int32_t> positions;
  positions.reserve(from.columns.size());
  for (const Column& column : from.columns) {
    const std::optional<size_t> at = to.FindColumnById(column.id);
    positions.push_back(at ? static_cast<int32_t>(*at) : -1);
  }
  return positions;
}

Result<RowSchema> MakeRowSchema(const TableInfo& table, int16_t schema_id, std::shared_ptr<const Schema> schema,
                                const Schema& latest) {
  RowSchema made;
  made.schema_id = schema_id;
  made.fields = format::FieldsOf(*schema);
  made.from_latest = PositionsIn(latest, *schema);
  made.to_latest = PositionsIn(*schema, latest);
  made.has_nested =
      std::ranges::any_of(made.fields, [](const model::DataField& field) { return field.type.is_nested(); });
  made.is_prefix_of_latest = true;
  for (size_t i = 0; i < made.to_latest.size(); ++i) {
    const int32_t at = made.to_latest[i];
    if (at != static_cast<int32_t>(i)) made.is_prefix_of_latest = false;
    if (at < 0) continue;
    const Column& column = latest.columns[static_cast<size_t>(at)];
    if (!model::SamePhysicalType(schema->columns[i].type, column.type)) {
      return MakeError(ErrorCode::kInvalidTable, "table {}: the column {} is {} in schema {}, but {} in the latest one",
                       table.path.ToString(), column.name, schema->columns[i].type.ToString(), schema_id,
                       column.type.ToString());
    }
  }
  made.schema = std::move(schema);
  return made;
}

/// Positions of named columns.
Result<std::vector<size_t>> Positions(const TableInfo& table, const Schema& schema,
                                      const std::vector<std::string>& names) {
  std::vector<size_t> positions;
  for (const std::string& name : names) {
    const std::optional<size_t> at = schema.FindColumn(name);
    if (!at)
      return MakeError(ErrorCode::kInvalidTable, "table {}: the key column {} is no column", table.path.ToString(),
                       name);
    positions.push_back(*at);
  }
  return positions;
}

/// The primary key without partition columns: what a key of the store says, since a bucket lies in one partition.
std::vector<std::string> PhysicalPrimaryKey(const TableInfo& table, const Schema& schema) {
  const std::vector<std::string>& partition_keys = table.descriptor.partition_keys;
  std::vector<std::string> names;
  for (const std::string& name : schema.primary_key) {
    if (std::find(partition_keys.begin(), partition_keys.end(), name) == partition_keys.end()) names.push_back(name);
  }
  return names;
}

Result<format::KeyEncoder> MakeKeyEncoder(const TableInfo& table, const std::vector<std::string>& key,
                                          const std::vector<size_t>& positions, const RowSchema& latest) {
  const model::TableDescriptor& descriptor = table.descriptor;
  std::optional<std::string_view> lake_name;
  if (const auto option = descriptor.properties.find("table.datalake.format"); option != descriptor.properties.end())
    lake_name = option->second;
  STROM_ASSIGN(const format::LakeFormat lake, format::ParseLakeFormat(lake_name));
  const bool default_bucket_key = descriptor.bucket_keys.empty() || descriptor.bucket_keys == key;
  std::vector<model::DataField> columns;
  for (const size_t at : positions) columns.push_back(latest.fields[at]);
  return format::KeyEncoder::Make(format::PrimaryKeyFormat(lake, table.config.kv_format_version, default_bucket_key),
                                  std::move(columns));
}

/// Reads `row` field by field into `fields`, by the positions of its schema.
template <typename Reader>
Status ReadFields(const RowSchema& schema, ByteView row, std::span<FieldView> fields) {
  Reader reader(schema.fields, row);
  if (schema.is_prefix_of_latest) {
    const size_t count = schema.fields.size();
    for (size_t i = 0; i < count; ++i) STROM_TRY(reader.Next(&fields[i]));
    std::fill(fields.begin() + static_cast<std::ptrdiff_t>(count), fields.end(), FieldView::Null());
    return Status::OK();
  }
  std::fill(fields.begin(), fields.end(), FieldView::Null());
  for (const int32_t at : schema.to_latest) {
    FieldView gone;
    STROM_TRY(reader.Next(at < 0 ? &gone : &fields[static_cast<size_t>(at)]));
  }
  return Status::OK();
}

template <typename Reader>
Status ReadField(const RowSchema& schema, ByteView row, size_t position, FieldView* field) {
  Reader reader(schema.fields, row);
  for (size_t i = 0; i <= position; ++i) STROM_TRY(reader.Next(field));
  return Status::OK();
}

}  // namespace

Result<std::shared_ptr<const KvTable>> KvTable::Make(std::shared_ptr<const TableInfo> table, const Schemas& schemas) {
  if (schemas.empty() || !schemas.rbegin()->second->has_primary_key()) {
    return MakeError(ErrorCode::kInvalidTable, "table {} has no primary key", table->path.ToString());
  }
  const Schema& latest_schema = *schemas.rbegin()->second;
  std::map<int16_t, RowSchema> row_schemas;
  for (const auto& [id, schema] : schemas) {
    STROM_ASSIGN(RowSchema made, MakeRowSchema(*table, id, schema, latest_schema));
    row_schemas.emplace(id, std::move(made));
  }
  const std::vector<std::string> key = PhysicalPrimaryKey(*table, latest_schema);
  STROM_ASSIGN(std::vector<size_t> key_columns, Positions(*table, latest_schema, key));
  STROM_ASSIGN(std::vector<size_t> primary_key_columns, Positions(*table, latest_schema, latest_schema.primary_key));
  STROM_ASSIGN(format::KeyEncoder key_encoder, MakeKeyEncoder(*table, key, key_columns, row_schemas.rbegin()->second));

  std::shared_ptr<KvTable> made(new KvTable(std::move(key_encoder)));
  made->row_format_ =
      table->config.kv_format == model::KvFormat::kIndexed ? RowFormat::kIndexed : RowFormat::kCompacted;
  made->log_row_format_ =
      table->config.log_format == model::LogFormat::kIndexed ? RowFormat::kIndexed : RowFormat::kCompacted;
  made->schemas_ = std::move(row_schemas);
  made->latest_ = &made->schemas_.rbegin()->second;
  made->key_columns_ = std::move(key_columns);
  made->primary_key_columns_ = std::move(primary_key_columns);
  if (!latest_schema.auto_increment_columns.empty()) {
    STROM_ASSIGN(const std::vector<size_t> at, Positions(*table, latest_schema, latest_schema.auto_increment_columns));
    made->auto_increment_column_ = static_cast<int32_t>(at.front());
  }
  made->info_ = std::move(table);
  return std::shared_ptr<const KvTable>(std::move(made));
}

const RowSchema* KvTable::Find(int16_t schema_id) const {
  if (schema_id == latest_->schema_id) return latest_;
  const auto found = schemas_.find(schema_id);
  return found == schemas_.end() ? nullptr : &found->second;
}

Result<const RowSchema*> KvTable::SchemaOf(int16_t schema_id) const {
  if (const RowSchema* schema = Find(schema_id); schema != nullptr) return schema;
  return MakeError(ErrorCode::kSchemaNotExist, "table {} has no schema {}; the latest one is {}",
                   info_->path.ToString(), schema_id, latest_->schema_id);
}

Status KvTable::ReadColumn(const RowView& row, size_t column, FieldView* field) const {
  STROM_ASSIGN(const RowSchema* const schema, SchemaOf(row.schema_id));
  const int32_t position = schema->from_latest[column];
  if (position < 0) {
    *field = FieldView::Null();
    return Status::OK();
  }
  return row_format_ == RowFormat::kIndexed
             ? ReadField<format::IndexedRowReader>(*schema, row.row, static_cast<size_t>(position), field)
             : ReadField<format::CompactedRowReader>(*schema, row.row, static_cast<size_t>(position), field);
}

Status KvTable::ReadInLatest(const RowView& row, std::vector<FieldView>* fields) const {
  STROM_ASSIGN(const RowSchema* const schema, SchemaOf(row.schema_id));
  fields->resize(latest_->fields.size());
  return row_format_ == RowFormat::kIndexed ? ReadFields<format::IndexedRowReader>(*schema, row.row, *fields)
                                            : ReadFields<format::CompactedRowReader>(*schema, row.row, *fields);
}

Status KvTable::WriteLatest(std::span<const FieldView> fields, MutableBuffer* out) const {
  return format::EncodeRow(row_format_, latest_->fields, fields, out);
}

}  // namespace strom::kv
