#include "kv/roaring64.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/endian.h"
#include "kv/roaring64_tree.h"

namespace strom::kv {

namespace {

Roaring64Node NodeFor(size_t children) {
  constexpr Roaring64Node kNodes[] = {Roaring64Node::kNode4, Roaring64Node::kNode16, Roaring64Node::kNode48,
                                      Roaring64Node::kNode256};
  for (const Roaring64Node node : kNodes) {
    if (children <= kRoaring64ChildrenMax[static_cast<size_t>(node)]) return node;
  }
  STROM_ASSERT(false, "a node with {} children", children);
  return Roaring64Node::kNode256;
}

/// A child of a node under construction: its pairs, and how early it came.
struct Child {
  uint8_t byte;
  size_t begin;
  size_t end;
  uint32_t first_slot;  // the least slot below it: a node's child is made together with its first leaf
};

/// At most one for each byte: on the stack, so that a tree of any shape costs no allocation.
struct Children {
  size_t count = 0;
  std::array<Child, 256> items;
};

/// The slot numbers of a node with 17 to 48 children: the 16 that were there when it grew, in key order, then the later ones as they came.
void PutNode48(const Children& children, uint8_t* body) {
  std::array<uint8_t, 48> by_age;
  for (size_t i = 0; i < children.count; ++i) by_age[i] = static_cast<uint8_t>(i);
  std::sort(by_age.begin(), by_age.begin() + static_cast<std::ptrdiff_t>(children.count),
            [&](uint8_t a, uint8_t b) { return children.items[a].first_slot < children.items[b].first_slot; });
  std::sort(by_age.begin(), by_age.begin() + 16);
  std::memset(body, kRoaring64NoChild, 256);
  for (size_t i = 0; i < children.count; ++i)
    body[ReversedInGroups(children.items[by_age[i]].byte, 8)] = static_cast<uint8_t>(i);
}

void PutBody(Roaring64Node node, const Children& children, uint8_t* body) {
  std::memset(body, 0, kRoaring64BodySize[static_cast<size_t>(node)]);
  switch (node) {
    case Roaring64Node::kNode4:
      for (size_t i = 0; i < children.count; ++i) body[ReversedInGroups(i, 4)] = children.items[i].byte;
      break;
    case Roaring64Node::kNode16:
      for (size_t i = 0; i < children.count; ++i) body[ReversedInGroups(i, 8)] = children.items[i].byte;
      break;
    case Roaring64Node::kNode48:
      PutNode48(children, body);
      break;
    default:
      for (size_t i = 0; i < children.count; ++i) {
        body[children.items[i].byte / 8] |= static_cast<uint8_t>(1 << (children.items[i].byte % 8));
      }
  }
}

void AppendHead(Roaring64Node node, size_t children, size_t prefix_size, MutableBuffer* out) {
  uint8_t* head = out->Extend(kRoaring64NodeHeadSize);
  head[0] = static_cast<uint8_t>(node);
  StoreLe(head + 1, static_cast<uint16_t>(children));
  head[3] = static_cast<uint8_t>(prefix_size);
}

}  // namespace

Status Roaring64Union::Unite(ByteView accumulator, ByteView input, MutableBuffer* out) {
  STROM_TRY(ReadRoaring64("stored value", accumulator, &accumulator_));
  STROM_TRY(ReadRoaring64("written value", input, &input_));
  Match();
  if (pairs_.empty()) {
    out->AppendByte(0);
    return Status::OK();
  }
  out->AppendByte(1);
  StoreLe(out->Extend(8), static_cast<int64_t>(pairs_.size()));
  WriteNode(0, pairs_.size(), 0, out);
  WriteContainers(out);
  return Status::OK();
}

void Roaring64Union::Match() {
  pairs_.clear();
  capacity_ = accumulator_.capacity;
  next_slot_ = accumulator_.next_slot;
  auto a = accumulator_.entries.begin();
  auto b = input_.entries.begin();
  while (a != accumulator_.entries.end() || b != input_.entries.end()) {
    const bool has_a = a != accumulator_.entries.end() && (b == input_.entries.end() || a->key <= b->key);
    const bool has_b = b != input_.entries.end() && (a == accumulator_.entries.end() || b->key <= a->key);
    if (has_a) {
      pairs_.push_back(
          {.key = a->key, .slot = a->slot, .first = &a->container, .second = has_b ? &b->container : nullptr});
    } else {
      pairs_.push_back({.key = b->key, .slot = next_slot_++, .first = &b->container, .second = nullptr});
      if (next_slot_ > capacity_) capacity_ = std::max(capacity_ + capacity_ / 2, next_slot_);
    }
    if (has_a) ++a;
    if (has_b) ++b;
  }
}

void Roaring64Union::WriteNode(size_t begin, size_t end, size_t depth, MutableBuffer* out) {
  if (end - begin == 1) {
    AppendHead(Roaring64Node::kLeaf, 0, 0, out);
    for (size_t i = 0; i < kRoaring64KeySize; ++i) out->AppendByte(Roaring64KeyByte(pairs_[begin].key, i));
    StoreLe(out->Extend(8), static_cast<int64_t>(pairs_[begin].slot));
    return;
  }
  // The keys ascend, so what the first and the last share, all share. They differ: the first difference is within the 48 bits.
  const uint64_t difference = pairs_[begin].key ^ pairs_[end - 1].key;
  const size_t branch = (static_cast<size_t>(std::countl_zero(difference)) - 16) / 8;
  Children children;
  for (size_t i = begin; i < end; ++i) {
    const uint8_t byte = Roaring64KeyByte(pairs_[i].key, branch);
    if (children.count == 0 || children.items[children.count - 1].byte != byte) {
      children.items[children.count++] = {.byte = byte, .begin = i, .end = i + 1, .first_slot = pairs_[i].slot};
    } else {
      Child& child = children.items[children.count - 1];
      child.end = i + 1;
      child.first_slot = std::min(child.first_slot, pairs_[i].slot);
    }
  }
  const Roaring64Node node = NodeFor(children.count);
  AppendHead(node, children.count, branch - depth, out);
  for (size_t i = depth; i < branch; ++i) out->AppendByte(Roaring64KeyByte(pairs_[begin].key, i));
  PutBody(node, children, out->Extend(kRoaring64BodySize[static_cast<size_t>(node)]));
  for (size_t i = 0; i < children.count; ++i)
    WriteNode(children.items[i].begin, children.items[i].end, branch + 1, out);
}

void Roaring64Union::WriteContainers(MutableBuffer* out) {
  by_slot_.assign(capacity_, nullptr);
  for (const Pair& pair : pairs_) by_slot_[pair.slot] = &pair;
  StoreLe(out->Extend(4), int32_t{1});
  out->AppendByte(static_cast<uint8_t>(int8_t{-2}));
  StoreLe(out->Extend(4), static_cast<int32_t>(capacity_));
  for (const Pair* pair : by_slot_) {
    out->AppendByte(pair == nullptr ? 0 : 1);
    if (pair == nullptr) continue;
    const size_t head = out->size();
    out->Extend(5);
    const Container made = containers_.Append(*pair->first, pair->second, out);
    out->data()[head] = static_cast<uint8_t>(made.kind);
    StoreLe(out->data() + head + 1, made.cardinality);
  }
  StoreLe(out->Extend(8), static_cast<int64_t>(pairs_.size()));
  StoreLe(out->Extend(4), int32_t{0});
  StoreLe(out->Extend(4), static_cast<int32_t>(next_slot_ - 1));
}

}  // namespace strom::kv
