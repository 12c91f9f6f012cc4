#include "kv/changelog_replay.h"

#include <algorithm>
#include <utility>

#include "format/arrow_reader.h"
#include "format/compacted_row.h"
#include "format/indexed_row.h"
#include "format/kv_value.h"
#include "format/log_records.h"
#include "format/row_codec.h"

namespace strom::kv {

using format::ChangeType;
using format::FieldView;
using format::RowFormat;
using format::Value;
using model::LogFormat;

namespace {

/// Memory of one batch that is kept for the next.
constexpr size_t kKeptBytesMax = 4 << 20;

template <typename Reader>
Status ReadMapped(const RowSchema& schema, ByteView row, std::vector<FieldView>* fields) {
  std::ranges::fill(*fields, FieldView::Null());
  Reader reader(schema.fields, row);
  for (const int32_t at : schema.to_latest) {
    FieldView gone;
    STROM_TRY(reader.Next(at < 0 ? &gone : &(*fields)[static_cast<size_t>(at)]));
  }
  if (reader.rest() != 0)
    return MakeError(ErrorCode::kCorruptRecord, "{} bytes follow the last field of the row", reader.rest());
  return Status::OK();
}

}  // namespace

ChangelogReplay::ChangelogReplay(std::shared_ptr<const KvTable> table)
    : table_(std::move(table)),
      has_nested_(table_->latest().has_nested) {
  fields_.resize(table_->latest().fields.size());
}

Result<std::span<const ReplayedEntry>> ChangelogReplay::Read(const format::LogBatchHeader& header, ByteView batch) {
  entries_.clear();
  placed_.clear();
  if (bytes_.capacity() > kKeptBytesMax) bytes_ = MutableBuffer();
  bytes_.Clear();
  if (batch.size() != header.total_size) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch at {} has {} bytes, its header says {}",
                     header.base_offset.value(), batch.size(), header.total_size);
  }
  if (header.record_count == 0) return std::span<const ReplayedEntry>();
  const RowSchema* const schema = table_->Find(header.schema_id);
  if (schema == nullptr) {
    return MakeError(ErrorCode::kSchemaNotExist, "log batch at {}: table {} has no schema {}; the latest one is {}",
                     header.base_offset.value(), table_->info().path.ToString(), header.schema_id,
                     table_->latest().schema_id);
  }
  Status read;
  if (table_->config().log_format != LogFormat::kArrow) {
    read = ReadRows(header, batch, *schema);
  } else if (has_nested_ || schema->has_nested) {
    read = ReadArrowValues(header, batch, *schema);
  } else {
    read = ReadArrow(header, batch, *schema);
  }
  if (!read.ok())
    return MakeError(read.code(), "changelog batch at {}: {}", header.base_offset.value(), read.error().message);
  for (size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].key = bytes_.view().subspan(placed_[i].key.begin, placed_[i].key.size);
    if (entries_[i].value) entries_[i].value = bytes_.view().subspan(placed_[i].value.begin, placed_[i].value.size);
  }
  return std::span<const ReplayedEntry>(entries_);
}

Result<bool> ChangelogReplay::TakesPart(ChangeType type) {
  switch (type) {
    case ChangeType::kInsert:
    case ChangeType::kUpdateAfter:
    case ChangeType::kDelete:
      return true;
    case ChangeType::kUpdateBefore:
      return false;
    case ChangeType::kAppendOnly:
      break;
  }
  return MakeError(ErrorCode::kCorruptRecord, "a record of a changelog has the change type {}", static_cast<int>(type));
}

Status ChangelogReplay::ReadArrow(const format::LogBatchHeader& header, ByteView batch, const RowSchema& schema) {
  STROM_ASSIGN(const format::ArrowBatchLayout layout, format::SplitArrowBatch(header, batch));
  STROM_TRY(arrow_.Open(schema.fields, layout.message));
  if (arrow_.record_count() != header.record_count ||
      layout.change_types.size() != static_cast<size_t>(header.record_count)) {
    return MakeError(ErrorCode::kCorruptRecord, "{} records, but {} rows and {} change types", header.record_count,
                     arrow_.record_count(), layout.change_types.size());
  }
  for (int32_t row = 0; row < header.record_count; ++row) {
    const auto type = static_cast<ChangeType>(layout.change_types[static_cast<size_t>(row)]);
    STROM_ASSIGN(const bool takes_part, TakesPart(type));
    if (!takes_part) continue;
    std::ranges::fill(fields_, FieldView::Null());
    for (size_t i = 0; i < schema.fields.size(); ++i) {
      if (schema.to_latest[i] >= 0) STROM_TRY(arrow_.Read(i, row, &fields_[static_cast<size_t>(schema.to_latest[i])]));
    }
    STROM_TRY(AddFields(type, header.base_offset + row));
  }
  return Status::OK();
}

