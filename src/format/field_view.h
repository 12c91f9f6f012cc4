#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/value.h"
#include "model/data_type.h"
#include "model/schema.h"

namespace strom::format {

/// The fields of a row in schema order; the same type serves the table and nested rows.
using Fields = std::span<const model::DataField>;

/// The columns of a schema as fields, made once per schema.
std::vector<model::DataField> FieldsOf(const model::Schema& schema);

/// One field as it lies in the bytes of a row or array: scalars decoded, all else a view. Which members count, the type says; every row
/// format reads to and writes from this one form, so a field moves between formats without a Value.
///
/// | type                                                   | member |
/// |--------------------------------------------------------|--------|
/// | BOOLEAN, TINYINT..BIGINT, DATE, TIME, DECIMAL p <= 18  | number (0 or 1, the value, the unscaled value) |
/// | FLOAT, DOUBLE                                          | number: the raw bits, zero-extended |
/// | TIMESTAMP, TIMESTAMP_LTZ                               | number: millis; nanos_of_milli (0 for p <= 3) |
/// | CHAR, STRING, BINARY, BYTES                            | bytes |
/// | DECIMAL p > 18                                         | bytes: unscaled, big-endian two's complement |
/// | ARRAY, MAP, ROW                                        | bytes: BinaryArray, BinaryMap, a row of the enclosing row's format |
struct FieldView {
  bool is_null = false;
  int32_t nanos_of_milli = 0;
  int64_t number = 0;
  ByteView bytes;

  static FieldView Null() { return {.is_null = true, .nanos_of_milli = 0, .number = 0, .bytes = {}}; }
  static FieldView Number(int64_t number) { return {.is_null = false, .nanos_of_milli = 0, .number = number, .bytes = {}}; }
  static FieldView Bytes(ByteView bytes) { return {.is_null = false, .nanos_of_milli = 0, .number = 0, .bytes = bytes}; }

  float float_value() const { return std::bit_cast<float>(static_cast<uint32_t>(number)); }
  double double_value() const { return std::bit_cast<double>(number); }
  std::string_view text() const { return AsText(bytes); }
};

/// Room for the bytes of a wide decimal that a FieldView looks at.
using DecimalBytes = std::array<uint8_t, 16>;

/// The least big-endian bytes that hold `unscaled`; a view into `room`.
ByteView DecimalToBytes(Int128 unscaled, DecimalBytes* room);
/// kCorruptRecord unless there are 1 to 16 bytes.
Result<Int128> DecimalFromBytes(ByteView bytes);
/// The unscaled value of a DECIMAL field, narrow or wide.
Result<Int128> DecimalOf(const model::DataType& type, const FieldView& view);

/// A Value that is not an ARRAY, MAP or ROW as a view. It looks at the value's bytes, or at `room`. The error says what does not fit the type:
/// the kind, an integer beyond the type's width, a decimal beyond its precision, nanoseconds out of range.
Status ViewOfValue(const model::DataType& type, const Value& value, DecimalBytes* room, FieldView* view);
/// The way back; bytes are views. Not for ARRAY, MAP and ROW (row_codec.h).
Result<Value> ValueOfView(const model::DataType& type, const FieldView& view);

}  // namespace strom::format
