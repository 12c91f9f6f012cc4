#include "format/arrow_row_appender.h"

#include <cstring>
#include <limits>

#include "base/endian.h"
#include "format/arrow_layout.h"
#include "format/arrow_metadata.h"
#include "format/arrow_ticks.h"
#include "format/binary_array.h"
#include "format/compacted_row.h"
#include "format/indexed_row.h"

namespace strom::format {

using model::DataType;
using model::TypeRoot;

namespace {

/// A buffer that grew above this is given back after its batch.
constexpr size_t kKeptBufferMax = 1 << 20;

void Reset(MutableBuffer* buffer) {
  if (buffer->capacity() > kKeptBufferMax) {
    *buffer = MutableBuffer();
  } else {
    buffer->Clear();
  }
}

void AppendBit(bool bit, size_t index, MutableBuffer* bits) {
  if (index % 8 == 0) bits->AppendByte(0);
  if (bit) bits->data()[index / 8] |= static_cast<uint8_t>(1U << (index % 8));
}

Error DoesNotFit(const DataType& type) {
  return MakeError(ErrorCode::kCorruptRecord, "a value does not fit into an Arrow column of {}", type.ToString());
}

}  // namespace

/// One node with its children (arrow_layout.h): its validity bits, its values or offsets.
class ArrowRowAppender::Column {
 public:
  Column(const DataType& type, RowFormat row_format)
      : type_(&type), row_format_(row_format), kind_(ArrowNodeOf(type).kind), width_(ArrowNodeOf(type).width) {
    switch (type.root) {
      case TypeRoot::kArray:
        children_.push_back(std::make_unique<Column>(type.element(), row_format));
        break;
      case TypeRoot::kMap:
        children_.push_back(std::make_unique<Column>(type.key(), row_format));
        children_.push_back(std::make_unique<Column>(type.map_value(), row_format));
        break;
      case TypeRoot::kRow:
        for (const model::DataField& field : *type.fields)
          children_.push_back(std::make_unique<Column>(field.type, row_format));
        break;
      default:
        break;
    }
  }

  Status Append(const FieldView& view) {
    if (view.is_null) {
      AppendNull();
      return Status::OK();
    }
    AppendBit(true, length_, &validity_);
    STROM_TRY(AppendValue(view));
    ++length_;
    return Status::OK();
  }

  void AppendNull() {
    AppendBit(false, length_, &validity_);
    ++null_count_;
    switch (kind_) {
      case ArrowKind::kBits:
        AppendBit(false, length_, &values_);
        break;
      case ArrowKind::kFixed:
        std::memset(values_.Extend(width_), 0, width_);
        break;
      case ArrowKind::kVariable:
      case ArrowKind::kList:
        AppendOffset();
        break;
      case ArrowKind::kStruct:
        for (const std::unique_ptr<Column>& child : children_) child->AppendNull();
        break;
    }
    ++length_;
  }

  /// Hands over all nodes and buffers, depth first.
  template <typename AddBuffer>
  Status Emit(std::vector<ArrowNode>* nodes, AddBuffer add_buffer) {
    nodes->push_back({static_cast<int64_t>(length_), static_cast<int64_t>(null_count_)});
    STROM_TRY(add_buffer(validity_.view()));
    if (kind_ == ArrowKind::kVariable || kind_ == ArrowKind::kList) STROM_TRY(add_buffer(offsets_.view()));
    if (kind_ == ArrowKind::kBits || kind_ == ArrowKind::kFixed || kind_ == ArrowKind::kVariable)
      STROM_TRY(add_buffer(values_.view()));
    if (type_->root == TypeRoot::kMap) STROM_TRY(EmitEntries(nodes, add_buffer));
    for (const std::unique_ptr<Column>& child : children_) STROM_TRY(child->Emit(nodes, add_buffer));
    return Status::OK();
  }

