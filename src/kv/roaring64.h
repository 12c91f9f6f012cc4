#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/roaring_container.h"

namespace strom::kv {

/// One container of a 64-bit bitmap.
struct Roaring64Entry {
  uint64_t key = 0;   // the high 48 bits of its values
  uint32_t slot = 0;  // where the image keeps it; slots are given out in the order in which containers were made
  Container container;
};

/// A decoded image: what the tree says, without the tree.
struct Roaring64Image {
  std::vector<Roaring64Entry> entries;  // by key, ascending
  uint32_t capacity = 0;                // slots, some of which may be empty
  uint32_t next_slot = 0;               // above all that were ever used
};

/// Decodes foreign bytes into `image`; the containers are views into them. kCorruptRecord names the place. `which` is for the error.
Status ReadRoaring64(std::string_view which, ByteView bytes, Roaring64Image* image);

/// The union of serialized 64-bit Roaring bitmaps as Java's Roaring64Bitmap has them: an adaptive radix tree over the high 48 bits
/// (spec/formats.md 13.5), not the portable 64-bit format. The bytes are those that Java would make of images that never had a removal. Keeps its
/// scratch memory between calls.
class Roaring64Union {
 public:
  /// Appends the union, run-optimised. kCorruptRecord where one of the two is no such image; `out` is then as it was.
  Status Unite(ByteView accumulator, ByteView input, MutableBuffer* out);

 private:
  struct Pair {
    uint64_t key;
    uint32_t slot;
    const Container* first;
    const Container* second;  // maybe null
  };

  void Match();
  void WriteNode(size_t begin, size_t end, size_t depth, MutableBuffer* out);
  void WriteContainers(MutableBuffer* out);

  Roaring64Image accumulator_;
  Roaring64Image input_;
  std::vector<Pair> pairs_;  // by key, ascending
  uint32_t capacity_ = 0;
  uint32_t next_slot_ = 0;
  std::vector<const Pair*> by_slot_;
  ContainerUnion containers_;
};

}  // namespace strom::kv
