#include <algorithm>

#include "base/endian.h"
#include "kv/roaring64.h"
#include "kv/roaring64_tree.h"

namespace strom::kv {

namespace {

/// Reads one image from its start to its end. A step returns false, and leaves the reason, where the bytes cannot be right. What it remembers and how
/// deep it goes is bounded by the bytes.
class Reader {
 public:
  Reader(ByteView bytes, Roaring64Image* image) : bytes_(bytes), image_(image) {}

  bool Read() {
    image_->entries.clear();
    image_->capacity = image_->next_slot = 0;
    uint8_t marker = 0;
    if (!Number(&marker)) return false;
    if (marker == 0) return AtEnd();
    if (marker != 1) return Fail("it does not start with 0 or 1");
    int64_t count = 0;
    if (!Number(&count)) return false;
    if (!ReadNode(0, 0)) return false;
    if (count != static_cast<int64_t>(image_->entries.size()))
      return Fail("its tree has another count of containers than its head says");
    return ReadSlots() && ReadTrailer() && AtEnd();
  }

  size_t position() const { return position_; }
  std::string_view reason() const { return reason_; }

 private:
  bool Fail(std::string_view reason) {
    reason_ = reason;
    return false;
  }

  bool Take(size_t size, const uint8_t** from) {
    if (bytes_.size() - position_ < size) return Fail("it ends too early");
    *from = bytes_.data() + position_;
    position_ += size;
    return true;
  }

  template <typename T>
  bool Number(T* number) {
    const uint8_t* from = nullptr;
    if (!Take(sizeof(T), &from)) return false;
    *number = LoadLe<T>(from);
    return true;
  }

  bool AtEnd() { return position_ == bytes_.size() || Fail("more bytes follow its end"); }

  /// `key` has the first `depth` bytes of the keys below, as its lowest bytes.
  bool ReadNode(uint64_t key, size_t depth) {
    const uint8_t* head = nullptr;
    if (!Take(kRoaring64NodeHeadSize, &head)) return false;
    if (head[0] > static_cast<uint8_t>(Roaring64Node::kLeaf)) return Fail("it has a node of an unknown type");
    const auto node = static_cast<Roaring64Node>(head[0]);
    const size_t children = LoadLe<uint16_t>(head + 1);
    const size_t prefix_size = head[3];
    // A branch needs one more byte of the key for its children. A leaf has a prefix where a removal took the branch above it away.
    const bool is_leaf = node == Roaring64Node::kLeaf;
    if (prefix_size + depth > kRoaring64KeySize - (is_leaf ? 0 : 1)) return Fail("a node's prefix is too long");
    if (is_leaf ? children != 0 : children == 0 || children > kRoaring64ChildrenMax[head[0]])
      return Fail("a node has a wrong count of children");
    const uint8_t* prefix = nullptr;
    if (!Take(prefix_size, &prefix)) return false;
    for (size_t i = 0; i < prefix_size; ++i) key = key << 8 | prefix[i];
    const uint8_t* body = nullptr;
    if (!Take(kRoaring64BodySize[head[0]], &body)) return false;
    depth += prefix_size;
    return is_leaf ? ReadLeaf(body, key, depth) : ReadChildren(node, body, children, key, depth);
  }

  bool ReadChildren(Roaring64Node node, const uint8_t* body, size_t children, uint64_t key, size_t depth) {
    if (node == Roaring64Node::kNode4 || node == Roaring64Node::kNode16) {
      const size_t group = node == Roaring64Node::kNode4 ? 4 : 8;
      for (size_t i = 0; i < children; ++i) {
        const uint8_t byte = body[ReversedInGroups(i, group)];
        if (i > 0 && byte <= body[ReversedInGroups(i - 1, group)]) return Fail("the key bytes of a node do not ascend");
        if (!ReadNode(key << 8 | byte, depth + 1)) return false;
      }
      return true;
    }
    size_t found = 0;
    for (size_t byte = 0; byte < 256; ++byte) {
      if (node == Roaring64Node::kNode48) {
        const uint8_t slot = body[ReversedInGroups(byte, 8)];
        if (slot == kRoaring64NoChild) continue;
        if (slot >= kRoaring64ChildrenMax[static_cast<size_t>(node)])
          return Fail("a node has a wrong slot for a child");
      } else if ((body[byte / 8] >> (byte % 8) & 1) == 0) {
        continue;
      }
      ++found;
      if (!ReadNode(key << 8 | byte, depth + 1)) return false;
    }
    return found == children || Fail("a node has a wrong count of children");
  }

