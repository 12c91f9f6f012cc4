#include "kv/roaring_container.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/endian.h"

namespace strom::kv {

namespace {

constexpr uint32_t kRunsInBitmapMax = (kBitmapSize - 2) / 4;  // as many runs take less room than a bitmap

uint32_t At(ByteView payload, size_t index) { return LoadLe<uint16_t>(payload.data() + 2 * index); }

bool ReadRuns(ByteView bytes, Container* container) {
  if (bytes.size() < 2) return false;
  const size_t count = At(bytes, 0);
  if (count == 0 || bytes.size() - 2 < 4 * count) return false;
  container->payload = bytes.first(2 + 4 * count);
  uint32_t next = 0;  // the least start that is still free
  for (size_t i = 0; i < count; ++i) {
    const uint32_t start = At(bytes, 1 + 2 * i);
    const uint32_t length = At(bytes, 2 + 2 * i) + 1;
    if (start < next || start + length > 0x10000) return false;
    next = start + length;
    container->cardinality += length;
  }
  return true;
}

bool ReadArray(uint32_t cardinality, ByteView bytes, Container* container) {
  if (cardinality == 0 || cardinality > 0x10000 || bytes.size() / 2 < cardinality) return false;
  container->payload = bytes.first(2 * size_t{cardinality});
  container->cardinality = cardinality;
  for (size_t i = 1; i < cardinality; ++i) {
    if (At(bytes, i - 1) >= At(bytes, i)) return false;
  }
  return true;
}

bool ReadBitmap(uint32_t cardinality, ByteView bytes, Container* container) {
  if (cardinality == 0 || bytes.size() < kBitmapSize) return false;
  container->payload = bytes.first(kBitmapSize);
  for (size_t i = 0; i < kBitmapSize; i += 8) {
    container->cardinality += static_cast<uint32_t>(std::popcount(LoadLe<uint64_t>(bytes.data() + i)));
  }
  return container->cardinality == cardinality;
}

/// The values of an array or run container as its longest runs, ascending.
class RunCursor {
 public:
  explicit RunCursor(const Container* container) : container_(container) {
    if (container_ == nullptr) return;
    count_ = container_->kind == ContainerKind::kRun ? At(container_->payload, 0) : container_->cardinality;
  }

  /// False at the end.
  bool Next(uint32_t* start, uint32_t* end) {
    if (next_ == count_) return false;
    Read(start, end);
    uint32_t more_start = 0;
    uint32_t more_end = 0;
    while (next_ < count_) {
      const size_t here = next_;
      Read(&more_start, &more_end);
      if (more_start != *end + 1) {
        next_ = here;
        break;
      }
      *end = more_end;
    }
    return true;
  }

 private:
  void Read(uint32_t* start, uint32_t* end) {
    const ByteView payload = container_->payload;
    if (container_->kind == ContainerKind::kRun) {
      *start = At(payload, 1 + 2 * next_);
      *end = *start + At(payload, 2 + 2 * next_);
    } else {
      *start = *end = At(payload, next_);
    }
    ++next_;
  }

