#include "format/row_codec.h"

#include "base/endian.h"
#include "format/aligned_row.h"
#include "format/binary_array.h"
#include "format/compacted_row.h"
#include "format/indexed_row.h"

namespace strom::format {

using model::DataType;
using model::TypeRoot;

namespace {

Error TooDeep() { return MakeError(ErrorCode::kCorruptRecord, "values are nested deeper than {} levels", kRowDepthMax); }

Fields FieldsOfRow(const DataType& type) {
  STROM_ASSERT(type.fields != nullptr, "a ROW type without fields");
  return *type.fields;
}

// --- Value to bytes

class Encoder {
 public:
  Encoder(RowFormat format, MutableBuffer* out) : format_(format), out_(out) {}

  Status Row(Fields fields, const Value& row, int depth) {
    if (row.kind() != Value::Kind::kRow) {
      return MakeError(ErrorCode::kUnknownServerError, "{} {} is not a row", KindName(row.kind()), row.ToString());
    }
    return Row(fields, row.items(), depth);
  }

  Status Row(Fields fields, std::span<const Value> values, int depth) {
    STROM_TRY(CheckCount(fields, values));
    switch (format_) {
      case RowFormat::kCompacted: {
        CompactedRowWriter writer(fields.size(), out_);
        return AppendFields(fields, values, &writer, depth);
      }
      case RowFormat::kIndexed: {
        IndexedRowWriter writer(fields, out_);
        return AppendFields(fields, values, &writer, depth);
      }
      case RowFormat::kAligned:
        break;
    }
    AlignedRowWriter writer(fields.size(), out_);
    return AppendFields(fields, values, &writer, depth);
  }

  Status Key(Fields fields, std::span<const Value> values) {
    STROM_TRY(CheckCount(fields, values));
    for (size_t i = 0; i < fields.size(); ++i) {
      if (values[i].is_null()) return MakeError(ErrorCode::kUnknownServerError, "key column {} is null", fields[i].name);
    }
    CompactedRowWriter writer = CompactedRowWriter::ForKey(out_);
    return AppendFields(fields, values, &writer, 0);
  }

 private:
  template <typename Writer>
  Status AppendFields(Fields fields, std::span<const Value> values, Writer* writer, int depth) {
    for (size_t i = 0; i < fields.size(); ++i) STROM_TRY(Append(fields[i].type, values[i], writer, depth));
    return Status::OK();
  }

  static Status CheckCount(Fields fields, std::span<const Value> values) {
    if (values.size() == fields.size()) return Status::OK();
    return MakeError(ErrorCode::kUnknownServerError, "{} values for {} fields", values.size(), fields.size());
  }

  template <typename Writer>
  Status Append(const DataType& type, const Value& value, Writer* writer, int depth) {
    if (type.is_nested() && !value.is_null()) {
      const size_t begin = writer->BeginNested();
      STROM_TRY(Nested(type, value, depth + 1));
      writer->EndNested(begin);
      return Status::OK();
    }
    DecimalBytes room;
    FieldView view;
    STROM_TRY(ViewOfValue(type, value, &room, &view));
    return writer->Append(type, view);
  }

  Status Nested(const DataType& type, const Value& value, int depth) {
    if (depth > kRowDepthMax) return TooDeep();
    if (type.root == TypeRoot::kRow) return Row(FieldsOfRow(type), value, depth);
    if (type.root == TypeRoot::kArray) {
      if (value.kind() != Value::Kind::kArray) return WrongKind(type, value);
      return Array(type.element(), value.items(), 0, 1, depth);
    }
    if (value.kind() != Value::Kind::kMap || value.items().size() % 2 != 0) return WrongKind(type, value);
    const size_t begin = out_->size();
    out_->Extend(4);
    STROM_TRY(Array(type.key(), value.items(), 0, 2, depth));
    StoreLe(out_->data() + begin, static_cast<uint32_t>(out_->size() - begin - 4));
    return Array(type.map_value(), value.items(), 1, 2, depth);
  }

  /// Every `stride`-th item from `first` on: the keys or the values of a map, all elements of an array.
  Status Array(const DataType& element, const Value::Items& items, size_t first, size_t stride, int depth) {
    BinaryArrayWriter writer(element, items.size() / stride, out_);
    for (size_t i = first; i < items.size(); i += stride) STROM_TRY(Append(element, items[i], &writer, depth));
    return Status::OK();
  }

  static Error WrongKind(const DataType& type, const Value& value) {
    return MakeError(ErrorCode::kUnknownServerError, "{} {} is not a value of {}", KindName(value.kind()), value.ToString(), type.ToString());
  }

