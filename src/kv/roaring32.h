#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/roaring_container.h"

namespace strom::kv {

/// Serialized 32-bit Roaring bitmaps, in the standard portable format (spec/formats.md 13.5). All little-endian.
///
/// | part         | bytes |
/// |--------------|-------|
/// | cookie       | u32 12346 and u32 container count; with run containers: u16 12347, u16 container count - 1, a bit for each container, set for runs |
/// | descriptors  | for each container u16 high bits, ascending, and u16 cardinality - 1 |
/// | offsets      | u32 each, from the image's start; left out with run containers and fewer than 4 containers |
/// | containers   | payloads (roaring_container.h); those without a run bit are arrays up to 4096 values, else bitmaps |
struct Roaring32Entry {
  uint16_t key = 0;  // the high 16 bits of its values
  Container container;
};

/// Decodes foreign bytes into containers by ascending key, which are views into them. kCorruptRecord says what is wrong. `which` is for the error.
Status ReadRoaring32(std::string_view which, ByteView bytes, std::vector<Roaring32Entry>* entries);

/// The union of two such bitmaps. Keeps its scratch memory between calls.
class Roaring32Union {
 public:
  /// Appends the union, run-optimised. kCorruptRecord where one of the two, which are foreign bytes, is no such image; `out` is then as it was.
  Status Unite(ByteView accumulator, ByteView input, MutableBuffer* out);

 private:
  void UniteContainers();
  void Write(MutableBuffer* out) const;

  std::vector<Roaring32Entry> accumulator_;
  std::vector<Roaring32Entry> input_;
  std::vector<Roaring32Entry> united_;  // without payload views: payloads_ has them one after the other
  std::vector<size_t> sizes_;           // of the payloads
  MutableBuffer payloads_;
  ContainerUnion containers_;
};

}  // namespace strom::kv