Status ChangelogReplay::ReadArrowValues(const format::LogBatchHeader& header, ByteView batch, const RowSchema& schema) {
  STROM_ASSIGN(const format::DecodedArrowBatch decoded, format::DecodeArrowBatch(batch, *schema.schema));
  if (decoded.rows.size() != static_cast<size_t>(header.record_count)) {
    return MakeError(ErrorCode::kCorruptRecord, "{} records, but {} rows", header.record_count, decoded.rows.size());
  }
  for (int32_t row = 0; row < header.record_count; ++row) {
    const ChangeType type = decoded.change_types[static_cast<size_t>(row)];
    STROM_ASSIGN(const bool takes_part, TakesPart(type));
    if (takes_part)
      STROM_TRY(AddValues(type, header.base_offset + row, schema, decoded.rows[static_cast<size_t>(row)]));
  }
  return Status::OK();
}

Status ChangelogReplay::ReadRows(const format::LogBatchHeader& header, ByteView batch, const RowSchema& schema) {
  format::LogRecordReader reader(header, batch);
  format::LogRecord record;
  while (!reader.done()) {
    STROM_TRY(reader.Next(&record));
    STROM_ASSIGN(const bool takes_part, TakesPart(record.change_type));
    if (takes_part) STROM_TRY(AddRow(record.change_type, record.offset, schema, record.row));
  }
  return Status::OK();
}

Status ChangelogReplay::AddRow(ChangeType type, LogOffset offset, const RowSchema& schema, ByteView row) {
  if (has_nested_ && table_->log_row_format() != table_->row_format()) {
    STROM_ASSIGN(const Value decoded, format::DecodeRow(table_->log_row_format(), schema.fields, row));
    return AddValues(type, offset, schema, decoded);
  }
  STROM_TRY(table_->log_row_format() == RowFormat::kIndexed ? ReadMapped<format::IndexedRowReader>(schema, row, &fields_)
                                                   : ReadMapped<format::CompactedRowReader>(schema, row, &fields_));
  return AddFields(type, offset);
}

Status ChangelogReplay::AddFields(ChangeType type, LogOffset offset) {
  key_values_.clear();
  for (const size_t column : table_->key_columns()) {
    const model::DataField& field = table_->latest().fields[column];
    if (fields_[column].is_null)
      return MakeError(ErrorCode::kCorruptRecord, "the key column {} is null at offset {}", field.name, offset.value());
    STROM_ASSIGN(Value value, field.type.is_nested()
                                  ? format::DecodeNested(table_->row_format(), field.type, fields_[column].bytes)
                                  : format::ValueOfView(field.type, fields_[column]));
    key_values_.push_back(std::move(value));
  }
  STROM_ASSIGN(const Position key, AddKey(key_values_));
  const size_t begin = bytes_.size();
  if (type != ChangeType::kDelete) {
    format::AppendKvValue(table_->latest().schema_id, {}, &bytes_);
    STROM_TRY(table_->WriteLatest(fields_, &bytes_));
  }
  Add(type, offset, key, {begin, bytes_.size() - begin});
  return Status::OK();
}

Status ChangelogReplay::AddValues(ChangeType type, LogOffset offset, const RowSchema& schema, const Value& row) {
  const RowSchema& latest = table_->latest();
  Value::Items values(latest.fields.size());
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (schema.to_latest[i] >= 0) values[static_cast<size_t>(schema.to_latest[i])] = row.items()[i];
  }
  key_values_.clear();
  for (const size_t column : table_->key_columns()) {
    if (values[column].is_null()) {
      return MakeError(ErrorCode::kCorruptRecord, "the key column {} is null at offset {}", latest.fields[column].name,
                       offset.value());
    }
    key_values_.push_back(values[column]);
  }
  STROM_ASSIGN(const Position key, AddKey(key_values_));
  const size_t begin = bytes_.size();
  if (type != ChangeType::kDelete) {
    format::AppendKvValue(latest.schema_id, {}, &bytes_);
    STROM_TRY(format::EncodeRow(table_->row_format(), latest.fields, values, &bytes_));
  }
  Add(type, offset, key, {begin, bytes_.size() - begin});
  return Status::OK();
}

Result<ChangelogReplay::Position> ChangelogReplay::AddKey(std::span<const Value> values) {
  const size_t begin = bytes_.size();
  STROM_TRY(table_->key_encoder().Encode(values, &bytes_));
  return Position{begin, bytes_.size() - begin};
}

void ChangelogReplay::Add(ChangeType type, LogOffset offset, Position key, Position value) {
  const bool removal = type == ChangeType::kDelete;
  placed_.push_back({key, value});
  entries_.push_back({.key = {},
                      .value = removal ? std::nullopt : std::optional(ByteView()),
                      .offset = offset,
                      .row_count_change = removal                       ? -1
                                          : type == ChangeType::kInsert ? 1
                                                                        : 0});
}

}  // namespace strom::kv
