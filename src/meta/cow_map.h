#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace strom::meta {

/// An immutable hash map whose changed copies share what did not change: a copy is one pointer, a change copies two nodes of 64
/// pointers and one leaf. So a catalog of 5,000 tables is replaced in a few microseconds. Values should be small (ids,
/// shared_ptr). Iteration has no order. Readers of other threads may hold old copies.
template <typename K, typename V>
class CowMap {
 public:
  /// The value of `key`, or null; lives as long as some copy of this version of the map.
  const V* Find(const K& key) const {
    const Leaf* leaf = FindLeaf(Hash(key));
    if (leaf == nullptr) return nullptr;
    for (const auto& [candidate, value] : *leaf) {
      if (candidate == key) return &value;
    }
    return nullptr;
  }

  void Set(const K& key, V value) {
    std::shared_ptr<Leaf> leaf = ChangeLeaf(Hash(key));
    for (auto& [candidate, old] : *leaf) {
      if (candidate == key) {
        old = std::move(value);
        return;
      }
    }
    leaf->emplace_back(key, std::move(value));
    ++size_;
  }

  /// Whether it was there.
  bool Erase(const K& key) {
    if (Find(key) == nullptr) return false;
    std::erase_if(*ChangeLeaf(Hash(key)), [&key](const auto& entry) { return entry.first == key; });
    --size_;
    return true;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  template <typename F>
  void ForEach(F&& function) const {
    if (root_ == nullptr) return;
    for (const auto& node : *root_) {
      if (node == nullptr) continue;
      for (const auto& leaf : *node) {
        if (leaf == nullptr) continue;
        for (const auto& [key, value] : *leaf) function(key, value);
      }
    }
  }

 private:
  static constexpr size_t kFanOut = 64;
  using Leaf = std::vector<std::pair<K, V>>;
  using Node = std::array<std::shared_ptr<const Leaf>, kFanOut>;
  using Root = std::array<std::shared_ptr<const Node>, kFanOut>;

  static size_t Hash(const K& key) {
    // Ids hash to themselves and come one after the other: spread them over both levels.
    size_t h = std::hash<K>()(key) * 0x9E3779B97F4A7C15ULL;
    return h ^ (h >> 32);
  }
  const Leaf* FindLeaf(size_t hash) const {
    if (root_ == nullptr) return nullptr;
    const Node* node = (*root_)[hash % kFanOut].get();
    return node == nullptr ? nullptr : (*node)[hash / kFanOut % kFanOut].get();
  }
  /// The leaf of `hash` in nodes of our own.
  std::shared_ptr<Leaf> ChangeLeaf(size_t hash) {
    auto root = root_ == nullptr ? std::make_shared<Root>() : std::make_shared<Root>(*root_);
    std::shared_ptr<const Node>& node_slot = (*root)[hash % kFanOut];
    auto node = node_slot == nullptr ? std::make_shared<Node>() : std::make_shared<Node>(*node_slot);
    std::shared_ptr<const Leaf>& leaf_slot = (*node)[hash / kFanOut % kFanOut];
    auto leaf = leaf_slot == nullptr ? std::make_shared<Leaf>() : std::make_shared<Leaf>(*leaf_slot);
    leaf_slot = leaf;
    node_slot = std::move(node);
    root_ = std::move(root);
    return leaf;
  }

  std::shared_ptr<const Root> root_;
  size_t size_ = 0;
};

}  // namespace strom::meta
