#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "format/field_view.h"

namespace strom::format {

/// CompactedRow (spec/formats.md 7.1): [null bitmap, ceil(n/8) bytes][values of the fields that are not null, in order].
/// Numbers of 32 and 64 bits are varints; bytes carry a varint length. Without the bitmap it is the compacted key (8.1).

/// Writes one row field by field to the end of `out`.
class CompactedRowWriter {
 public:
  /// Writes a bitmap without nulls; `out` must stay until the last field.
  CompactedRowWriter(size_t field_count, MutableBuffer* out);
  /// Without bitmap: a key, whose fields are never null.
  static CompactedRowWriter ForKey(MutableBuffer* out);

  /// The next field. Always OK; the other formats' writers may refuse.
  Status Append(const model::DataType& type, const FieldView& view);

  /// Around a nested field that the caller writes to `out` itself: its length goes in front.
  size_t BeginNested();
  void EndNested(size_t begin);

 private:
  CompactedRowWriter() = default;
  size_t field_ = 0;
  size_t bitmap_ = 0;
  MutableBuffer* out_ = nullptr;
  bool has_bitmap_ = true;
};

/// Reads one row field by field, without allocation: views look into `row`. Foreign bytes: every step is checked, and kCorruptRecord names
/// the field.
class CompactedRowReader {
 public:
  CompactedRowReader(Fields fields, ByteView row) : fields_(fields), row_(row), position_((fields.size() + 7) / 8) {}
  /// A key: no bitmap, no nulls.
  static CompactedRowReader ForKey(Fields fields, ByteView key) {
    CompactedRowReader reader(fields, key);
    reader.position_ = 0;
    reader.has_bitmap_ = false;
    return reader;
  }

  /// The next field; to be called at most fields.size() times.
  Status Next(FieldView* view);
  /// What follows the fields read so far.
  size_t rest() const { return position_ > row_.size() ? 0 : row_.size() - position_; }

 private:
  bool Read(const model::DataType& type, FieldView* view);
  bool ReadFixed(size_t size, const uint8_t** from);
  bool ReadNumber32(FieldView* view);
  bool ReadNumber64(FieldView* view);
  bool ReadBytes(FieldView* view);
  Error Truncated() const;

  Fields fields_;
  ByteView row_;
  size_t position_;
  size_t field_ = 0;
  bool has_bitmap_ = true;
};

}  // namespace strom::format
