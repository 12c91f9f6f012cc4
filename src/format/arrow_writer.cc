#include "format/arrow_writer.h"

#include <limits>
#include <vector>

#include "format/arrow_layout.h"
#include "format/arrow_metadata.h"
#include "format/arrow_ticks.h"
#include "format/field_view.h"
#include "format/statistics.h"

namespace strom::format {
namespace {

using model::DataType;
using model::TypeRoot;

/// The values of one node; null pointers and null values are nulls.
using Values = std::vector<const Value*>;

bool IsNull(const Value* value) { return value == nullptr || value->is_null(); }

Error DoesNotFit(const DataType& type, const Value& value) {
  return MakeError(ErrorCode::kUnknownServerError, "value {} does not fit into an Arrow column of {}", value.ToString(), type.ToString());
}

/// Collects nodes, buffers and the body of one record batch, depth first.
class MessageWriter {
 public:
  explicit MessageWriter(const ArrowCompression& compression) : codec_(compression.codec), compressor_(compression) {}

  Status AddColumn(const DataType& type, const Values& values) {
    STROM_TRY(AddNode(values));
    switch (type.root) {
      case TypeRoot::kBoolean:
        return AddBits(type, values);
      case TypeRoot::kChar:
      case TypeRoot::kString:
      case TypeRoot::kBytes:
        return AddVariable(type, values);
      case TypeRoot::kArray:
      case TypeRoot::kMap:
        return AddList(type, values);
      case TypeRoot::kRow:
        return AddStructFields(type, values);
      default:
        return AddFixed(type, values);
    }
  }

  Buffer Finish(size_t row_count) {
    const size_t metadata_size = ArrowMetadataBuilder::Size(nodes_.size(), buffers_.size(), codec_);
    MutableBuffer message(metadata_size + body_.size());
    ArrowMetadataBuilder builder(message.Extend(metadata_size), static_cast<int64_t>(row_count), nodes_.size(), buffers_.size(), codec_);
    for (const ArrowNode& node : nodes_) builder.AddNode(node);
    for (const ArrowBuffer& buffer : buffers_) builder.AddBuffer(buffer);
    builder.Finish(static_cast<int64_t>(body_.size()));
    message.Append(body_.view());
    return message.Freeze();
  }

 private:
  /// Compresses `raw_`, pads it and begins anew.
  Status AddBuffer() {
    const size_t start = body_.size();
    STROM_TRY(compressor_.Append(raw_.view(), &body_));
    const size_t length = body_.size() - start;
    const size_t padding = static_cast<size_t>(PadToArrowAlignment(static_cast<int64_t>(length))) - length;
    if (padding > 0) std::memset(body_.Extend(padding), 0, padding);
    buffers_.push_back({static_cast<int64_t>(start), static_cast<int64_t>(length)});
    raw_.Clear();
    return Status::OK();
  }

  uint8_t* ExtendZeroed(size_t size) {
    uint8_t* to = raw_.Extend(size);
    if (size > 0) std::memset(to, 0, size);
    return to;
  }

