#pragma once

#include "base/bytes.h"
#include "format/field_view.h"

/// The slots that AlignedRow and BinaryArray share (spec/formats.md 7.3, 7.4). A container is a fixed part with a slot for each value,
/// then a variable part in multiples of 8 bytes; offsets count from the container's start.
///
/// | type                                | slot                                            | variable part |
/// |-------------------------------------|-------------------------------------------------|---------------|
/// | numbers, compact DECIMAL, TIMESTAMP | little-endian, low bytes first, rest zero       | - |
/// | CHAR, STRING, BINARY, BYTES <= 7    | the bytes; byte 7 = 0x80 | length               | - |
/// | longer ones, ARRAY, MAP, ROW        | offset << 32 | length                           | the bytes, padded to 8 |
/// | wide DECIMAL                        | offset << 32 | length                           | 16: big-endian unscaled, zeros |
/// | wide TIMESTAMP                      | offset << 32 | nanos of milli                   | 8: millis |
namespace strom::format::slot {

/// Bytes that a number takes in its slot: 1, 2, 4 or 8. All else has slots of 8.
size_t Width(const model::DataType& type);

/// Writes a value that is not null to the slot at position `slot` of `out`, whose bytes are zero; `start` is the container's position.
void Put(const model::DataType& type, const FieldView& view, size_t start, size_t slot, MutableBuffer* out);
/// Fills the slot of a nested value that was written from `begin` to the end of `out`, and pads it.
void PutNested(size_t begin, size_t start, size_t slot, MutableBuffer* out);

/// Reads the slot at `slot`, which has Width (in an array) or 8 bytes; false where it points out of `container` or makes no sense.
bool Get(const model::DataType& type, ByteView container, const uint8_t* slot, FieldView* view);

}  // namespace strom::format::slot
