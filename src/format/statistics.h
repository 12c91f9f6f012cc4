#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "format/field_view.h"
#include "format/value.h"
#include "model/schema.h"

namespace strom::format {

/// Whether batches can carry statistics of a column of this type. Source: spec/formats.md, version matrix.
bool HasStatistics(const model::DataType& type);

/// The order of statistics of two values, none null, of a type that HasStatistics(): numbers; false < true; FLOAT and DOUBLE in total order
/// (-0.0 < 0.0 < NaN, all NaN equal); texts by unsigned bytes; timestamps by millis, then nanos. kCorruptRecord for a broken decimal.
Result<std::strong_ordering> CompareFields(const model::DataType& type, const FieldView& a, const FieldView& b);

/// A look at the statistics block of a batch (spec/formats.md 4).
///
/// | field | type |
/// |---|---|
/// | version | i8 = 1 |
/// | column count n | i16 |
/// | positions in the batch's schema | n x i16 |
/// | null counts | n x i32 |
/// | size and AlignedRow of the least values | i32, bytes |
/// | size and AlignedRow of the greatest values | i32, bytes |
class BatchStatistics {
 public:
  /// kCorruptRecord when it cannot be read: another version, no columns, or not the bytes that it announces.
  static Result<BatchStatistics> Parse(ByteView block);

  size_t column_count() const { return count_; }
  int16_t position(size_t i) const { return LoadLe<int16_t>(positions_ + 2 * i); }
  int32_t null_count(size_t i) const { return LoadLe<int32_t>(null_counts_ + 4 * i); }
  /// Which entry is that of the column at `position` of the batch's schema.
  std::optional<size_t> Find(size_t position) const;

  /// The least and the greatest value of entry i, a column of `type`; null where all values are. kCorruptRecord when the row is broken.
  Status Min(size_t i, const model::DataType& type, FieldView* view) const { return Get(min_row_, i, type, view); }
  Status Max(size_t i, const model::DataType& type, FieldView* view) const { return Get(max_row_, i, type, view); }

 private:
  Status Get(ByteView row, size_t i, const model::DataType& type, FieldView* view) const;

  size_t count_ = 0;
  const uint8_t* positions_ = nullptr;
  const uint8_t* null_counts_ = nullptr;
  ByteView min_row_;
  ByteView max_row_;
};

/// Appends the statistics block of `rows` (each a kRow of the schema's columns) to `out`: the columns at `positions`, in that order.
/// An error for a position beyond the schema, a type without statistics and a value that does not fit its type. No rows or no
/// positions: nothing is appended.
Status AppendStatistics(const model::Schema& schema, std::span<const int32_t> positions, std::span<const Value> rows, MutableBuffer* out);

}  // namespace strom::format
