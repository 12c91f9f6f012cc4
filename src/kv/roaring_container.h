#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace strom::kv {

/// What Roaring bitmaps keep the low 16 bits of their values in (spec/formats.md 13.5). Both bitmap formats have the same three kinds with the same
/// payloads, all little-endian.
///
/// | kind   | payload |
/// |--------|---------|
/// | run    | u16 count, then for each run u16 start, u16 length - 1 |
/// | bitmap | 8192 bytes, bit b of value b |
/// | array  | u16 values, ascending |
enum class ContainerKind : uint8_t { kRun = 0, kBitmap = 1, kArray = 2 };

inline constexpr uint32_t kArrayCardinalityMax = 4096;
inline constexpr size_t kBitmapSize = 8192;

/// A container in an image. A view.
struct Container {
  ContainerKind kind = ContainerKind::kArray;
  uint32_t cardinality = 0;  // 1 to 65536
  ByteView payload;
};

/// Reads a container at the start of `bytes`, which are foreign: nothing unless all of it is there, its values ascend, its runs do not overlap, and it
/// has `cardinality` values; those of a run container are counted, whatever the image says. At least one value.
bool ReadContainer(ContainerKind kind, uint32_t cardinality, ByteView bytes, Container* container);

/// Unites containers of the same high bits. Keeps its scratch memory.
class ContainerUnion {
 public:
  /// Appends the payload of a and b together (b may be null), in the form that Java's run optimisation leaves; of the result only kind and
  /// cardinality are set.
  Container Append(const Container& a, const Container* b, MutableBuffer* out);

 private:
  struct Run {
    uint32_t start;
    uint32_t end;  // inclusive
  };

  void UniteInRuns(const Container& a, const Container* b);
  void UniteInBitmap(const Container& a, const Container* b);
  void AddToBitmap(const Container& container);
  void SetRange(uint32_t start, uint32_t end);
  void RunsFromBitmap();
  void AppendRuns(MutableBuffer* out) const;
  void AppendArray(uint32_t cardinality, MutableBuffer* out) const;
  void AppendBitmap(MutableBuffer* out);

  std::vector<Run> runs_;
  std::array<uint64_t, kBitmapSize / 8> words_{};
};

}  // namespace strom::kv
