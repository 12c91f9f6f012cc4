#include "format/arrow_reader.h"

#include <algorithm>

#include "format/arrow_compression.h"
#include "format/arrow_layout.h"
#include "format/arrow_ticks.h"
#include "format/log_records.h"

namespace strom::format {
namespace {

using model::DataType;
using model::TypeRoot;
using Column = std::vector<Value>;

Error Broken(const DataType& type, std::string_view what) {
  return MakeError(ErrorCode::kCorruptRecord, "Arrow column of {}: {}", type.ToString(), what);
}

/// Bits of one node's validity; no bytes mean that nothing is null.
struct Validity {
  ByteView bits;
  bool IsNull(size_t i) const { return !bits.empty() && (bits[i / 8] >> (i % 8) & 1) == 0; }
};

/// Walks nodes and buffers of one message, depth first.
class MessageReader {
 public:
  MessageReader(const ArrowBatchMetadata& metadata, ByteView body, const ArrowReadLimits& limits)
      : metadata_(metadata), body_(body), bytes_left_(limits.bytes_max), values_left_(limits.values_max) {}

  /// The next column. It has `length` values, or at least those when it is the child of a list.
  Result<Column> ReadColumn(const DataType& type, size_t length, bool below_list) {
    STROM_ASSIGN(const size_t count, NextNode(type, length, below_list));
    MutableBuffer room;
    Validity validity;
    STROM_ASSIGN(validity.bits, NextBuffer(&room));
    STROM_TRY(CheckValidity(type, validity, count));
    switch (type.root) {
      case TypeRoot::kBoolean:
        return ReadBits(type, count, validity);
      case TypeRoot::kChar:
      case TypeRoot::kString:
      case TypeRoot::kBytes:
        return ReadVariable(type, count, validity);
      case TypeRoot::kArray:
      case TypeRoot::kMap:
        return ReadList(type, count, validity);
      case TypeRoot::kRow:
        return ReadStruct(type, count, validity);
      default:
        return ReadFixed(type, count, validity);
    }
  }

 private:
  Result<size_t> NextNode(const DataType& type, size_t length, bool below_list) {
    const ArrowNode node = metadata_.node(node_++);
    const auto count = static_cast<size_t>(node.length);
    if (below_list ? count < length : count != length) {
      return MakeError(ErrorCode::kCorruptRecord, "Arrow column of {} has {} values, {} are needed", type.ToString(), count, length);
    }
    if (count > values_left_) return Broken(type, "more values than the reader's limit");
    values_left_ -= count;
    null_count_ = node.null_count;
    return count;
  }

  Result<ByteView> NextBuffer(MutableBuffer* room) {
    const ArrowBuffer buffer = metadata_.buffer(buffer_++);
    const ByteView stored = body_.subspan(static_cast<size_t>(buffer.offset), static_cast<size_t>(buffer.length));
    STROM_ASSIGN(const ByteView bytes, DecompressArrowBuffer(metadata_.codec(), stored, bytes_left_, room));
    bytes_left_ -= std::min<uint64_t>(bytes_left_, bytes.size());
    return bytes;
  }

  Status CheckValidity(const DataType& type, const Validity& validity, size_t count) const {
    if (validity.bits.empty() ? null_count_ > 0 : validity.bits.size() < (count + 7) / 8) return Broken(type, "validity bits are missing");
    return Status::OK();
  }

  Result<Column> ReadBits(const DataType& type, size_t count, const Validity& validity) {
    MutableBuffer room;
    STROM_ASSIGN(const ByteView bits, NextBuffer(&room));
    if (bits.size() < (count + 7) / 8) return Broken(type, "bits are missing");
    Column column(count);
    for (size_t i = 0; i < count; ++i) {
      if (!validity.IsNull(i)) column[i] = Value::Boolean((bits[i / 8] >> (i % 8) & 1) != 0);
    }
    return column;
  }

  Result<Column> ReadFixed(const DataType& type, size_t count, const Validity& validity) {
    const size_t width = ArrowNodeOf(type).width;
    MutableBuffer room;
    STROM_ASSIGN(const ByteView bytes, NextBuffer(&room));
    if (width != 0 && bytes.size() / width < count) return Broken(type, "values are missing");
    Column column(count);
    for (size_t i = 0; i < count; ++i) {
      if (validity.IsNull(i)) continue;
      STROM_ASSIGN(column[i], FixedValue(type, bytes.subspan(i * width, width)));
    }
    return column;
  }