  RowFormat format_;
  MutableBuffer* out_;
};

// --- Bytes to fields

/// Calls each(type, view) for every field of a row and returns how many bytes follow the last one (0 for aligned rows).
template <typename Each>
Result<size_t> ForEachField(RowFormat format, Fields fields, ByteView row, Each each) {
  FieldView view;
  if (format == RowFormat::kAligned) {
    const AlignedRowView reader(fields, row);
    for (size_t i = 0; i < fields.size(); ++i) {
      STROM_TRY(reader.Get(i, &view));
      STROM_TRY(each(fields[i].type, view));
    }
    return size_t{0};
  }
  auto drain = [&](auto reader) -> Result<size_t> {
    for (const model::DataField& field : fields) {
      STROM_TRY(reader.Next(&view));
      STROM_TRY(each(field.type, view));
    }
    return reader.rest();
  };
  return format == RowFormat::kCompacted ? drain(CompactedRowReader(fields, row)) : drain(IndexedRowReader(fields, row));
}

template <typename Each>
Status ForEachElement(const BinaryArrayView& array, const DataType& element, Each each) {
  FieldView view;
  for (size_t i = 0; i < array.size(); ++i) {
    STROM_TRY(array.Get(i, &view));
    STROM_TRY(each(element, view));
  }
  return Status::OK();
}

/// Slots of foreign bytes may all point at the same nested value; what a container's slots point at may not be more than the container.
/// So a walk costs at most its size for each level of nesting.
class NestedBudget {
 public:
  explicit NestedBudget(size_t size) : left_(size) {}
  Status Take(const DataType& type, const FieldView& view) {
    if (!type.is_nested() || view.is_null) return Status::OK();
    if (view.bytes.size() > left_) return MakeError(ErrorCode::kCorruptRecord, "nested values of type {} overlap", type.ToString());
    left_ -= view.bytes.size();
    return Status::OK();
  }

 private:
  size_t left_;
};

/// Reads to Values, or only checks. One walk serves both, so that what passes the check can be decoded.
class Walker {
 public:
  Walker(RowFormat format, bool build) : format_(format), build_(build) {}

  Status Row(Fields fields, ByteView row, int depth, Value* value) {
    Value::Items items;
    if (build_) items.reserve(fields.size());
    NestedBudget budget(row.size());
    auto rest = ForEachField(format_, fields, row, [&](const DataType& type, const FieldView& view) -> Status {
      STROM_TRY(budget.Take(type, view));
      return Field(type, view, depth, &items);
    });
    STROM_TRY(rest);
    if (*rest != 0 && !build_) {
      return MakeError(ErrorCode::kCorruptRecord, "row of {} bytes has {} bytes behind its last field", row.size(), *rest);
    }
    *value = Value::Row(std::move(items));
    return Status::OK();
  }

  Status Nested(const DataType& type, ByteView bytes, int depth, Value* value) {
    if (depth > kRowDepthMax) return TooDeep();
    if (type.root == TypeRoot::kRow) return Row(FieldsOfRow(type), bytes, depth, value);
    if (type.root == TypeRoot::kArray) {
      Value::Items items;
      STROM_TRY(Array(type.element(), bytes, depth, &items));
      *value = Value::Array(std::move(items));
      return Status::OK();
    }
    return Map(type, bytes, depth, value);
  }

 private:
  Status Field(const DataType& type, const FieldView& view, int depth, Value::Items* items) {
    Value value;
    if (type.is_nested() && !view.is_null) {
      STROM_TRY(Nested(type, view.bytes, depth + 1, &value));
    } else if (build_) {
      STROM_ASSIGN(value, ValueOfView(type, view));
    } else {
      return CheckScalar(type, view);
    }
    if (build_) items->push_back(std::move(value));
    return Status::OK();
  }

  static Status CheckScalar(const DataType& type, const FieldView& view) {
    if (view.is_null) return Status::OK();
    if (view.nanos_of_milli < 0 || view.nanos_of_milli > 999'999) {
      return MakeError(ErrorCode::kCorruptRecord, "{} nanoseconds within a millisecond", view.nanos_of_milli);
    }
    if (type.root == TypeRoot::kDecimal && !type.is_compact_decimal()) return DecimalFromBytes(view.bytes).status();
    return Status::OK();
  }