  void Clear() {
    length_ = null_count_ = 0;
    entries_ = 0;
    Reset(&validity_);
    Reset(&values_);
    Reset(&offsets_);
    for (const std::unique_ptr<Column>& child : children_) child->Clear();
  }

 private:
  /// The struct of a map's entries is never null itself.
  template <typename AddBuffer>
  Status EmitEntries(std::vector<ArrowNode>* nodes, AddBuffer add_buffer) {
    nodes->push_back({static_cast<int64_t>(entries_), 0});
    MutableBuffer present;
    for (size_t i = 0; i < entries_; ++i) AppendBit(true, i, &present);
    return add_buffer(present.view());
  }

  /// One offset more than values; none at all for no values, as Java has it.
  void AppendOffset() {
    if (length_ == 0) StoreLe(offsets_.Extend(4), int32_t{0});
    const size_t end = kind_ == ArrowKind::kVariable ? values_.size() : entries_;
    StoreLe(offsets_.Extend(4), static_cast<int32_t>(end));
  }

  Status AppendValue(const FieldView& view) {
    switch (kind_) {
      case ArrowKind::kBits:
        AppendBit(view.number != 0, length_, &values_);
        return Status::OK();
      case ArrowKind::kFixed:
        return AppendFixed(view);
      case ArrowKind::kVariable:
        if (values_.size() + view.bytes.size() > std::numeric_limits<int32_t>::max()) return TooLarge();
        values_.Append(view.bytes);
        AppendOffset();
        return Status::OK();
      case ArrowKind::kList:
        STROM_TRY(type_->root == TypeRoot::kMap ? AppendMap(view.bytes)
                                                : AppendArray(view.bytes, children_[0].get(), type_->element()));
        if (entries_ > std::numeric_limits<int32_t>::max()) return TooLarge();
        AppendOffset();
        return Status::OK();
      case ArrowKind::kStruct:
        return row_format_ == RowFormat::kIndexed ? AppendFields(IndexedRowReader(*type_->fields, view.bytes))
                                                  : AppendFields(CompactedRowReader(*type_->fields, view.bytes));
    }
    return Status::OK();
  }

  Error TooLarge() const {
    return MakeError(ErrorCode::kRecordTooLarge, "an Arrow column of {} would be over 2 GiB", type_->ToString());
  }

  Status AppendFixed(const FieldView& view) {
    uint8_t* slot = values_.Extend(width_);
    int64_t number = view.number;
    switch (type_->root) {
      case TypeRoot::kDecimal: {
        STROM_ASSIGN(const Int128 unscaled, DecimalOf(*type_, view));
        StoreLe(slot, unscaled);
        return Status::OK();
      }
      case TypeRoot::kBinary:
        if (view.bytes.size() != width_) return DoesNotFit(*type_);
        std::memcpy(slot, view.bytes.data(), width_);
        return Status::OK();
      case TypeRoot::kTime:
        number = ArrowTicksOfTime(number, type_->precision);
        break;
      case TypeRoot::kTimestamp:
      case TypeRoot::kTimestampLtz:
        if (!ArrowTicksOfTimestamp(view.number, view.nanos_of_milli, type_->precision, &number))
          return DoesNotFit(*type_);
        break;
      default:
        break;
    }
    std::memcpy(slot, &number, width_);
    return Status::OK();
  }

  Status AppendArray(ByteView bytes, Column* elements, const DataType& element) {
    STROM_ASSIGN(const BinaryArrayView array, BinaryArrayView::Open(element, bytes));
    FieldView view;
    for (size_t i = 0; i < array.size(); ++i) {
      STROM_TRY(array.Get(i, &view));
      STROM_TRY(elements->Append(view));
    }
    entries_ += array.size();
    return Status::OK();
  }

