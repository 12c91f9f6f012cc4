#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The nodes of a serialized 64-bit Roaring bitmap (spec/formats.md 13.5).
///
/// | part   | bytes |
/// |--------|-------|
/// | head   | i8 type, u16 child count (0 in a leaf), i8 prefix length, prefix |
/// | body   | by type, below; then the children in ascending order of their key bytes |
namespace strom::kv {

enum class Roaring64Node : uint8_t {
  kNode4 = 0,    // 4 key bytes, unused 0, reversed
  kNode16 = 1,   // 16 key bytes, unused 0, each group of 8 reversed
  kNode48 = 2,   // for each key byte a slot number, FF = none, each group of 8 reversed
  kNode256 = 3,  // a bit for each key byte
  kLeaf = 4,     // 6 key bytes, i64 container slot
};

inline constexpr size_t kRoaring64KeySize = 6;
inline constexpr size_t kRoaring64NodeHeadSize = 4;
/// By Roaring64Node; a leaf has no children.
inline constexpr std::array<size_t, 5> kRoaring64ChildrenMax = {4, 16, 48, 256, 0};
inline constexpr std::array<size_t, 5> kRoaring64BodySize = {4, 16, 256, 32, kRoaring64KeySize + 8};
inline constexpr uint8_t kRoaring64NoChild = 0xFF;

/// Where byte `index` of a row of bytes stands that is stored in groups of `group`, each reversed.
constexpr size_t ReversedInGroups(size_t index, size_t group) {
  return index / group * group + (group - 1 - index % group);
}

/// Byte `index` of a key, the most significant first.
constexpr uint8_t Roaring64KeyByte(uint64_t key, size_t index) {
  return static_cast<uint8_t>(key >> (8 * (kRoaring64KeySize - 1 - index)));
}

}  // namespace strom::kv
