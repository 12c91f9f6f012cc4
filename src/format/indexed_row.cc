#include "format/indexed_row.h"

#include <algorithm>
#include <cstring>

#include "base/endian.h"

namespace strom::format {

using model::DataType;
using model::TypeRoot;

namespace {

/// Bytes of a value in the row; 0 for those of variable length.
size_t FixedSize(const DataType& type) {
  switch (type.root) {
    case TypeRoot::kBoolean:
    case TypeRoot::kTinyInt:
      return 1;
    case TypeRoot::kSmallInt:
      return 2;
    case TypeRoot::kInteger:
    case TypeRoot::kDate:
    case TypeRoot::kTime:
    case TypeRoot::kFloat:
      return 4;
    case TypeRoot::kBigInt:
    case TypeRoot::kDouble:
      return 8;
    case TypeRoot::kChar:
    case TypeRoot::kBinary:
      return static_cast<size_t>(type.length);
    case TypeRoot::kDecimal:
      return type.is_compact_decimal() ? 8 : 0;
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      return type.is_compact_timestamp() ? 8 : 12;
    default:
      return 0;
  }
}

size_t VariableColumns(Fields fields) {
  return static_cast<size_t>(
      std::count_if(fields.begin(), fields.end(), [](const model::DataField& field) { return IsVariableInIndexedRow(field.type); }));
}

}  // namespace

bool IsVariableInIndexedRow(const DataType& type) {
  return type.root == TypeRoot::kString || type.root == TypeRoot::kBytes || type.is_nested() ||
         (type.root == TypeRoot::kDecimal && !type.is_compact_decimal());
}

IndexedRowWriter::IndexedRowWriter(Fields fields, MutableBuffer* out) : bitmap_(out->size()), out_(out) {
  const size_t bitmap_size = (fields.size() + 7) / 8;
  const size_t head_size = bitmap_size + 4 * VariableColumns(fields);
  if (head_size > 0) std::memset(out->Extend(head_size), 0, head_size);
  next_length_ = bitmap_ + bitmap_size;
}

void IndexedRowWriter::PutLength(size_t size) {
  StoreLe(out_->data() + next_length_, static_cast<uint32_t>(size));
  next_length_ += 4;
}

Status IndexedRowWriter::Append(const DataType& type, const FieldView& view) {
  const size_t field = field_++;
  if (view.is_null) {
    out_->data()[bitmap_ + field / 8] |= static_cast<uint8_t>(1 << (field % 8));
    return Status::OK();
  }
  if (IsVariableInIndexedRow(type)) {
    PutLength(view.bytes.size());
    out_->Append(view.bytes);
    return Status::OK();
  }
  const size_t size = FixedSize(type);
  if (type.root == TypeRoot::kChar || type.root == TypeRoot::kBinary) {
    if (view.bytes.size() > size) {
      return MakeError(ErrorCode::kUnknownServerError, "field {}: {} bytes do not fit {} in an indexed row, which counts bytes", field,
                       view.bytes.size(), type.ToString());
    }
    out_->Append(view.bytes);
    if (const size_t padding = size - view.bytes.size(); padding > 0) std::memset(out_->Extend(padding), 0, padding);
    return Status::OK();
  }
  // Little-endian: the low bytes of the number come first, whatever the width.
  uint8_t* to = out_->Extend(size);
  std::memcpy(to, &view.number, std::min<size_t>(size, 8));
  if (size == 12) StoreLe(to + 8, view.nanos_of_milli);
  return Status::OK();
}

size_t IndexedRowWriter::BeginNested() {
  ++field_;
  return out_->size();
}

void IndexedRowWriter::EndNested(size_t begin) { PutLength(out_->size() - begin); }

IndexedRowReader::IndexedRowReader(Fields fields, ByteView row) : fields_(fields), row_(row) {
  next_length_ = (fields.size() + 7) / 8;
  position_ = next_length_ + 4 * VariableColumns(fields);
}

Status IndexedRowReader::Next(FieldView* view) {
  STROM_ASSERT(field_ < fields_.size(), "a row has only {} fields", fields_.size());
  const size_t field = field_++;
  if (position_ > row_.size()) return Truncated();
  if ((row_[field / 8] >> (field % 8) & 1) != 0) {
    *view = FieldView::Null();
    return Status::OK();
  }
  if (!Read(fields_[field].type, view)) [[unlikely]] return Truncated();
  return Status::OK();
}

Error IndexedRowReader::Truncated() const {
  const size_t field = field_ - 1;
  return MakeError(ErrorCode::kCorruptRecord, "indexed row of {} bytes: field {} ({} {}) does not fit at position {}", row_.size(), field,
                   fields_[field].name, fields_[field].type.ToString(), position_);
}

bool IndexedRowReader::Read(const DataType& type, FieldView* view) {
  const size_t rest = row_.size() - position_;
  if (IsVariableInIndexedRow(type)) {
    // One length at most for each variable column, so the list cannot run over.
    const uint32_t size = LoadLe<uint32_t>(row_.data() + next_length_);
    if (size > rest) return false;
    *view = FieldView::Bytes(row_.subspan(position_, size));
    next_length_ += 4;
    position_ += size;
    return true;
  }
  const size_t size = FixedSize(type);
  if (size > rest) return false;
  const uint8_t* from = row_.data() + position_;
  position_ += size;
  switch (type.root) {
    case TypeRoot::kChar: {
      size_t length = size;
      while (length > 0 && from[length - 1] == 0) --length;
      *view = FieldView::Bytes({from, length});
      return true;
    }
    case TypeRoot::kBinary:
      *view = FieldView::Bytes({from, size});
      return true;
    case TypeRoot::kFloat:
      *view = FieldView::Number(LoadLe<uint32_t>(from));
      return true;
    case TypeRoot::kBoolean:
      *view = FieldView::Number(*from != 0 ? 1 : 0);
      return true;
    default:
      break;
  }
  switch (size) {
    case 1:
      *view = FieldView::Number(static_cast<int8_t>(*from));
      break;
    case 2:
      *view = FieldView::Number(LoadLe<int16_t>(from));
      break;
    case 4:
      *view = FieldView::Number(LoadLe<int32_t>(from));
      break;
    default:
      *view = FieldView::Number(LoadLe<int64_t>(from));
      if (size == 12) view->nanos_of_milli = LoadLe<int32_t>(from + 8);
  }
  return true;
}

}  // namespace strom::format
