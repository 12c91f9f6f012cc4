#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "format/field_view.h"

namespace strom::format {

/// BinaryArray and BinaryMap, the same in every row format (spec/formats.md 7.4).
///
/// | array         | bytes |
/// |---------------|-------|
/// | element count | i32 |
/// | null bitmap   | ((count + 31) / 32) * 4; a bit that is set is a null, its slot is zero |
/// | slots         | count * 1, 2, 4 or 8 (slot.h); the parts up to here are padded to 8 together |
/// | variable part | multiples of 8 |
///
/// Map: i32 size of the key array, key array, value array to the end.

/// Writes one array element by element to the end of `out`.
class BinaryArrayWriter {
 public:
  BinaryArrayWriter(const model::DataType& element, size_t count, MutableBuffer* out);

  /// The next element. Always OK.
  Status Append(const model::DataType& type, const FieldView& view);
  size_t BeginNested() const { return out_->size(); }
  void EndNested(size_t begin);

 private:
  size_t Slot() const { return slots_ + width_ * index_; }

  size_t index_ = 0;
  size_t start_ = 0;
  size_t slots_ = 0;
  size_t width_ = 0;
  MutableBuffer* out_ = nullptr;
};

/// Reads elements of one array in any order, without allocation. Every access is checked.
class BinaryArrayView {
 public:
  /// kCorruptRecord when the count does not fit the bytes. `element` must outlive the view.
  static Result<BinaryArrayView> Open(const model::DataType& element, ByteView bytes);

  size_t size() const { return count_; }
  ByteView bytes() const { return bytes_; }
  Status Get(size_t index, FieldView* view) const;

 private:
  BinaryArrayView(const model::DataType& element, ByteView bytes, size_t count);

  const model::DataType* element_;
  ByteView bytes_;
  size_t count_;
  size_t slots_;
  size_t width_;
};

/// The two arrays of a map.
struct BinaryMapView {
  ByteView keys;
  ByteView values;
  static Result<BinaryMapView> Open(ByteView bytes);
};

}  // namespace strom::format