  static Result<Value> FixedValue(const DataType& type, ByteView slot) {
    switch (type.root) {
      case TypeRoot::kTinyInt:
        return Value::Integer(LoadLe<int8_t>(slot.data()));
      case TypeRoot::kSmallInt:
        return Value::Integer(LoadLe<int16_t>(slot.data()));
      case TypeRoot::kInteger:
      case TypeRoot::kDate:
        return Value::Integer(LoadLe<int32_t>(slot.data()));
      case TypeRoot::kFloat:
        return Value::Float(LoadLe<float>(slot.data()));
      case TypeRoot::kDouble:
        return Value::Double(LoadLe<double>(slot.data()));
      case TypeRoot::kBinary:
        return Value::Bytes(slot);
      case TypeRoot::kDecimal:
        return Value::Decimal(LoadLe<Int128>(slot.data()));
      case TypeRoot::kTime:
        return TimeValue(type, slot);
      case TypeRoot::kTimestamp:
      case TypeRoot::kTimestampLtz:
        return TimestampOf(type, LoadLe<int64_t>(slot.data()));
      default:
        return Value::Integer(LoadLe<int64_t>(slot.data()));
    }
  }

  static Result<Value> TimeValue(const DataType& type, ByteView slot) {
    const int64_t ticks = slot.size() == 4 ? LoadLe<int32_t>(slot.data()) : LoadLe<int64_t>(slot.data());
    return Value::Integer(MillisOfArrowTime(ticks, type.precision));
  }

  static Result<Value> TimestampOf(const DataType& type, int64_t ticks) {
    int64_t millis = 0;
    int32_t nanos_of_milli = 0;
    if (!TimestampOfArrowTicks(ticks, type.precision, &millis, &nanos_of_milli)) {
      return Broken(type, "a time beyond what milliseconds can say");
    }
    return Value::Timestamp(millis, nanos_of_milli);
  }

  /// Offsets of `count` values: one more than those, ascending. Nothing for no values.
  Result<std::vector<int32_t>> ReadOffsets(const DataType& type, size_t count) {
    MutableBuffer room;
    STROM_ASSIGN(const ByteView bytes, NextBuffer(&room));
    if (count == 0) return std::vector<int32_t>{0};
    if (bytes.size() / 4 < count + 1) return Broken(type, "offsets are missing");
    std::vector<int32_t> offsets(count + 1);
    std::memcpy(offsets.data(), bytes.data(), offsets.size() * 4);
    if (offsets.front() < 0 || !std::is_sorted(offsets.begin(), offsets.end())) return Broken(type, "offsets do not ascend");
    return offsets;
  }

  Result<Column> ReadVariable(const DataType& type, size_t count, const Validity& validity) {
    STROM_ASSIGN(const std::vector<int32_t> offsets, ReadOffsets(type, count));
    MutableBuffer room;
    STROM_ASSIGN(const ByteView bytes, NextBuffer(&room));
    if (static_cast<size_t>(offsets.back()) > bytes.size()) return Broken(type, "bytes are missing");
    Column column(count);
    for (size_t i = 0; i < count; ++i) {
      const auto start = static_cast<size_t>(offsets[i]);
      if (!validity.IsNull(i)) column[i] = Value::Bytes(bytes.subspan(start, static_cast<size_t>(offsets[i + 1]) - start));
    }
    return column;
  }

  Result<Column> ReadList(const DataType& type, size_t count, const Validity& validity) {
    STROM_ASSIGN(const std::vector<int32_t> offsets, ReadOffsets(type, count));
    const auto child_count = static_cast<size_t>(offsets.back());
    const bool map = type.root == TypeRoot::kMap;
    Column first, second;
    if (map) {
      STROM_ASSIGN(const size_t entries, NextNode(type, child_count, true));
      MutableBuffer room;
      STROM_TRY(NextBuffer(&room));  // entries are never null
      STROM_ASSIGN(first, ReadColumn(type.key(), entries, false));
      STROM_ASSIGN(second, ReadColumn(type.map_value(), entries, false));
    } else {
      STROM_ASSIGN(first, ReadColumn(type.element(), child_count, true));
    }
    Column column(count);
    for (size_t i = 0; i < count; ++i) {
      if (validity.IsNull(i)) continue;
      Value::Items items;
      for (auto at = static_cast<size_t>(offsets[i]); at < static_cast<size_t>(offsets[i + 1]); ++at) {
        items.push_back(std::move(first[at]));
        if (map) items.push_back(std::move(second[at]));
      }
      column[i] = map ? Value::Map(std::move(items)) : Value::Array(std::move(items));
    }
    return column;
  }