  bool ReadLeaf(const uint8_t* body, uint64_t key, size_t depth) {
    Roaring64Entry entry;
    for (size_t i = 0; i < kRoaring64KeySize; ++i) entry.key = entry.key << 8 | body[i];
    if (entry.key >> (8 * (kRoaring64KeySize - depth)) != key) return Fail("a leaf hangs in the wrong place");
    const auto slot = LoadLe<int64_t>(body + kRoaring64KeySize);
    if (slot < 0 || slot > INT32_MAX) return Fail("a leaf has no container");
    entry.slot = static_cast<uint32_t>(slot);
    image_->entries.push_back(entry);
    return true;
  }

  bool ReadSlots() {
    int32_t arrays = 0;
    int8_t mark = 0;
    int32_t capacity = 0;
    if (!Number(&arrays) || !Number(&mark) || !Number(&capacity)) return false;
    if (arrays != 1 || mark != -2) return Fail("it has more than one array of containers");
    // Each slot takes at least a byte.
    if (capacity < 0 || static_cast<size_t>(capacity) > bytes_.size() - position_) return Fail("it ends too early");
    image_->capacity = static_cast<uint32_t>(capacity);
    // By slot for the while: then each is met once, in the order of the bytes.
    std::vector<Roaring64Entry>& entries = image_->entries;
    const auto by_slot = [](const Roaring64Entry& a, const Roaring64Entry& b) { return a.slot < b.slot; };
    const auto by_key = [](const Roaring64Entry& a, const Roaring64Entry& b) { return a.key < b.key; };
    if (!std::is_sorted(entries.begin(), entries.end(), by_slot)) std::sort(entries.begin(), entries.end(), by_slot);
    size_t next = 0;
    for (uint32_t slot = 0; slot < image_->capacity; ++slot) {
      uint8_t is_used = 0;
      if (!Number(&is_used)) return false;
      if (is_used > 1) return Fail("a slot starts neither with 0 nor with 1");
      const bool has_leaf = next < entries.size() && entries[next].slot == slot;
      if (has_leaf != (is_used == 1)) return Fail("its leaves and its containers do not match");
      if (!has_leaf) continue;
      if (!ReadSlot(&entries[next++])) return false;
    }
    if (next != entries.size()) return Fail("its leaves and its containers do not match");
    if (!std::is_sorted(entries.begin(), entries.end(), by_key)) std::sort(entries.begin(), entries.end(), by_key);
    return true;
  }

  bool ReadSlot(Roaring64Entry* entry) {
    uint8_t kind = 0;
    int32_t cardinality = 0;
    if (!Number(&kind) || !Number(&cardinality)) return false;
    if (kind > static_cast<uint8_t>(ContainerKind::kArray)) return Fail("it has a container of an unknown kind");
    if (!ReadContainer(static_cast<ContainerKind>(kind), static_cast<uint32_t>(cardinality), bytes_.subspan(position_),
                       &entry->container)) {
      return Fail("a container is cut or out of order");
    }
    position_ += entry->container.payload.size();
    return true;
  }

  bool ReadTrailer() {
    int64_t count = 0;
    int32_t last_array = 0;
    int32_t last_slot = 0;
    if (!Number(&count) || !Number(&last_array) || !Number(&last_slot)) return false;
    uint32_t least = 0;
    for (const Roaring64Entry& entry : image_->entries) least = std::max(least, entry.slot);
    const bool fits = last_slot >= 0 && static_cast<uint32_t>(last_slot) >= least &&
                      static_cast<uint32_t>(last_slot) < image_->capacity;
    if (count != static_cast<int64_t>(image_->entries.size()) || last_array != 0 || !fits)
      return Fail("its trailer does not fit its containers");
    image_->next_slot = static_cast<uint32_t>(last_slot) + 1;
    return true;
  }

  ByteView bytes_;
  Roaring64Image* image_;
  size_t position_ = 0;
  std::string_view reason_;
};

}  // namespace

Status ReadRoaring64(std::string_view which, ByteView bytes, Roaring64Image* image) {
  Reader reader(bytes, image);
  if (reader.Read()) return Status::OK();
  return MakeError(ErrorCode::kCorruptRecord, "the {} of {} bytes is no 64-bit Roaring bitmap: {}, near byte {}", which,
                   bytes.size(), reader.reason(), reader.position());
}

}  // namespace strom::kv
