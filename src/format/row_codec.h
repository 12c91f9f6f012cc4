#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "format/field_view.h"
#include "format/value.h"

namespace strom::format {

enum class RowFormat : uint8_t { kCompacted, kIndexed, kAligned };

/// Rows and values nested deeper than this are refused (design: recursive messages).
inline constexpr int kRowDepthMax = 64;

/// Appends `row` (kRow, one item for each field) to `out`, nested values included. On an error `out` is as it was, and the sentence says
/// what does not fit. Every byte is written once and, in compacted rows, moved at most once for each level of nesting.
Status EncodeRow(RowFormat format, Fields fields, const Value& row, MutableBuffer* out);

/// The same for fields that do not stand in a row yet.
Status EncodeRow(RowFormat format, Fields fields, std::span<const Value> values, MutableBuffer* out);

/// A row of fields as they lie in a row of the same format, nested values included: no Values. Compacted and indexed rows.
Status EncodeRow(RowFormat format, Fields fields, std::span<const FieldView> views, MutableBuffer* out);

/// A compacted key (spec/formats.md 8.1): as a compacted row, without the bitmap. No value may be null.
Status EncodeCompactedKey(Fields fields, std::span<const Value> values, MutableBuffer* out);

/// The row as a Value whose bytes are views into `row`. kCorruptRecord names the field.
Result<Value> DecodeRow(RowFormat format, Fields fields, ByteView row);

/// One ARRAY, MAP or ROW, as FieldView::bytes of a row of that format has it.
Result<Value> DecodeNested(RowFormat format, const model::DataType& type, ByteView bytes);

/// The values of a compacted key, in key order, as a row. kCorruptRecord also when bytes follow the last field.
Result<Value> DecodeCompactedKey(Fields fields, ByteView key);

/// Whether foreign bytes are a row of these fields, so that all that reads it later can rely on it: every field and nested value lies
/// inside, decimals and nanoseconds are in range, and nothing follows the last field. Does not look at NOT NULL (partial updates leave
/// fields null) nor at UTF-8. Time and stack are bounded by the row's size and kRowDepthMax.
Status CheckRow(RowFormat format, Fields fields, ByteView row);

}  // namespace strom::format
