#include "format/key_encoder.h"

#include "base/endian.h"
#include "format/hudi_key.h"
#include "format/row_codec.h"

namespace strom::format {

using model::DataField;
using model::DataType;
using model::TypeRoot;

namespace {

bool IsSupported(KeyFormat format, const DataType& type) {
  switch (format) {
    case KeyFormat::kCompacted:
      return true;
    case KeyFormat::kPaimon:
      return !type.is_nested();
    case KeyFormat::kHudi:
      return !type.is_nested() && type.root != TypeRoot::kBinary && type.root != TypeRoot::kBytes;
    case KeyFormat::kIceberg:
      break;
  }
  switch (type.root) {
    case TypeRoot::kInteger:
    case TypeRoot::kDate:
    case TypeRoot::kTime:
    case TypeRoot::kBigInt:
    case TypeRoot::kTimestamp:
    case TypeRoot::kFloat:
    case TypeRoot::kDouble:
    case TypeRoot::kString:
    case TypeRoot::kChar:
    case TypeRoot::kBinary:
    case TypeRoot::kBytes:
    case TypeRoot::kDecimal:
      return true;
    default:
      return false;
  }
}

std::string_view FormatName(KeyFormat format) {
  constexpr std::string_view kNames[] = {"compacted", "paimon", "iceberg", "hudi"};
  return kNames[static_cast<size_t>(format)];
}

void AppendLong(int64_t number, MutableBuffer* out) { StoreLe(out->Extend(8), number); }

Status EncodeIceberg(const DataType& type, const Value& value, MutableBuffer* out) {
  DecimalBytes room;
  FieldView view;
  STROM_TRY(ViewOfValue(type, value, &room, &view));
  switch (type.root) {
    case TypeRoot::kTime:
      AppendLong(view.number * 1000, out);
      break;
    case TypeRoot::kTimestamp:
      // Wraps like Java where microseconds do not fit.
      AppendLong(static_cast<int64_t>(static_cast<uint64_t>(view.number) * 1000 + static_cast<uint64_t>(view.nanos_of_milli / 1000)), out);
      break;
    case TypeRoot::kFloat:
      StoreLe(out->Extend(4), static_cast<uint32_t>(view.number));
      break;
    case TypeRoot::kDecimal:
      out->Append(DecimalToBytes(value.decimal(), &room));
      break;
    case TypeRoot::kInteger:
    case TypeRoot::kDate:
    case TypeRoot::kBigInt:
    case TypeRoot::kDouble:
      AppendLong(view.number, out);
      break;
    default:
      out->Append(view.bytes);
  }
  return Status::OK();
}

}  // namespace

KeyFormat BucketKeyFormat(LakeFormat lake) {
  switch (lake) {
    case LakeFormat::kPaimon:
      return KeyFormat::kPaimon;
    case LakeFormat::kIceberg:
      return KeyFormat::kIceberg;
    case LakeFormat::kHudi:
      return KeyFormat::kHudi;
    case LakeFormat::kNone:
    case LakeFormat::kLance:
      break;
  }
  return KeyFormat::kCompacted;
}

KeyFormat PrimaryKeyFormat(LakeFormat lake, int32_t kv_format_version, bool default_bucket_key) {
  if (lake != LakeFormat::kPaimon && lake != LakeFormat::kIceberg) return KeyFormat::kCompacted;
  return kv_format_version <= 1 || default_bucket_key ? BucketKeyFormat(lake) : KeyFormat::kCompacted;
}

Result<KeyEncoder> KeyEncoder::Make(KeyFormat format, std::vector<DataField> key_columns) {
  if (key_columns.empty()) return MakeError(ErrorCode::kInvalidTable, "a key needs at least one column");
  if (format == KeyFormat::kIceberg && key_columns.size() != 1) {
    return MakeError(ErrorCode::kInvalidTable, "an iceberg key has exactly one column, not {}", key_columns.size());
  }
  for (const DataField& column : key_columns) {
    if (!IsSupported(format, column.type)) {
      return MakeError(ErrorCode::kInvalidTable, "{} keys cannot hold column {} of type {}", FormatName(format), column.name,
                       column.type.ToString());
    }
  }
  return KeyEncoder(format, std::move(key_columns));
}

Status KeyEncoder::Encode(std::span<const Value> values, MutableBuffer* out) const {
  if (values.size() != columns_.size()) {
    return MakeError(ErrorCode::kUnknownServerError, "{} values for a key of {} columns", values.size(), columns_.size());
  }
  if (format_ == KeyFormat::kHudi) return EncodeHudiKey(columns_, values, out);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_null()) return MakeError(ErrorCode::kUnknownServerError, "key column {} is null", columns_[i].name);
  }
  switch (format_) {
    case KeyFormat::kCompacted:
      return EncodeCompactedKey(columns_, values, out);
    case KeyFormat::kPaimon:
      return EncodeRow(RowFormat::kAligned, columns_, values, out);
    default:
      return EncodeIceberg(columns_[0].type, values[0], out);
  }
}

}  // namespace strom::format
