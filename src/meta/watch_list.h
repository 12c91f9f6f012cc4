#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "meta/meta_store.h"
#include "meta/tree_change.h"

namespace strom::meta {

/// Who wants to hear of which changes. One shard only.
class WatchList {
 public:
  uint64_t Add(std::string path, MetaStore::Watcher watcher) {
    watches_.emplace(++last_id_, Watch{std::move(path), std::move(watcher)});
    return last_id_;
  }
  void Remove(uint64_t id) { watches_.erase(id); }

  /// A watcher may add and remove watches, its own too.
  void Notify(const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      for (auto at = watches_.begin(); at != watches_.end();) {
        const uint64_t id = at->first;
        if (IsAtOrBelow(change.path, at->second.path)) {
          MetaStore::Watcher watcher = at->second.watcher;
          watcher(change);
        }
        at = watches_.upper_bound(id);
      }
    }
  }

 private:
  struct Watch {
    std::string path;
    MetaStore::Watcher watcher;
  };
  uint64_t last_id_ = 0;
  std::map<uint64_t, Watch> watches_;
};

}  // namespace strom::meta
