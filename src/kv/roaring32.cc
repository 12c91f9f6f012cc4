#include "kv/roaring32.h"

#include <algorithm>
#include <cstring>

#include "base/endian.h"

namespace strom::kv {

namespace {

constexpr uint32_t kCookieWithoutRuns = 12346;
constexpr uint32_t kCookieWithRuns = 12347;
constexpr size_t kContainersMax = 0x10000;
constexpr size_t kOffsetsMin = 4;  // containers from which on there are offsets although there are runs

}  // namespace

Status ReadRoaring32(std::string_view which, ByteView image, std::vector<Roaring32Entry>* entries) {
  entries->clear();
  const auto corrupt = [&](std::string_view what) {
    return MakeError(ErrorCode::kCorruptRecord, "the {} of {} bytes is no 32-bit Roaring bitmap: {}", which,
                     image.size(), what);
  };
  if (image.size() < 4) return corrupt("it ends in the cookie");
  const auto cookie = LoadLe<uint32_t>(image.data());
  size_t position = 4;
  size_t count = 0;
  ByteView run_bits;
  if ((cookie & 0xFFFF) == kCookieWithRuns) {
    count = (cookie >> 16) + 1;
    const size_t size = (count + 7) / 8;
    if (image.size() - position < size) return corrupt("it ends in the run bits");
    run_bits = image.subspan(position, size);
    position += size;
  } else if (cookie == kCookieWithoutRuns && image.size() >= 8) {
    count = LoadLe<uint32_t>(image.data() + 4);
    position = 8;
  } else {
    return corrupt("it does not start with a cookie");
  }
  if (count > kContainersMax) return corrupt("it says that it has more than 65536 containers");
  const bool has_offsets = run_bits.empty() || count >= kOffsetsMin;
  const size_t descriptors = position;
  // Whoever reads from the start needs no offsets.
  position += (has_offsets ? 8 : 4) * count;
  if (position > image.size()) return corrupt("it ends in the descriptors");
  for (size_t i = 0; i < count; ++i) {
    Roaring32Entry entry;
    entry.key = LoadLe<uint16_t>(image.data() + descriptors + 4 * i);
    const uint32_t cardinality = LoadLe<uint16_t>(image.data() + descriptors + 4 * i + 2) + 1U;
    if (i > 0 && entry.key <= entries->back().key) return corrupt("the high bits of its containers do not ascend");
    const bool is_run = !run_bits.empty() && (run_bits[i / 8] >> (i % 8) & 1) != 0;
    const ContainerKind kind = is_run                                ? ContainerKind::kRun
                               : cardinality <= kArrayCardinalityMax ? ContainerKind::kArray
                                                                     : ContainerKind::kBitmap;
    if (!ReadContainer(kind, cardinality, image.subspan(position), &entry.container))
      return corrupt("a container is cut or out of order");
    position += entry.container.payload.size();
    entries->push_back(entry);
  }
  if (position != image.size()) return corrupt("more bytes follow its containers");
  return Status::OK();
}

Status Roaring32Union::Unite(ByteView accumulator, ByteView input, MutableBuffer* out) {
  STROM_TRY(ReadRoaring32("stored value", accumulator, &accumulator_));
  STROM_TRY(ReadRoaring32("written value", input, &input_));
  UniteContainers();
  Write(out);
  return Status::OK();
}

void Roaring32Union::UniteContainers() {
  united_.clear();
  sizes_.clear();
  payloads_.Clear();
  auto a = accumulator_.begin();
  auto b = input_.begin();
  while (a != accumulator_.end() || b != input_.end()) {
    const bool has_a = a != accumulator_.end() && (b == input_.end() || a->key <= b->key);
    const bool has_b = b != input_.end() && (a == accumulator_.end() || b->key <= a->key);
    const size_t start = payloads_.size();
    Roaring32Entry entry;
    entry.key = has_a ? a->key : b->key;
    entry.container =
        containers_.Append(has_a ? a->container : b->container, has_a && has_b ? &b->container : nullptr, &payloads_);
    united_.push_back(entry);
    sizes_.push_back(payloads_.size() - start);
    if (has_a) ++a;
    if (has_b) ++b;
  }
}

void Roaring32Union::Write(MutableBuffer* out) const {
  const size_t count = united_.size();
  const size_t start = out->size();
  const bool has_runs = std::any_of(united_.begin(), united_.end(), [](const Roaring32Entry& entry) {
    return entry.container.kind == ContainerKind::kRun;
  });
  if (has_runs) {
    StoreLe(out->Extend(4), kCookieWithRuns | static_cast<uint32_t>(count - 1) << 16);
    const size_t size = (count + 7) / 8;
    uint8_t* bits = out->Extend(size);
    std::memset(bits, 0, size);
    for (size_t i = 0; i < count; ++i) {
      if (united_[i].container.kind == ContainerKind::kRun) bits[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
    }
  } else {
    StoreLe(out->Extend(4), kCookieWithoutRuns);
    StoreLe(out->Extend(4), static_cast<uint32_t>(count));
  }
  for (const Roaring32Entry& entry : united_) {
    StoreLe(out->Extend(2), entry.key);
    StoreLe(out->Extend(2), static_cast<uint16_t>(entry.container.cardinality - 1));
  }
  if (!has_runs || count >= kOffsetsMin) {
    size_t offset = out->size() - start + 4 * count;
    for (const size_t size : sizes_) {
      StoreLe(out->Extend(4), static_cast<uint32_t>(offset));
      offset += size;
    }
  }
  out->Append(payloads_.view());
}

}  // namespace strom::kv
