#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/key_encoder.h"
#include "format/kv_value.h"
#include "format/row_codec.h"
#include "model/schema.h"
#include "model/table_descriptor.h"

namespace strom::kv {

/// A row as it lies in a KV batch or in the state: bytes of the table's KV format, written with that schema. A view.
struct RowView {
  int16_t schema_id = 0;
  ByteView row;
};

/// One schema that rows of a table may have, prepared for the data path.
struct RowSchema {
  int16_t schema_id = 0;
  std::shared_ptr<const model::Schema> schema;
  std::vector<model::DataField> fields;
  /// For each column of the latest schema: its position here by column id, -1 where this schema lacks it (spec/formats.md 13.1).
  std::vector<int32_t> from_latest;
  /// For each column here: its position in the latest schema by column id, -1 where that has none.
  std::vector<int32_t> to_latest;
  /// Every column stands where it stands in the latest schema, which may have more of them at its end.
  bool is_prefix_of_latest = false;
  bool has_nested = false;  // an ARRAY, MAP or ROW among the columns
};

/// A primary-key table as its buckets see it: immutable, made anew whenever the catalog has another schema or other options. Shared by the
/// buckets of a shard.
class KvTable {
 public:
  using Schemas = std::map<int16_t, std::shared_ptr<const model::Schema>>;

  /// `schemas` are all that the table ever had, the latest one last. kInvalidTable where the key has no encoding, or where a column changed
  /// its type between schemas.
  static Result<std::shared_ptr<const KvTable>> Make(std::shared_ptr<const model::TableInfo> table,
                                                     const Schemas& schemas);

  const model::TableInfo& info() const { return *info_; }
  const model::TableConfig& config() const { return info_->config; }
  format::RowFormat row_format() const { return row_format_; }
  /// Of the rows in a changelog of the INDEXED or COMPACTED log format; means nothing with ARROW.
  format::RowFormat log_row_format() const { return log_row_format_; }
  format::KvValueLayout value_layout() const { return format::KvValueLayout::kPlain; }
  const RowSchema& latest() const { return *latest_; }
  /// Null for an id that the table never had.
  const RowSchema* Find(int16_t schema_id) const;
  /// The same; kSchemaNotExist where Find() says null.
  Result<const RowSchema*> SchemaOf(int16_t schema_id) const;

  /// Positions in the latest schema of the columns that make the stored key, in key order: the primary key without partition columns.
  const std::vector<size_t>& key_columns() const { return key_columns_; }
  /// Positions in the latest schema of the whole primary key.
  const std::vector<size_t>& primary_key_columns() const { return primary_key_columns_; }
  const format::KeyEncoder& key_encoder() const { return key_encoder_; }
  /// Position in the latest schema; -1: there is none.
  int32_t auto_increment_column() const { return auto_increment_column_; }

  /// The fields of a row in the order of the latest schema; columns that its schema lacks are null. Views into `row` (and nothing else).
  /// kCorruptRecord where the bytes are no row of that schema, kSchemaNotExist for an unknown id.
  Status ReadInLatest(const RowView& row, std::vector<format::FieldView>* fields) const;
  /// One of these fields alone: the fields after it are not looked at. `column` is a position in the latest schema.
  Status ReadColumn(const RowView& row, size_t column, format::FieldView* field) const;
  /// Appends a row of the latest schema to `out`.
  /// An error where a field does not fit its column (INDEXED: more bytes than CHAR(n) or BINARY(n) has); `out` is then as it was.
  Status WriteLatest(std::span<const format::FieldView> fields, MutableBuffer* out) const;

 private:

  explicit KvTable(format::KeyEncoder key_encoder) : key_encoder_(std::move(key_encoder)) {}
  KvTable(const KvTable&) = delete;
  KvTable& operator=(const KvTable&) = delete;

  std::shared_ptr<const model::TableInfo> info_;
  format::RowFormat row_format_ = format::RowFormat::kCompacted;
  format::RowFormat log_row_format_ = format::RowFormat::kCompacted;
  std::map<int16_t, RowSchema> schemas_;
  const RowSchema* latest_ = nullptr;  // in schemas_
  std::vector<size_t> key_columns_;
  std::vector<size_t> primary_key_columns_;
  format::KeyEncoder key_encoder_;
  int32_t auto_increment_column_ = -1;
};

}  // namespace strom::kv
