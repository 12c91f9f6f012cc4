#include "format/field_view.h"

#include <algorithm>

#include "base/endian.h"

namespace strom::format {

using model::DataType;
using model::TypeRoot;

std::vector<model::DataField> FieldsOf(const model::Schema& schema) {
  std::vector<model::DataField> fields;
  fields.reserve(schema.columns.size());
  for (const model::Column& column : schema.columns) {
    fields.push_back({.name = column.name, .type = column.type, .description = column.comment, .field_id = column.id});
  }
  return fields;
}

ByteView DecimalToBytes(Int128 unscaled, DecimalBytes* room) {
  auto rest = static_cast<unsigned __int128>(unscaled);
  for (size_t i = room->size(); i-- > 0; rest >>= 8) (*room)[i] = static_cast<uint8_t>(rest);
  // A leading byte that only repeats the sign is left out.
  const uint8_t sign = unscaled < 0 ? 0xFF : 0x00;
  size_t start = 0;
  while (start < 15 && (*room)[start] == sign && (((*room)[start + 1] ^ sign) & 0x80) == 0) ++start;
  return ByteView(*room).subspan(start);
}

Result<Int128> DecimalFromBytes(ByteView bytes) {
  if (bytes.empty() || bytes.size() > 16) {
    return MakeError(ErrorCode::kCorruptRecord, "a decimal of {} bytes, 1 to 16 are possible", bytes.size());
  }
  auto value = static_cast<unsigned __int128>((bytes[0] & 0x80) != 0 ? Int128{-1} : Int128{0});
  for (const uint8_t byte : bytes) value = (value << 8) | byte;
  return static_cast<Int128>(value);
}

Result<Int128> DecimalOf(const DataType& type, const FieldView& view) {
  if (type.is_compact_decimal()) return Int128{view.number};
  return DecimalFromBytes(view.bytes);
}

namespace {

Error DoesNotFit(const DataType& type, const Value& value) {
  return MakeError(ErrorCode::kUnknownServerError, "{} value {} does not fit the type {}", KindName(value.kind()), value.ToString(),
                   type.ToString());
}

Status ViewOfInteger(const DataType& type, const Value& value, int bits, FieldView* view) {
  if (value.kind() != Value::Kind::kInteger) return DoesNotFit(type, value);
  const int64_t number = value.integer();
  if (const int64_t sign = number >> (bits - 1); sign != 0 && sign != -1) return DoesNotFit(type, value);
  *view = FieldView::Number(number);
  return Status::OK();
}

Status ViewOfDecimal(const DataType& type, const Value& value, DecimalBytes* room, FieldView* view) {
  if (value.kind() != Value::Kind::kDecimal) return DoesNotFit(type, value);
  const Int128 unscaled = value.decimal();
  const Int128 bound = PowerOfTen(std::clamp(type.precision, 0, 38));
  if (unscaled >= bound || unscaled <= -bound) return DoesNotFit(type, value);
  *view = type.is_compact_decimal() ? FieldView::Number(static_cast<int64_t>(unscaled))
                                    : FieldView::Bytes(DecimalToBytes(unscaled, room));
  return Status::OK();
}

Status ViewOfTimestamp(const DataType& type, const Value& value, FieldView* view) {
  if (value.kind() != Value::Kind::kTimestamp) return DoesNotFit(type, value);
  const TimestampValue timestamp = value.timestamp();
  if (timestamp.nanos_of_milli < 0 || timestamp.nanos_of_milli > 999'999) return DoesNotFit(type, value);
  *view = FieldView::Number(timestamp.millis);
  if (!type.is_compact_timestamp()) view->nanos_of_milli = timestamp.nanos_of_milli;
  return Status::OK();
}

}  // namespace

Status ViewOfValue(const DataType& type, const Value& value, DecimalBytes* room, FieldView* view) {
  if (value.is_null()) {
    *view = FieldView::Null();
    return Status::OK();
  }
  switch (type.root) {
    case TypeRoot::kBoolean:
      if (value.kind() != Value::Kind::kBoolean) return DoesNotFit(type, value);
      *view = FieldView::Number(value.boolean() ? 1 : 0);
      return Status::OK();
    case TypeRoot::kTinyInt:
      return ViewOfInteger(type, value, 8, view);
    case TypeRoot::kSmallInt:
      return ViewOfInteger(type, value, 16, view);
    case TypeRoot::kInteger:
    case TypeRoot::kDate:
    case TypeRoot::kTime:
      return ViewOfInteger(type, value, 32, view);
    case TypeRoot::kBigInt:
      return ViewOfInteger(type, value, 64, view);
    case TypeRoot::kFloat:
      if (value.kind() != Value::Kind::kFloat) return DoesNotFit(type, value);
      *view = FieldView::Number(std::bit_cast<uint32_t>(value.float_value()));
      return Status::OK();
    case TypeRoot::kDouble:
      if (value.kind() != Value::Kind::kDouble) return DoesNotFit(type, value);
      *view = FieldView::Number(std::bit_cast<int64_t>(value.double_value()));
      return Status::OK();
    case TypeRoot::kChar:
    case TypeRoot::kString:
    case TypeRoot::kBinary:
    case TypeRoot::kBytes:
      if (value.kind() != Value::Kind::kBytes) return DoesNotFit(type, value);
      *view = FieldView::Bytes(value.bytes());
      return Status::OK();
    case TypeRoot::kDecimal:
      return ViewOfDecimal(type, value, room, view);
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      return ViewOfTimestamp(type, value, view);
    case TypeRoot::kArray:
    case TypeRoot::kMap:
    case TypeRoot::kRow:
      break;
  }
  return DoesNotFit(type, value);
}

Result<Value> ValueOfView(const DataType& type, const FieldView& view) {
  if (view.is_null) return Value::Null();
  switch (type.root) {
    case TypeRoot::kBoolean:
      return Value::Boolean(view.number != 0);
    case TypeRoot::kTinyInt:
    case TypeRoot::kSmallInt:
    case TypeRoot::kInteger:
    case TypeRoot::kBigInt:
    case TypeRoot::kDate:
    case TypeRoot::kTime:
      return Value::Integer(view.number);
    case TypeRoot::kFloat:
      return Value::Float(view.float_value());
    case TypeRoot::kDouble:
      return Value::Double(view.double_value());
    case TypeRoot::kChar:
    case TypeRoot::kString:
    case TypeRoot::kBinary:
    case TypeRoot::kBytes:
      return Value::View(view.bytes);
    case TypeRoot::kDecimal: {
      STROM_ASSIGN(const Int128 unscaled, DecimalOf(type, view));
      return Value::Decimal(unscaled);
    }
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      return Value::Timestamp(view.number, view.nanos_of_milli);
    case TypeRoot::kArray:
    case TypeRoot::kMap:
    case TypeRoot::kRow:
      break;
  }
  return MakeError(ErrorCode::kUnknownServerError, "type {} is nested and not one value", type.ToString());
}

}  // namespace strom::format
