#include "kv/testing/roaring_images.h"

#include <algorithm>
#include <map>

#include "base/endian.h"
#include "kv/roaring32.h"
#include "kv/roaring64.h"

namespace strom::kv::testing {

namespace {

template <typename T>
void Put(T number, MutableBuffer* out) {
  StoreLe(out->Extend(sizeof(T)), number);
}

template <typename Low>
void PutPayload(const std::set<Low>& low, MutableBuffer* out) {
  if (low.size() <= kArrayCardinalityMax) {
    for (const Low value : low) Put(static_cast<uint16_t>(value), out);
    return;
  }
  const size_t start = out->size();
  std::memset(out->Extend(kBitmapSize), 0, kBitmapSize);
  for (const Low value : low) out->data()[start + value / 8] |= static_cast<uint8_t>(1 << (value % 8));
}

void AddValues(uint64_t high, const Container& container, std::vector<uint64_t>* values) {
  const auto at = [&](size_t i) { return LoadLe<uint16_t>(container.payload.data() + 2 * i); };
  switch (container.kind) {
    case ContainerKind::kArray:
      for (size_t i = 0; i < container.cardinality; ++i) values->push_back(high + at(i));
      break;
    case ContainerKind::kRun:
      for (size_t i = 0; i < at(0); ++i) {
        for (uint64_t j = 0; j <= at(2 + 2 * i); ++j) values->push_back(high + at(1 + 2 * i) + j);
      }
      break;
    case ContainerKind::kBitmap:
      for (size_t i = 0; i < 65536; ++i) {
        if ((container.payload[i / 8] >> (i % 8) & 1) != 0) values->push_back(high + i);
      }
  }
}

}  // namespace

Buffer Roaring32Image(const std::set<uint32_t>& values) {
  std::map<uint16_t, std::set<uint16_t>> containers;
  for (const uint32_t value : values)
    containers[static_cast<uint16_t>(value >> 16)].insert(static_cast<uint16_t>(value));
  MutableBuffer out;
  Put(uint32_t{12346}, &out);
  Put(static_cast<uint32_t>(containers.size()), &out);
  for (const auto& [key, low] : containers) {
    Put(key, &out);
    Put(static_cast<uint16_t>(low.size() - 1), &out);
  }
  size_t offset = out.size() + 4 * containers.size();
  for (const auto& [key, low] : containers) {
    Put(static_cast<uint32_t>(offset), &out);
    offset += low.size() <= kArrayCardinalityMax ? 2 * low.size() : kBitmapSize;
  }
  for (const auto& [key, low] : containers) PutPayload(low, &out);
  return out.Freeze();
}

std::vector<uint64_t> Roaring32Values(ByteView image) {
  std::vector<Roaring32Entry> entries;
  const Status read = ReadRoaring32("image", image, &entries);
  STROM_ASSERT(read.ok(), "{}", read.ToString());
  std::vector<uint64_t> values;
  for (const Roaring32Entry& entry : entries) AddValues(uint64_t{entry.key} << 16, entry.container, &values);
  return values;
}

Buffer Roaring64Leaf(uint64_t key, const std::set<uint16_t>& low) {
  MutableBuffer out;
  out.AppendByte(1);
  Put(int64_t{1}, &out);
  Put(uint32_t{4}, &out);  // a leaf: type, no children, no prefix
  for (int shift = 40; shift >= 0; shift -= 8) out.AppendByte(static_cast<uint8_t>(key >> shift));
  Put(int64_t{0}, &out);
  Put(int32_t{1}, &out);
  Put(int8_t{-2}, &out);
  Put(int32_t{1}, &out);
  out.AppendByte(1);
  out.AppendByte(low.size() <= kArrayCardinalityMax ? 2 : 1);
  Put(static_cast<int32_t>(low.size()), &out);
  PutPayload(low, &out);
  Put(int64_t{1}, &out);
  Put(int64_t{0}, &out);
  return out.Freeze();
}

Buffer Roaring64Image(const std::vector<uint64_t>& values) {
  std::vector<uint64_t> order;
  std::map<uint64_t, std::set<uint16_t>> containers;
  for (const uint64_t value : values) {
    std::set<uint16_t>& low = containers[value >> 16];
    if (low.empty()) order.push_back(value >> 16);
    low.insert(static_cast<uint16_t>(value));
  }
  Roaring64Union merge;
  Buffer image = Buffer::CopyOf(std::string_view("\0", 1));
  for (const uint64_t key : order) {
    MutableBuffer out;
    const Status united = merge.Unite(image.view(), Roaring64Leaf(key, containers[key]).view(), &out);
    STROM_ASSERT(united.ok(), "{}", united.ToString());
    image = out.Freeze();
  }
  return image;
}

std::vector<uint64_t> Roaring64Values(ByteView image) {
  kv::Roaring64Image decoded;
  const Status read = ReadRoaring64("image", image, &decoded);
  STROM_ASSERT(read.ok(), "{}", read.ToString());
  std::vector<uint64_t> values;
  for (const Roaring64Entry& entry : decoded.entries) AddValues(entry.key << 16, entry.container, &values);
  return values;
}

}  // namespace strom::kv::testing
