#include "meta/memory_store.h"

#include "rt/sync.h"

namespace strom::meta {

rt::Task<Status> MemoryStore::Commit(Transaction transaction) {
  if (!failure_.ok() && commits_before_failure_-- <= 0) co_return failure_;
  TreeChange change(this);
  Status applied = change.Apply(transaction, sequence_ + 1);
  if (!applied.ok()) co_return applied;
  ++sequence_;
  for (const auto& [path, node] : change.nodes()) {
    if (node) {
      nodes_[path] = *node;
    } else {
      nodes_.erase(path);
    }
  }
  // As with a disk, the answer comes later than the call.
  co_await rt::Yield();
  watches_.Notify(change.changes());
  co_return Status::OK();
}

rt::Task<Result<std::optional<Node>>> MemoryStore::Get(std::string path) { co_return Read(path); }

rt::Task<Result<std::vector<std::string>>> MemoryStore::Children(std::string path) {
  const std::string prefix = path == "/" ? path : path + "/";
  std::vector<std::string> names;
  for (auto at = nodes_.lower_bound(prefix); at != nodes_.end() && at->first.starts_with(prefix); ++at) {
    std::string name = at->first.substr(prefix.size());
    if (name.find('/') == std::string::npos) names.push_back(std::move(name));
  }
  co_return names;
}

rt::Task<Result<std::vector<NodeEntry>>> MemoryStore::Scan(std::string path) {
  std::vector<NodeEntry> entries;
  for (const auto& [each, node] : nodes_) {
    if (IsAtOrBelow(each, path)) entries.push_back({each, node});
  }
  co_return entries;
}

rt::Task<Status> MemoryStore::Close() {
  std::erase_if(nodes_, [](const auto& entry) { return entry.second.ephemeral; });
  co_return Status::OK();
}

Result<std::optional<Node>> MemoryStore::Read(const std::string& path) {
  auto found = nodes_.find(path);
  if (found == nodes_.end()) return std::optional<Node>();
  return std::optional<Node>(found->second);
}

Result<std::vector<std::string>> MemoryStore::PathsBelow(const std::string& path, size_t limit) {
  const std::string prefix = path + "/";
  std::vector<std::string> paths;
  for (auto at = nodes_.lower_bound(prefix); at != nodes_.end() && at->first.starts_with(prefix); ++at) {
    if (paths.size() == limit) break;
    paths.push_back(at->first);
  }
  return paths;
}

}  // namespace strom::meta