  Result<Column> ReadStruct(const DataType& type, size_t count, const Validity& validity) {
    std::vector<Value::Items> rows(count);
    for (const model::DataField& field : *type.fields) {
      STROM_ASSIGN(Column values, ReadColumn(field.type, count, false));
      for (size_t i = 0; i < count; ++i) rows[i].push_back(std::move(values[i]));
    }
    Column column(count);
    for (size_t i = 0; i < count; ++i) {
      if (!validity.IsNull(i)) column[i] = Value::Row(std::move(rows[i]));
    }
    return column;
  }

  const ArrowBatchMetadata& metadata_;
  const ByteView body_;
  uint64_t bytes_left_;
  uint64_t values_left_;
  size_t node_ = 0;
  size_t buffer_ = 0;
  int64_t null_count_ = 0;  // of the node that was read last
};

}  // namespace

Result<std::vector<Value>> DecodeArrowMessage(ByteView message, const model::Schema& schema, const ArrowReadLimits& limits) {
  STROM_ASSIGN(const ArrowBatchMetadata metadata, ParseArrowMetadata(message));
  const ArrowLayout layout = ArrowLayout::Of(schema);
  if (metadata.node_count() != layout.nodes.size() || metadata.buffer_count() != layout.buffer_count) {
    return MakeError(ErrorCode::kCorruptRecord, "Arrow message has {} nodes and {} buffers, its schema needs {} and {}",
                     metadata.node_count(), metadata.buffer_count(), layout.nodes.size(), layout.buffer_count);
  }
  const ByteView body = message.subspan(metadata.metadata_size());
  if (static_cast<uint64_t>(metadata.body_length()) > body.size()) {
    return MakeError(ErrorCode::kCorruptRecord, "Arrow message has {} bytes of its body of {}", body.size(), metadata.body_length());
  }
  const auto count = static_cast<uint64_t>(metadata.record_count());
  if (count > limits.values_max) {
    return MakeError(ErrorCode::kCorruptRecord, "Arrow message of {} records, the limit is {}", count, limits.values_max);
  }
  MessageReader reader(metadata, body, limits);
  std::vector<Value::Items> rows(count);
  for (const model::Column& column : schema.columns) {
    STROM_ASSIGN(Column values, reader.ReadColumn(column.type, count, false));
    for (size_t i = 0; i < count; ++i) rows[i].push_back(std::move(values[i]));
  }
  std::vector<Value> result;
  result.reserve(count);
  for (Value::Items& row : rows) result.push_back(Value::Row(std::move(row)));
  return result;
}

Result<DecodedArrowBatch> DecodeArrowBatch(ByteView batch, const model::Schema& schema, const ArrowReadLimits& limits) {
  DecodedArrowBatch decoded;
  STROM_ASSIGN(decoded.header, DecodeLogBatchHeader(batch));
  if (batch.size() != decoded.header.total_size) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch has {} bytes, its header says {}", batch.size(), decoded.header.total_size);
  }
  if (batch.size() == decoded.header.header_size()) return decoded;
  STROM_ASSIGN(const ArrowBatchLayout layout, SplitArrowBatch(decoded.header, batch));
  STROM_ASSIGN(const ArrowBatchMetadata metadata, ParseArrowMetadata(layout.message));
  decoded.codec = metadata.codec();
  STROM_ASSIGN(decoded.rows, DecodeArrowMessage(layout.message, schema, limits));
  if (decoded.rows.size() != static_cast<size_t>(decoded.header.record_count)) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch of {} records has an Arrow message of {}", decoded.header.record_count,
                     decoded.rows.size());
  }
  decoded.change_types.assign(decoded.rows.size(), ChangeType::kAppendOnly);
  for (size_t i = 0; i < layout.change_types.size(); ++i) decoded.change_types[i] = static_cast<ChangeType>(layout.change_types[i]);
  return decoded;
}

}  // namespace strom::format
