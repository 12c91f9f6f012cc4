#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/bytes.h"

/// Serialized Roaring bitmaps for tests, made the plain way.
namespace strom::kv::testing {

/// Arrays and bitmaps only, as a client writes that does not run-optimise.
Buffer Roaring32Image(const std::set<uint32_t>& values);
/// The values of an image, ascending; aborts where it is none.
std::vector<uint64_t> Roaring32Values(ByteView image);

/// A bitmap with one container: `low` of `key`.
Buffer Roaring64Leaf(uint64_t key, const std::set<uint16_t>& low);
/// The bitmap that comes of adding the values in that order.
Buffer Roaring64Image(const std::vector<uint64_t>& values);
std::vector<uint64_t> Roaring64Values(ByteView image);

}  // namespace strom::kv::testing
