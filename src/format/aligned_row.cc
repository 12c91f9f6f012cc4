#include "format/aligned_row.h"

#include <cstring>

#include "format/slot.h"

namespace strom::format {

AlignedRowWriter::AlignedRowWriter(size_t field_count, MutableBuffer* out)
    : start_(out->size()), slots_(start_ + AlignedRowHeadSize(field_count)), out_(out) {
  const size_t size = AlignedRowHeadSize(field_count) + 8 * field_count;
  std::memset(out->Extend(size), 0, size);
}

Status AlignedRowWriter::Append(const model::DataType& type, const FieldView& view) {
  if (view.is_null) {
    const size_t bit = field_ + 8;
    out_->data()[start_ + bit / 8] |= static_cast<uint8_t>(1 << (bit % 8));
  } else {
    slot::Put(type, view, start_, Slot(), out_);
  }
  ++field_;
  return Status::OK();
}

void AlignedRowWriter::EndNested(size_t begin) {
  slot::PutNested(begin, start_, Slot(), out_);
  ++field_;
}

Status AlignedRowView::Get(size_t field, FieldView* view) const {
  STROM_ASSERT(field < fields_.size(), "field {} of {}", field, fields_.size());
  const size_t head = AlignedRowHeadSize(fields_.size());
  if (row_.size() < head + 8 * fields_.size()) {
    return MakeError(ErrorCode::kCorruptRecord, "aligned row of {} bytes is too short for {} fields", row_.size(), fields_.size());
  }
  const size_t bit = field + 8;
  if ((row_[bit / 8] >> (bit % 8) & 1) != 0) {
    *view = FieldView::Null();
    return Status::OK();
  }
  if (!slot::Get(fields_[field].type, row_, row_.data() + head + 8 * field, view)) [[unlikely]] {
    return MakeError(ErrorCode::kCorruptRecord, "aligned row of {} bytes: field {} ({} {}) points outside of it", row_.size(), field,
                     fields_[field].name, fields_[field].type.ToString());
  }
  return Status::OK();
}

}  // namespace strom::format
