#include "kv/changelog_builder.h"

namespace strom::kv {

namespace {

using format::RowFormat;
using model::LogFormat;

format::ArrowCompression CompressionOf(const model::TableConfig& config) {
  switch (config.arrow_compression) {
    case model::ArrowCompression::kNone:
      break;
    case model::ArrowCompression::kLz4Frame:
      return {.codec = format::ArrowCodec::kLz4Frame};
    case model::ArrowCompression::kZstd:
      return {.codec = format::ArrowCodec::kZstd, .zstd_level = config.zstd_level};
  }
  return {};
}

bool SameFormat(const KvTable& table) {
  return table.config().log_format != LogFormat::kArrow && table.log_row_format() == table.row_format();
}

}  // namespace

ChangelogBuilder::ChangelogBuilder(std::shared_ptr<const KvTable> table)
    : table_(std::move(table)),
      copies_rows_(SameFormat(*table_)),
      converts_nested_(!copies_rows_ && table_->config().log_format != LogFormat::kArrow &&
                       table_->latest().has_nested) {
  if (table_->config().log_format == LogFormat::kArrow) {
    arrow_ = std::make_unique<format::ArrowRowAppender>(table_->latest().fields, table_->row_format(),
                                                        CompressionOf(table_->config()));
  }
}

void ChangelogBuilder::Begin(WriterId writer, int32_t sequence) {
  spec_.schema_id = table_->latest().schema_id;
  spec_.append_only = false;
  spec_.writer_id = writer;
  spec_.batch_sequence = sequence;
  record_count_ = 0;
  if (arrow_) {
    arrow_->Clear();
  } else {
    rows_.emplace(spec_);
  }
}

Status ChangelogBuilder::Append(format::ChangeType type, const RowView& row) {
  if (arrow_) {
    STROM_TRY(table_->ReadInLatest(row, &fields_));
    STROM_TRY(arrow_->Append(type, fields_));
  } else {
    STROM_TRY(AppendRowRecord(type, row));
  }
  ++record_count_;
  return Status::OK();
}

Status ChangelogBuilder::AppendRowRecord(format::ChangeType type, const RowView& row) {
  const RowSchema& latest = table_->latest();
  if (copies_rows_ && row.schema_id == latest.schema_id) {
    rows_->Append(type, row.row);
    return Status::OK();
  }
  const RowFormat log_format = table_->log_row_format();
  STROM_TRY(table_->ReadInLatest(row, &fields_));
  MutableBuffer* const out = rows_->BeginRow(type);
  if (converts_nested_) {
    format::Value::Items values;
    values.reserve(fields_.size());
    for (size_t i = 0; i < fields_.size(); ++i) {
      const model::DataType& column = latest.fields[i].type;
      if (fields_[i].is_null) {
        values.push_back(format::Value::Null());
        continue;
      }
      STROM_ASSIGN(format::Value value, column.is_nested()
                                            ? format::DecodeNested(table_->row_format(), column, fields_[i].bytes)
                                            : format::ValueOfView(column, fields_[i]));
      values.push_back(std::move(value));
    }
    STROM_TRY(format::EncodeRow(log_format, latest.fields, values, out));
  } else {
    STROM_TRY(format::EncodeRow(log_format, latest.fields, fields_, out));
  }
  rows_->EndRow();
  return Status::OK();
}

Result<Buffer> ChangelogBuilder::Finish() {
  if (arrow_) return arrow_->Finish(spec_);
  if (record_count_ == 0) return format::BuildEmptyLogBatch(spec_);
  return rows_->Finish();
}

}  // namespace strom::kv
