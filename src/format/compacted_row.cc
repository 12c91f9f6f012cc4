#include "format/compacted_row.h"

#include <cstring>

#include "base/endian.h"
#include "format/varint.h"

namespace strom::format {

using model::DataType;
using model::TypeRoot;

CompactedRowWriter::CompactedRowWriter(size_t field_count, MutableBuffer* out) : bitmap_(out->size()), out_(out) {
  const size_t size = (field_count + 7) / 8;
  if (size > 0) std::memset(out->Extend(size), 0, size);
}

CompactedRowWriter CompactedRowWriter::ForKey(MutableBuffer* out) {
  CompactedRowWriter writer;
  writer.out_ = out;
  writer.has_bitmap_ = false;
  return writer;
}

Status CompactedRowWriter::Append(const DataType& type, const FieldView& view) {
  const size_t field = field_++;
  if (view.is_null) {
    STROM_ASSERT(has_bitmap_, "field {} of a key is null", field);
    out_->data()[bitmap_ + field / 8] |= static_cast<uint8_t>(1 << (field % 8));
    return Status::OK();
  }
  switch (type.root) {
    case TypeRoot::kBoolean:
    case TypeRoot::kTinyInt:
      out_->AppendByte(static_cast<uint8_t>(view.number));
      break;
    case TypeRoot::kSmallInt:
      StoreLe(out_->Extend(2), static_cast<int16_t>(view.number));
      break;
    case TypeRoot::kInteger:
    case TypeRoot::kDate:
    case TypeRoot::kTime:
      AppendVarint(static_cast<uint32_t>(view.number), out_);
      break;
    case TypeRoot::kFloat:
      StoreLe(out_->Extend(4), static_cast<uint32_t>(view.number));
      break;
    case TypeRoot::kDouble:
      StoreLe(out_->Extend(8), view.number);
      break;
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      AppendVarint(static_cast<uint64_t>(view.number), out_);
      if (!type.is_compact_timestamp()) AppendVarint(static_cast<uint32_t>(view.nanos_of_milli), out_);
      break;
    case TypeRoot::kBigInt:
      AppendVarint(static_cast<uint64_t>(view.number), out_);
      break;
    case TypeRoot::kDecimal:
      if (type.is_compact_decimal()) {
        AppendVarint(static_cast<uint64_t>(view.number), out_);
        break;
      }
      [[fallthrough]];
    default:
      AppendVarint(static_cast<uint32_t>(view.bytes.size()), out_);
      out_->Append(view.bytes);
  }
  return Status::OK();
}

size_t CompactedRowWriter::BeginNested() {
  ++field_;
  // Room for the longest length; what is not needed is closed at the end. So nothing is encoded twice.
  const size_t begin = out_->size();
  out_->Extend(kVarintSizeMax32);
  return begin;
}

void CompactedRowWriter::EndNested(size_t begin) {
  const size_t content = begin + kVarintSizeMax32;
  const size_t size = out_->size() - content;
  const size_t length_size = PutVarint(out_->data() + begin, static_cast<uint32_t>(size));
  if (size > 0) std::memmove(out_->data() + begin + length_size, out_->data() + content, size);
  out_->Resize(begin + length_size + size);
}

Status CompactedRowReader::Next(FieldView* view) {
  STROM_ASSERT(field_ < fields_.size(), "a row has only {} fields", fields_.size());
  const size_t field = field_++;
  if (has_bitmap_) {
    if (position_ > row_.size()) return Truncated();
    if ((row_[field / 8] >> (field % 8) & 1) != 0) {
      *view = FieldView::Null();
      return Status::OK();
    }
  }
  if (!Read(fields_[field].type, view)) [[unlikely]] return Truncated();
  return Status::OK();
}

Error CompactedRowReader::Truncated() const {
  const size_t field = field_ - 1;
  return MakeError(ErrorCode::kCorruptRecord, "compacted row of {} bytes: field {} ({} {}) does not fit at position {}", row_.size(), field,
                   fields_[field].name, fields_[field].type.ToString(), position_);
}

bool CompactedRowReader::ReadFixed(size_t size, const uint8_t** from) {
  if (row_.size() - position_ < size) return false;
  *from = row_.data() + position_;
  position_ += size;
  return true;
}

bool CompactedRowReader::ReadNumber32(FieldView* view) {
  uint32_t number = 0;
  const size_t size = GetVarint(row_.subspan(position_), &number);
  position_ += size;
  *view = FieldView::Number(static_cast<int32_t>(number));
  return size > 0;
}

bool CompactedRowReader::ReadNumber64(FieldView* view) {
  uint64_t number = 0;
  const size_t size = GetVarint(row_.subspan(position_), &number);
  position_ += size;
  *view = FieldView::Number(static_cast<int64_t>(number));
  return size > 0;
}

bool CompactedRowReader::ReadBytes(FieldView* view) {
  uint32_t length = 0;
  const size_t size = GetVarint(row_.subspan(position_), &length);
  if (size == 0 || row_.size() - position_ - size < length) return false;
  *view = FieldView::Bytes(row_.subspan(position_ + size, length));
  position_ += size + length;
  return true;
}

bool CompactedRowReader::Read(const DataType& type, FieldView* view) {
  const uint8_t* from = nullptr;
  switch (type.root) {
    case TypeRoot::kBoolean:
      if (!ReadFixed(1, &from)) return false;
      *view = FieldView::Number(*from != 0 ? 1 : 0);
      return true;
    case TypeRoot::kTinyInt:
      if (!ReadFixed(1, &from)) return false;
      *view = FieldView::Number(static_cast<int8_t>(*from));
      return true;
    case TypeRoot::kSmallInt:
      if (!ReadFixed(2, &from)) return false;
      *view = FieldView::Number(LoadLe<int16_t>(from));
      return true;
    case TypeRoot::kInteger:
    case TypeRoot::kDate:
    case TypeRoot::kTime:
      return ReadNumber32(view);
    case TypeRoot::kBigInt:
      return ReadNumber64(view);
    case TypeRoot::kFloat:
      if (!ReadFixed(4, &from)) return false;
      *view = FieldView::Number(LoadLe<uint32_t>(from));
      return true;
    case TypeRoot::kDouble:
      if (!ReadFixed(8, &from)) return false;
      *view = FieldView::Number(LoadLe<int64_t>(from));
      return true;
    case TypeRoot::kDecimal:
      return type.is_compact_decimal() ? ReadNumber64(view) : ReadBytes(view);
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz: {
      if (!ReadNumber64(view)) return false;
      if (type.is_compact_timestamp()) return true;
      FieldView nanos;
      if (!ReadNumber32(&nanos)) return false;
      view->nanos_of_milli = static_cast<int32_t>(nanos.number);
      return true;
    }
    default:
      return ReadBytes(view);
  }
}

}  // namespace strom::format
