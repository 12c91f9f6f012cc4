#include "format/arrow_field_reader.h"

#include <algorithm>

#include "base/endian.h"
#include "format/arrow_compression.h"
#include "format/arrow_layout.h"
#include "format/arrow_ticks.h"

namespace strom::format {

using model::DataType;
using model::TypeRoot;

namespace {

Error Broken(const DataType& type, std::string_view what) {
  return MakeError(ErrorCode::kCorruptRecord, "Arrow column of {}: {}", type.ToString(), what);
}

bool BitAt(ByteView bits, size_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }

int32_t OffsetAt(ByteView offsets, size_t i) { return LoadLe<int32_t>(offsets.data() + i * 4); }

}  // namespace

bool ArrowFieldReader::Takes(Fields fields) {
  return std::ranges::none_of(fields, [](const model::DataField& field) { return field.type.is_nested(); });
}

Status ArrowFieldReader::Open(Fields fields, ByteView message, uint64_t bytes_max) {
  STROM_ASSERT(Takes(fields), "nested columns are not read as fields");
  fields_ = fields;
  record_count_ = 0;
  STROM_ASSIGN(const ArrowBatchMetadata metadata, ParseArrowMetadata(message));
  size_t buffer_count = 0;
  for (const model::DataField& field : fields) buffer_count += ArrowBufferCount(ArrowNodeOf(field.type).kind);
  if (metadata.node_count() != fields.size() || metadata.buffer_count() != buffer_count) {
    return MakeError(ErrorCode::kCorruptRecord, "Arrow message has {} nodes and {} buffers, its schema needs {} and {}",
                     metadata.node_count(), metadata.buffer_count(), fields.size(), buffer_count);
  }
  const ByteView body = message.subspan(metadata.metadata_size());
  if (static_cast<uint64_t>(metadata.body_length()) > body.size()) {
    return MakeError(ErrorCode::kCorruptRecord, "Arrow message has {} bytes of its body of {}", body.size(),
                     metadata.body_length());
  }
  record_count_ = metadata.record_count();
  bytes_left_ = bytes_max;
  buffer_ = 0;
  columns_.resize(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    if (metadata.node(i).length != record_count_)
      return Broken(fields[i].type, "its length is not that of the message");
    const Status opened = OpenColumn(fields[i].type, metadata, body, &columns_[i]);
    if (!opened.ok()) return MakeError(opened.code(), "column {}: {}", fields[i].name, opened.error().message);
    if (columns_[i].validity.empty() && metadata.node(i).null_count > 0)
      return Broken(fields[i].type, "validity bits are missing");
  }
  return Status::OK();
}

Result<ByteView> ArrowFieldReader::NextBuffer(const ArrowBatchMetadata& metadata, ByteView body, MutableBuffer* room) {
  const ArrowBuffer buffer = metadata.buffer(buffer_++);
  const ByteView stored = body.subspan(static_cast<size_t>(buffer.offset), static_cast<size_t>(buffer.length));
  room->Clear();
  STROM_ASSIGN(const ByteView bytes, DecompressArrowBuffer(metadata.codec(), stored, bytes_left_, room));
  bytes_left_ -= std::min<uint64_t>(bytes_left_, bytes.size());
  return bytes;
}

Status ArrowFieldReader::OpenColumn(const DataType& type, const ArrowBatchMetadata& metadata, ByteView body,
                                    Column* column) {
  const ArrowNodeLayout layout = ArrowNodeOf(type);
  const auto count = static_cast<uint64_t>(record_count_);
  column->width = layout.width;
  STROM_ASSIGN(column->validity, NextBuffer(metadata, body, &column->rooms[0]));
  if (!column->validity.empty() && column->validity.size() < count / 8 + (count % 8 != 0 ? 1 : 0)) {
    return Broken(type, "validity bits are missing");
  }
  if (layout.kind == ArrowKind::kVariable) {
    STROM_ASSIGN(column->offsets, NextBuffer(metadata, body, &column->rooms[1]));
  }
  STROM_ASSIGN(column->values, NextBuffer(metadata, body, &column->rooms[2]));
  if (layout.kind == ArrowKind::kVariable) return CheckOffsets(type, *column);
  const bool bits = layout.kind == ArrowKind::kBits;
  const uint64_t held = bits ? column->values.size() * 8 : column->values.size() / std::max<size_t>(layout.width, 1);
  if (held < count) return Broken(type, "values are missing");
  return Status::OK();
}

Status ArrowFieldReader::CheckOffsets(const DataType& type, const Column& column) const {
  if (record_count_ == 0) return Status::OK();
  const auto count = static_cast<uint64_t>(record_count_);
  if (column.offsets.size() / 4 <= count) return Broken(type, "offsets are missing");
  int32_t last = OffsetAt(column.offsets, 0);
  if (last < 0) return Broken(type, "an offset is negative");
  for (size_t i = 1; i <= count; ++i) {
    const int32_t next = OffsetAt(column.offsets, i);
    if (next < last) return Broken(type, "offsets do not ascend");
    last = next;
  }
  if (static_cast<size_t>(last) > column.values.size()) return Broken(type, "bytes are missing");
  return Status::OK();
}

Status ArrowFieldReader::Read(size_t column_index, int64_t row, FieldView* view) {
  STROM_ASSERT(column_index < columns_.size() && row >= 0 && row < record_count_, "field {} of row {} of {}",
               column_index, row, record_count_);
  Column& column = columns_[column_index];
  const DataType& type = fields_[column_index].type;
  const auto i = static_cast<size_t>(row);
  if (!column.validity.empty() && !BitAt(column.validity, i)) {
    *view = FieldView::Null();
    return Status::OK();
  }
  switch (type.root) {
    case TypeRoot::kBoolean:
      *view = FieldView::Number(BitAt(column.values, i) ? 1 : 0);
      return Status::OK();
    case TypeRoot::kChar:
    case TypeRoot::kString:
    case TypeRoot::kBytes: {
      const auto start = static_cast<size_t>(OffsetAt(column.offsets, i));
      *view =
          FieldView::Bytes(column.values.subspan(start, static_cast<size_t>(OffsetAt(column.offsets, i + 1)) - start));
      return Status::OK();
    }
    default:
      return ReadFixed(type, &column, column.values.data() + i * column.width, view);
  }
}

Status ArrowFieldReader::ReadFixed(const DataType& type, Column* column, const uint8_t* slot, FieldView* view) const {
  switch (type.root) {
    case TypeRoot::kTinyInt:
      *view = FieldView::Number(LoadLe<int8_t>(slot));
      return Status::OK();
    case TypeRoot::kSmallInt:
      *view = FieldView::Number(LoadLe<int16_t>(slot));
      return Status::OK();
    case TypeRoot::kInteger:
    case TypeRoot::kDate:
      *view = FieldView::Number(LoadLe<int32_t>(slot));
      return Status::OK();
    case TypeRoot::kFloat:
      *view = FieldView::Number(LoadLe<uint32_t>(slot));
      return Status::OK();
    case TypeRoot::kBinary:
      *view = FieldView::Bytes({slot, column->width});
      return Status::OK();
    case TypeRoot::kDecimal: {
      const auto unscaled = LoadLe<Int128>(slot);
      const Int128 bound = PowerOfTen(type.precision);
      if (unscaled >= bound || unscaled <= -bound) return Broken(type, "a value has more digits than the type");
      *view = type.precision <= 18 ? FieldView::Number(static_cast<int64_t>(unscaled))
                                   : FieldView::Bytes(DecimalToBytes(unscaled, &column->decimal));
      return Status::OK();
    }
    case TypeRoot::kTime: {
      const int64_t ticks = column->width == 4 ? LoadLe<int32_t>(slot) : LoadLe<int64_t>(slot);
      *view = FieldView::Number(MillisOfArrowTime(ticks, type.precision));
      return Status::OK();
    }
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      *view = FieldView::Number(0);
      if (!TimestampOfArrowTicks(LoadLe<int64_t>(slot), type.precision, &view->number, &view->nanos_of_milli)) {
        return Broken(type, "a time beyond what milliseconds can say");
      }
      return Status::OK();
    default:
      *view = FieldView::Number(LoadLe<int64_t>(slot));
      return Status::OK();
  }
}

}  // namespace strom::format