  Status AppendMap(ByteView bytes) {
    STROM_ASSIGN(const BinaryMapView map, BinaryMapView::Open(bytes));
    const size_t before = entries_;
    STROM_TRY(AppendArray(map.keys, children_[0].get(), type_->key()));
    const size_t keys = entries_ - before;
    entries_ = before;
    STROM_TRY(AppendArray(map.values, children_[1].get(), type_->map_value()));
    if (entries_ - before != keys) {
      return MakeError(ErrorCode::kCorruptRecord, "a {} has {} keys and {} values", type_->ToString(), keys,
                       entries_ - before);
    }
    return Status::OK();
  }

  template <typename Reader>
  Status AppendFields(Reader reader) {
    FieldView view;
    for (const std::unique_ptr<Column>& child : children_) {
      STROM_TRY(reader.Next(&view));
      STROM_TRY(child->Append(view));
    }
    return Status::OK();
  }

  const DataType* type_;
  const RowFormat row_format_;
  const ArrowKind kind_;
  const size_t width_;
  size_t length_ = 0;
  size_t null_count_ = 0;
  size_t entries_ = 0;  // of a list or map: elements so far
  MutableBuffer validity_;
  MutableBuffer values_;
  MutableBuffer offsets_;
  std::vector<std::unique_ptr<Column>> children_;
};

ArrowRowAppender::ArrowRowAppender(std::vector<model::DataField> fields, RowFormat row_format,
                                   ArrowCompression compression)
    : fields_(std::move(fields)), codec_(compression.codec), compressor_(compression) {
  for (const model::DataField& field : fields_) columns_.push_back(std::make_unique<Column>(field.type, row_format));
}

ArrowRowAppender::~ArrowRowAppender() = default;

Status ArrowRowAppender::Append(ChangeType type, std::span<const FieldView> row) {
  STROM_ASSERT(row.size() == columns_.size(), "{} fields for {} columns", row.size(), columns_.size());
  for (size_t i = 0; i < row.size(); ++i) {
    const Status appended = columns_[i]->Append(row[i]);
    if (!appended.ok()) return MakeError(appended.code(), "column {}: {}", fields_[i].name, appended.error().message);
  }
  change_types_.push_back(type);
  return Status::OK();
}

Result<Buffer> ArrowRowAppender::Finish(const LogBatchSpec& spec) {
  if (change_types_.empty()) return BuildEmptyLogBatch(spec);
  const auto add_buffer = [this](ByteView raw) -> Status {
    const size_t start = body_.size();
    STROM_TRY(compressor_.Append(raw, &body_));
    const size_t length = body_.size() - start;
    const size_t padding = static_cast<size_t>(PadToArrowAlignment(static_cast<int64_t>(length))) - length;
    if (padding > 0) std::memset(body_.Extend(padding), 0, padding);
    buffers_.push_back({static_cast<int64_t>(start), static_cast<int64_t>(length)});
    return Status::OK();
  };
  for (const std::unique_ptr<Column>& column : columns_) STROM_TRY(column->Emit(&nodes_, add_buffer));
  const size_t metadata_size = ArrowMetadataBuilder::Size(nodes_.size(), buffers_.size(), codec_);
  ArrowMetadataBuilder builder(message_.Extend(metadata_size), record_count(), nodes_.size(), buffers_.size(), codec_);
  for (const ArrowNode& node : nodes_) builder.AddNode(node);
  for (const ArrowBuffer& buffer : buffers_) builder.AddBuffer(buffer);
  builder.Finish(static_cast<int64_t>(body_.size()));
  message_.Append(body_.view());

  ArrowBatchParts parts;
  parts.record_count = record_count();
  if (!spec.append_only)
    parts.change_types = {reinterpret_cast<const uint8_t*>(change_types_.data()), change_types_.size()};
  parts.message = message_.view();
  Buffer batch = BuildArrowLogBatch(spec, parts);
  Clear();
  return batch;
}

void ArrowRowAppender::Clear() {
  for (const std::unique_ptr<Column>& column : columns_) column->Clear();
  change_types_.clear();
  nodes_.clear();
  buffers_.clear();
  Reset(&message_);
  Reset(&body_);
}

}  // namespace strom::format
