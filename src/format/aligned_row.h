#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "format/field_view.h"

namespace strom::format {

/// AlignedRow (spec/formats.md 7.3): the rows of batch statistics and of Paimon keys.
///
/// | part         | bytes |
/// |--------------|-------|
/// | row kind     | 1, always 0 |
/// | null bits    | field i is bit 8 + i counted from the start; with the row kind ((n + 63 + 8) / 64) * 8 bytes |
/// | slots        | 8 a field (slot.h); those of nulls are zero |
/// | variable part| multiples of 8 |
constexpr size_t AlignedRowHeadSize(size_t field_count) { return (field_count + 63 + 8) / 64 * 8; }

/// Writes one row field by field to the end of `out`.
class AlignedRowWriter {
 public:
  AlignedRowWriter(size_t field_count, MutableBuffer* out);

  /// The next field. Always OK.
  Status Append(const model::DataType& type, const FieldView& view);
  size_t BeginNested() const { return out_->size(); }
  void EndNested(size_t begin);

 private:
  size_t Slot() const { return slots_ + 8 * field_; }

  size_t field_ = 0;
  size_t start_ = 0;
  size_t slots_ = 0;
  MutableBuffer* out_ = nullptr;
};

/// Reads fields of one row in any order, without allocation. Every access is checked.
class AlignedRowView {
 public:
  AlignedRowView(Fields fields, ByteView row) : fields_(fields), row_(row) {}

  size_t size() const { return fields_.size(); }
  Status Get(size_t field, FieldView* view) const;

 private:
  Fields fields_;
  ByteView row_;
};

}  // namespace strom::format
