#include "format/binary_array.h"

#include <cstring>

#include "base/endian.h"
#include "format/slot.h"

namespace strom::format {

namespace {

constexpr size_t kCountSize = 4;
size_t BitmapSize(size_t count) { return (count + 31) / 32 * 4; }

}  // namespace

BinaryArrayWriter::BinaryArrayWriter(const model::DataType& element, size_t count, MutableBuffer* out)
    : start_(out->size()), slots_(start_ + kCountSize + BitmapSize(count)), width_(slot::Width(element)), out_(out) {
  const size_t size = (kCountSize + BitmapSize(count) + count * width_ + 7) / 8 * 8;
  std::memset(out->Extend(size), 0, size);
  StoreLe(out->data() + start_, static_cast<uint32_t>(count));
}

Status BinaryArrayWriter::Append(const model::DataType& type, const FieldView& view) {
  if (view.is_null) {
    out_->data()[start_ + kCountSize + index_ / 8] |= static_cast<uint8_t>(1 << (index_ % 8));
  } else {
    slot::Put(type, view, start_, Slot(), out_);
  }
  ++index_;
  return Status::OK();
}

void BinaryArrayWriter::EndNested(size_t begin) {
  slot::PutNested(begin, start_, Slot(), out_);
  ++index_;
}

BinaryArrayView::BinaryArrayView(const model::DataType& element, ByteView bytes, size_t count)
    : element_(&element), bytes_(bytes), count_(count), slots_(kCountSize + BitmapSize(count)), width_(slot::Width(element)) {}

Result<BinaryArrayView> BinaryArrayView::Open(const model::DataType& element, ByteView bytes) {
  if (bytes.size() < kCountSize) {
    return MakeError(ErrorCode::kCorruptRecord, "array of {} bytes has no room for its count", bytes.size());
  }
  const size_t count = LoadLe<uint32_t>(bytes.data());  // at most 2^32, so the sum below cannot overflow
  BinaryArrayView view(element, bytes, count);
  if (view.slots_ + count * view.width_ > bytes.size()) {
    return MakeError(ErrorCode::kCorruptRecord, "array of {} bytes has no room for its {} elements", bytes.size(), count);
  }
  return view;
}

Status BinaryArrayView::Get(size_t index, FieldView* view) const {
  STROM_ASSERT(index < count_, "element {} of {}", index, count_);
  if ((bytes_[kCountSize + index / 8] >> (index % 8) & 1) != 0) {
    *view = FieldView::Null();
    return Status::OK();
  }
  if (!slot::Get(*element_, bytes_, bytes_.data() + slots_ + width_ * index, view)) [[unlikely]] {
    return MakeError(ErrorCode::kCorruptRecord, "array of {} bytes: element {} of {} ({}) points outside of it", bytes_.size(), index, count_,
                     element_->ToString());
  }
  return Status::OK();
}

Result<BinaryMapView> BinaryMapView::Open(ByteView bytes) {
  if (bytes.size() < 4 || LoadLe<uint32_t>(bytes.data()) > bytes.size() - 4) {
    return MakeError(ErrorCode::kCorruptRecord, "map of {} bytes has no room for its keys", bytes.size());
  }
  const size_t keys_size = LoadLe<uint32_t>(bytes.data());
  return BinaryMapView{bytes.subspan(4, keys_size), bytes.subspan(4 + keys_size)};
}

}  // namespace strom::format