  /// A node and its validity bits.
  Status AddNode(const Values& values) {
    ArrowNode node{.length = static_cast<int64_t>(values.size())};
    uint8_t* bits = ExtendZeroed((values.size() + 7) / 8);
    for (size_t i = 0; i < values.size(); ++i) {
      if (IsNull(values[i])) {
        ++node.null_count;
      } else {
        bits[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
      }
    }
    nodes_.push_back(node);
    return AddBuffer();
  }

  Status AddBits(const DataType& type, const Values& values) {
    uint8_t* bits = ExtendZeroed((values.size() + 7) / 8);
    for (size_t i = 0; i < values.size(); ++i) {
      if (IsNull(values[i])) continue;
      if (values[i]->kind() != Value::Kind::kBoolean) return DoesNotFit(type, *values[i]);
      if (values[i]->boolean()) bits[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
    }
    return AddBuffer();
  }

  Status AddFixed(const DataType& type, const Values& values) {
    const size_t width = ArrowNodeOf(type).width;
    uint8_t* slot = ExtendZeroed(values.size() * width);
    for (const Value* value : values) {
      if (!IsNull(value)) STROM_TRY(StoreFixed(type, *value, width, slot));
      slot += width;
    }
    return AddBuffer();
  }

  static Status StoreFixed(const DataType& type, const Value& value, size_t width, uint8_t* slot) {
    DecimalBytes room;
    FieldView view;
    STROM_TRY(ViewOfValue(type, value, &room, &view));
    switch (type.root) {
      case TypeRoot::kDecimal:
        StoreLe(slot, value.decimal());
        return Status::OK();
      case TypeRoot::kBinary:
        if (view.bytes.size() != width) return DoesNotFit(type, value);
        std::memcpy(slot, view.bytes.data(), width);
        return Status::OK();
      case TypeRoot::kTime:
        view.number = ArrowTicksOfTime(view.number, type.precision);
        break;
      case TypeRoot::kTimestamp:
      case TypeRoot::kTimestampLtz:
        if (!ArrowTicksOfTimestamp(view.number, view.nanos_of_milli, type.precision, &view.number)) return DoesNotFit(type, value);
        break;
      default:
        break;
    }
    std::memcpy(slot, &view.number, width);
    return Status::OK();
  }

  Status AddVariable(const DataType& type, const Values& values) {
    STROM_TRY(AddOffsets(type, values, Value::Kind::kBytes, [](const Value& value) { return value.text().size(); }));
    for (const Value* value : values) {
      if (!IsNull(value)) raw_.Append(value->bytes());
    }
    return AddBuffer();
  }

  /// One offset more than values; none at all for no values, as Java has it.
  template <typename SizeOf>
  Status AddOffsets(const DataType& type, const Values& values, Value::Kind kind, SizeOf size_of) {
    if (values.empty()) return AddBuffer();
    int64_t offset = 0;
    StoreLe(raw_.Extend(4), int32_t{0});
    for (const Value* value : values) {
      if (!IsNull(value)) {
        if (value->kind() != kind) return DoesNotFit(type, *value);
        offset += static_cast<int64_t>(size_of(*value));
        if (offset > std::numeric_limits<int32_t>::max()) {
          return MakeError(ErrorCode::kUnknownServerError, "an Arrow column of {} would be over 2 GiB", type.ToString());
        }
      }
      StoreLe(raw_.Extend(4), static_cast<int32_t>(offset));
    }
    return AddBuffer();
  }

  Status AddList(const DataType& type, const Values& values) {
    const bool map = type.root == TypeRoot::kMap;
    const size_t parts = map ? 2 : 1;
    STROM_TRY(AddOffsets(type, values, map ? Value::Kind::kMap : Value::Kind::kArray,
                         [parts](const Value& value) { return value.items().size() / parts; }));
    Values first, second;
    for (const Value* value : values) {
      if (IsNull(value)) continue;
      const Value::Items& items = value->items();
      if (items.size() % parts != 0) return DoesNotFit(type, *value);
      for (size_t i = 0; i < items.size(); i += parts) {
        first.push_back(&items[i]);
        if (map) second.push_back(&items[i + 1]);
      }
    }
    if (!map) return AddColumn(type.element(), first);
    // The struct of the entries is never null itself.
    const Value entry = Value::Row({});
    STROM_TRY(AddNode(Values(first.size(), &entry)));
    STROM_TRY(AddColumn(type.key(), first));
    return AddColumn(type.map_value(), second);
  }

  Status AddStructFields(const DataType& type, const Values& values) {
    for (const Value* value : values) {
      if (!IsNull(value) && (value->kind() != Value::Kind::kRow || value->items().size() != type.fields->size())) {
        return DoesNotFit(type, *value);
      }
    }
    Values fields(values.size());
    for (size_t field = 0; field < type.fields->size(); ++field) {
      for (size_t i = 0; i < values.size(); ++i) fields[i] = IsNull(values[i]) ? nullptr : &values[i]->items()[field];
      STROM_TRY(AddColumn((*type.fields)[field].type, fields));
    }
    return Status::OK();
  }

  const std::optional<ArrowCodec> codec_;
  ArrowCompressor compressor_;
  std::vector<ArrowNode> nodes_;
  std::vector<ArrowBuffer> buffers_;
  MutableBuffer raw_;  // the buffer that is being made
  MutableBuffer body_;
};

Status CheckRows(const model::Schema& schema, std::span<const Value> rows) {
  for (const Value& row : rows) {
    if (row.kind() != Value::Kind::kRow || row.items().size() != schema.columns.size()) {
      return MakeError(ErrorCode::kUnknownServerError, "{} is no row of {} columns", row.ToString(), schema.columns.size());
    }
  }
  return Status::OK();
}

}  // namespace

Result<Buffer> EncodeArrowMessage(const model::Schema& schema, std::span<const Value> rows, const ArrowCompression& compression) {
  STROM_TRY(CheckRows(schema, rows));
  MessageWriter writer(compression);
  Values values(rows.size());
  for (size_t column = 0; column < schema.columns.size(); ++column) {
    for (size_t i = 0; i < rows.size(); ++i) values[i] = &rows[i].items()[column];
    STROM_TRY(writer.AddColumn(schema.columns[column].type, values));
  }
  return writer.Finish(rows.size());
}

Result<Buffer> BuildArrowLogBatch(const LogBatchSpec& spec, const model::Schema& schema, const ArrowBatchContent& content,
                                  const ArrowCompression& compression) {
  if (content.rows.empty()) return BuildEmptyLogBatch(spec);
  if (content.change_types.size() != (spec.append_only ? 0 : content.rows.size())) {
    return MakeError(ErrorCode::kUnknownServerError, "{} change types for {} rows of {}", content.change_types.size(), content.rows.size(),
                     spec.append_only ? "an append-only batch" : "a changelog batch");
  }
  if (spec.magic == 0 && !content.statistics_columns.empty()) {
    return MakeError(ErrorCode::kUnknownServerError, "a log batch of magic 0 has no statistics");
  }
  STROM_ASSIGN(const Buffer message, EncodeArrowMessage(schema, content.rows, compression));
  MutableBuffer statistics;
  STROM_TRY(AppendStatistics(schema, content.statistics_columns, content.rows, &statistics));
  ArrowBatchParts parts;
  parts.record_count = static_cast<int32_t>(content.rows.size());
  parts.statistics = statistics.view();
  parts.change_types = {reinterpret_cast<const uint8_t*>(content.change_types.data()), content.change_types.size()};
  parts.message = message.view();
  return BuildArrowLogBatch(spec, parts);
}

}  // namespace strom::format