  const Container* container_;
  size_t next_ = 0;
  size_t count_ = 0;
};

}  // namespace

bool ReadContainer(ContainerKind kind, uint32_t cardinality, ByteView bytes, Container* container) {
  *container = {.kind = kind, .cardinality = 0, .payload = {}};
  switch (kind) {
    case ContainerKind::kRun:
      return ReadRuns(bytes, container);
    case ContainerKind::kBitmap:
      return ReadBitmap(cardinality, bytes, container);
    case ContainerKind::kArray:
      break;
  }
  return ReadArray(cardinality, bytes, container);
}

Container ContainerUnion::Append(const Container& a, const Container* b, MutableBuffer* out) {
  const auto is = [&](ContainerKind kind) { return a.kind == kind || (b != nullptr && b->kind == kind); };
  Container made;
  uint32_t runs = 0;
  if (const bool in_bitmap = is(ContainerKind::kBitmap); in_bitmap) {
    UniteInBitmap(a, b);
    uint64_t carry = 0;
    for (const uint64_t word : words_) {
      made.cardinality += static_cast<uint32_t>(std::popcount(word));
      runs += static_cast<uint32_t>(std::popcount(word & ~(word << 1 | carry)));
      carry = word >> 63;
    }
    if (made.cardinality > kArrayCardinalityMax && runs > kRunsInBitmapMax) {
      made.kind = ContainerKind::kBitmap;
      AppendBitmap(out);
      return made;
    }
    RunsFromBitmap();
  } else {
    UniteInRuns(a, b);
    runs = static_cast<uint32_t>(runs_.size());
    for (const Run& run : runs_) made.cardinality += run.end - run.start + 1;
  }
  // Java makes an array a run container where 2 + 4 * runs < 2 * cardinality, but leaves a run container one where 2 + 4 * runs <= 2 + 2 *
  // cardinality: so what it was counts.
  const bool fits_runs = is(ContainerKind::kRun) ? 2 * runs <= made.cardinality : 2 * runs + 1 < made.cardinality;
  if (made.cardinality > kArrayCardinalityMax ? runs <= kRunsInBitmapMax : fits_runs) {
    made.kind = ContainerKind::kRun;
    AppendRuns(out);
  } else if (made.cardinality <= kArrayCardinalityMax) {
    made.kind = ContainerKind::kArray;
    AppendArray(made.cardinality, out);
  } else {
    made.kind = ContainerKind::kBitmap;
    words_.fill(0);
    for (const Run& run : runs_) SetRange(run.start, run.end);
    AppendBitmap(out);
  }
  return made;
}

void ContainerUnion::UniteInRuns(const Container& a, const Container* b) {
  runs_.clear();
  RunCursor cursors[2] = {RunCursor(&a), RunCursor(b)};
  Run heads[2];
  bool has[2];
  for (size_t i = 0; i < 2; ++i) has[i] = cursors[i].Next(&heads[i].start, &heads[i].end);
  while (has[0] || has[1]) {
    const size_t take = !has[1] || (has[0] && heads[0].start <= heads[1].start) ? 0 : 1;
    const Run run = heads[take];
    has[take] = cursors[take].Next(&heads[take].start, &heads[take].end);
    if (!runs_.empty() && run.start <= runs_.back().end + 1) {
      runs_.back().end = std::max(runs_.back().end, run.end);
    } else {
      runs_.push_back(run);
    }
  }
}

void ContainerUnion::UniteInBitmap(const Container& a, const Container* b) {
  words_.fill(0);
  AddToBitmap(a);
  if (b != nullptr) AddToBitmap(*b);
}

void ContainerUnion::AddToBitmap(const Container& container) {
  if (container.kind == ContainerKind::kBitmap) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= LoadLe<uint64_t>(container.payload.data() + 8 * i);
    return;
  }
  RunCursor cursor(&container);
  for (Run run{}; cursor.Next(&run.start, &run.end);) SetRange(run.start, run.end);
}

void ContainerUnion::SetRange(uint32_t start, uint32_t end) {
  const uint64_t from_start = ~uint64_t{0} << (start % 64);
  const uint64_t to_end = ~uint64_t{0} >> (63 - end % 64);
  const size_t first = start / 64;
  const size_t last = end / 64;
  if (first == last) {
    words_[first] |= from_start & to_end;
    return;
  }
  words_[first] |= from_start;
  for (size_t i = first + 1; i < last; ++i) words_[i] = ~uint64_t{0};
  words_[last] |= to_end;
}

void ContainerUnion::RunsFromBitmap() {
  runs_.clear();
  for (uint32_t i = 0; i < words_.size(); ++i) {
    for (uint64_t word = words_[i]; word != 0;) {
      const auto low = static_cast<uint32_t>(std::countr_zero(word));
      const auto length = static_cast<uint32_t>(std::countr_one(word >> low));
      const Run run = {.start = 64 * i + low, .end = 64 * i + low + length - 1};
      if (!runs_.empty() && runs_.back().end + 1 == run.start) {
        runs_.back().end = run.end;
      } else {
        runs_.push_back(run);
      }
      word = low + length == 64 ? 0 : word & ~uint64_t{0} << (low + length);
    }
  }
}

void ContainerUnion::AppendRuns(MutableBuffer* out) const {
  uint8_t* to = out->Extend(2 + 4 * runs_.size());
  StoreLe(to, static_cast<uint16_t>(runs_.size()));
  to += 2;
  for (const Run& run : runs_) {
    StoreLe(to, static_cast<uint16_t>(run.start));
    StoreLe(to + 2, static_cast<uint16_t>(run.end - run.start));
    to += 4;
  }
}

void ContainerUnion::AppendArray(uint32_t cardinality, MutableBuffer* out) const {
  uint8_t* to = out->Extend(2 * size_t{cardinality});
  for (const Run& run : runs_) {
    for (uint32_t value = run.start; value <= run.end; ++value, to += 2) StoreLe(to, static_cast<uint16_t>(value));
  }
}

void ContainerUnion::AppendBitmap(MutableBuffer* out) {
  std::memcpy(out->Extend(kBitmapSize), words_.data(), kBitmapSize);
}

}  // namespace strom::kv
