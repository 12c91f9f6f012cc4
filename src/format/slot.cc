#include "format/slot.h"

#include <cstring>

#include "base/endian.h"

namespace strom::format::slot {

using model::DataType;
using model::TypeRoot;

namespace {

constexpr size_t kInlineMax = 7;
constexpr size_t kDecimalSize = 16;

bool IsBytes(const DataType& type) {
  return type.root == TypeRoot::kChar || type.root == TypeRoot::kString || type.root == TypeRoot::kBinary || type.root == TypeRoot::kBytes;
}
bool IsTimestamp(const DataType& type) { return type.root == TypeRoot::kTimestamp || type.root == TypeRoot::kTimestampLtz; }
bool IsNumber(const DataType& type) {
  if (type.root == TypeRoot::kDecimal) return type.is_compact_decimal();
  if (IsTimestamp(type)) return type.is_compact_timestamp();
  return !IsBytes(type) && !type.is_nested();
}

void PutPointer(size_t begin, uint32_t low, size_t start, size_t slot, MutableBuffer* out) {
  StoreLe(out->data() + slot, static_cast<uint64_t>(begin - start) << 32 | low);
}

/// Appends bytes padded with zeros to `size`.
void AppendPadded(ByteView bytes, size_t size, MutableBuffer* out) {
  uint8_t* to = out->Extend(size);
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  if (size > bytes.size()) std::memset(to + bytes.size(), 0, size - bytes.size());
}

/// The `size` bytes at `offset`; nothing (null data) when they lie outside.
bool Within(ByteView container, uint64_t offset, uint64_t size, ByteView* bytes) {
  if (offset > container.size() || size > container.size() - offset) return false;
  *bytes = container.subspan(offset, size);
  return true;
}

}  // namespace

size_t Width(const DataType& type) {
  switch (type.root) {
    case TypeRoot::kBoolean:
    case TypeRoot::kTinyInt:
      return 1;
    case TypeRoot::kSmallInt:
      return 2;
    case TypeRoot::kInteger:
    case TypeRoot::kDate:
    case TypeRoot::kTime:
    case TypeRoot::kFloat:
      return 4;
    default:
      return 8;
  }
}

void Put(const DataType& type, const FieldView& view, size_t start, size_t slot, MutableBuffer* out) {
  if (IsNumber(type)) {
    std::memcpy(out->data() + slot, &view.number, Width(type));
    return;
  }
  const size_t begin = out->size();
  if (IsTimestamp(type)) {
    StoreLe(out->Extend(8), view.number);
    PutPointer(begin, static_cast<uint32_t>(view.nanos_of_milli), start, slot, out);
    return;
  }
  if (IsBytes(type) && view.bytes.size() <= kInlineMax) {
    if (!view.bytes.empty()) std::memcpy(out->data() + slot, view.bytes.data(), view.bytes.size());
    out->data()[slot + 7] = static_cast<uint8_t>(0x80 | view.bytes.size());
    return;
  }
  const size_t size = type.root == TypeRoot::kDecimal ? kDecimalSize : (view.bytes.size() + 7) / 8 * 8;
  AppendPadded(view.bytes, size, out);
  PutPointer(begin, static_cast<uint32_t>(view.bytes.size()), start, slot, out);
}

void PutNested(size_t begin, size_t start, size_t slot, MutableBuffer* out) {
  const size_t size = out->size() - begin;
  AppendPadded({}, (size + 7) / 8 * 8 - size, out);
  PutPointer(begin, static_cast<uint32_t>(size), start, slot, out);
}

bool Get(const DataType& type, ByteView container, const uint8_t* slot, FieldView* view) {
  switch (type.root) {
    case TypeRoot::kBoolean:
      *view = FieldView::Number(*slot != 0 ? 1 : 0);
      return true;
    case TypeRoot::kTinyInt:
      *view = FieldView::Number(static_cast<int8_t>(*slot));
      return true;
    case TypeRoot::kSmallInt:
      *view = FieldView::Number(LoadLe<int16_t>(slot));
      return true;
    case TypeRoot::kInteger:
    case TypeRoot::kDate:
    case TypeRoot::kTime:
      *view = FieldView::Number(LoadLe<int32_t>(slot));
      return true;
    case TypeRoot::kFloat:
      *view = FieldView::Number(LoadLe<uint32_t>(slot));
      return true;
    default:
      break;
  }
  const auto word = LoadLe<uint64_t>(slot);
  if (IsNumber(type)) {
    *view = FieldView::Number(static_cast<int64_t>(word));
    return true;
  }
  ByteView bytes;
  if (IsTimestamp(type)) {
    if (!Within(container, word >> 32, 8, &bytes)) return false;
    *view = FieldView::Number(LoadLe<int64_t>(bytes.data()));
    view->nanos_of_milli = static_cast<int32_t>(word);
    return true;
  }
  if (IsBytes(type) && (slot[7] & 0x80) != 0) {
    const size_t size = slot[7] & 0x7F;
    if (size > kInlineMax) return false;
    *view = FieldView::Bytes({slot, size});
    return true;
  }
  if (!Within(container, word >> 32, word & 0xFFFFFFFF, &bytes)) return false;
  *view = FieldView::Bytes(bytes);
  return true;
}

}  // namespace strom::format::slot