  /// Returns how many elements there are.
  Result<size_t> Array(const DataType& element, ByteView bytes, int depth, Value::Items* items) {
    STROM_ASSIGN(const BinaryArrayView array, BinaryArrayView::Open(element, bytes));
    if (build_) items->reserve(array.size());
    NestedBudget budget(bytes.size());
    STROM_TRY(ForEachElement(array, element, [&](const DataType& type, const FieldView& view) -> Status {
      STROM_TRY(budget.Take(type, view));
      return Field(type, view, depth, items);
    }));
    return array.size();
  }

  Status Map(const DataType& type, ByteView bytes, int depth, Value* value) {
    STROM_ASSIGN(const BinaryMapView map, BinaryMapView::Open(bytes));
    Value::Items keys;
    Value::Items values;
    STROM_ASSIGN(const size_t key_count, Array(type.key(), map.keys, depth, &keys));
    STROM_ASSIGN(const size_t value_count, Array(type.map_value(), map.values, depth, &values));
    if (key_count != value_count) {
      return MakeError(ErrorCode::kCorruptRecord, "map has {} keys and {} values", key_count, value_count);
    }
    if (!build_) return Status::OK();
    Value::Items items;
    items.reserve(2 * key_count);
    for (size_t i = 0; i < key_count; ++i) {
      items.push_back(std::move(keys[i]));
      items.push_back(std::move(values[i]));
    }
    *value = Value::Map(std::move(items));
    return Status::OK();
  }

  RowFormat format_;
  bool build_;
};

}  // namespace

Status EncodeRow(RowFormat format, Fields fields, const Value& row, MutableBuffer* out) {
  const size_t begin = out->size();
  Status status = Encoder(format, out).Row(fields, row, 0);
  if (!status.ok()) out->Resize(begin);
  return status;
}

Status EncodeRow(RowFormat format, Fields fields, std::span<const Value> values, MutableBuffer* out) {
  const size_t begin = out->size();
  Status status = Encoder(format, out).Row(fields, values, 0);
  if (!status.ok()) out->Resize(begin);
  return status;
}

namespace {
template <typename Writer>
Status AppendViews(Fields fields, std::span<const FieldView> views, Writer writer) {
  for (size_t i = 0; i < fields.size(); ++i) STROM_TRY(writer.Append(fields[i].type, views[i]));
  return Status::OK();
}
}  // namespace

Status EncodeRow(RowFormat format, Fields fields, std::span<const FieldView> views, MutableBuffer* out) {
  STROM_ASSERT(views.size() == fields.size(), "{} views for {} fields", views.size(), fields.size());
  STROM_ASSERT(format != RowFormat::kAligned, "aligned rows are made of Values");
  const size_t begin = out->size();
  Status status = format == RowFormat::kIndexed ? AppendViews(fields, views, IndexedRowWriter(fields, out))
                                                : AppendViews(fields, views, CompactedRowWriter(fields.size(), out));
  if (!status.ok()) out->Resize(begin);
  return status;
}

Status EncodeCompactedKey(Fields fields, std::span<const Value> values, MutableBuffer* out) {
  const size_t begin = out->size();
  Status status = Encoder(RowFormat::kCompacted, out).Key(fields, values);
  if (!status.ok()) out->Resize(begin);
  return status;
}

Result<Value> DecodeRow(RowFormat format, Fields fields, ByteView row) {
  Value value;
  STROM_TRY(Walker(format, true).Row(fields, row, 0, &value));
  return value;
}

Result<Value> DecodeNested(RowFormat format, const DataType& type, ByteView bytes) {
  Value value;
  STROM_TRY(Walker(format, true).Nested(type, bytes, 1, &value));
  return value;
}

Result<Value> DecodeCompactedKey(Fields fields, ByteView key) {
  CompactedRowReader reader = CompactedRowReader::ForKey(fields, key);
  Value::Items items;
  items.reserve(fields.size());
  for (const model::DataField& field : fields) {
    FieldView view;
    STROM_TRY(reader.Next(&view));
    STROM_ASSIGN(Value value, field.type.is_nested() ? DecodeNested(RowFormat::kCompacted, field.type, view.bytes)
                                                     : ValueOfView(field.type, view));
    items.push_back(std::move(value));
  }
  if (reader.rest() != 0) {
    return MakeError(ErrorCode::kCorruptRecord, "key of {} bytes has {} bytes behind its last column", key.size(), reader.rest());
  }
  return Value::Row(std::move(items));
}

Status CheckRow(RowFormat format, Fields fields, ByteView row) {
  Value ignored;
  return Walker(format, false).Row(fields, row, 0, &ignored);
}

}  // namespace strom::format
