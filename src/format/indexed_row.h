#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "format/field_view.h"

namespace strom::format {

/// IndexedRow (spec/formats.md 7.2): [null bitmap, ceil(n/8) bytes][4 bytes of length for each column of variable length][values of the
/// fields that are not null, in order]. The list has room for every variable column of the schema, but holds the lengths of those that are
/// not null, without gaps from its start; its unused tail is zero.

/// Whether a column of that type has a place in the length list.
bool IsVariableInIndexedRow(const model::DataType& type);

/// Writes one row field by field to the end of `out`.
class IndexedRowWriter {
 public:
  IndexedRowWriter(Fields fields, MutableBuffer* out);

  /// The next field. An error when CHAR(n) or BINARY(n) has more than n bytes.
  Status Append(const model::DataType& type, const FieldView& view);
  size_t BeginNested();
  void EndNested(size_t begin);

 private:
  void PutLength(size_t size);

  size_t field_ = 0;
  size_t bitmap_ = 0;
  size_t next_length_ = 0;  // where in `out_` the next length goes
  MutableBuffer* out_ = nullptr;
};

/// Reads one row field by field, without allocation. CHAR comes without the padding zeros; BINARY(n) with all its n bytes: the Java
/// reader strips zeros there, too, and so loses data (spec/formats.md 16.9).
class IndexedRowReader {
 public:
  IndexedRowReader(Fields fields, ByteView row);

  /// The next field; to be called at most fields.size() times.
  Status Next(FieldView* view);
  size_t rest() const { return position_ > row_.size() ? 0 : row_.size() - position_; }

 private:
  bool Read(const model::DataType& type, FieldView* view);
  Error Truncated() const;

  Fields fields_;
  ByteView row_;
  size_t position_ = 0;
  size_t next_length_ = 0;
  size_t field_ = 0;
};

}  // namespace strom::format
