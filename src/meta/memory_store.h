#pragma once

#include <map>
#include <string>

#include "meta/meta_store.h"
#include "meta/tree_change.h"
#include "meta/watch_list.h"

namespace strom::meta {

/// A store without a disk, for tests and simulation: what a commit wrote stays as long as the object.
class MemoryStore final : public MetaStore, private NodeReader {
 public:
  rt::Task<Status> Commit(Transaction transaction) override;
  rt::Task<Result<std::optional<Node>>> Get(std::string path) override;
  rt::Task<Result<std::vector<std::string>>> Children(std::string path) override;
  rt::Task<Result<std::vector<NodeEntry>>> Scan(std::string path) override;
  rt::Task<Status> Close() override;
  bool is_exclusive() const override { return is_exclusive_; }
  uint64_t Watch(std::string path, Watcher watcher) override { return watches_.Add(std::move(path), std::move(watcher)); }
  void Unwatch(uint64_t id) override { watches_.Remove(id); }

  /// The next commits fail with this and change nothing, until it is set to OK again: for tests of error handling.
  void FailCommits(Status error) { failure_ = std::move(error); }
  /// Lets `count` commits pass before FailCommits() counts.
  void FailCommitsAfter(int count, Status error) {
    commits_before_failure_ = count;
    failure_ = std::move(error);
  }
  /// As if other processes used it, too.
  void SetShared() { is_exclusive_ = false; }
  int64_t commit_count() const { return sequence_; }

 private:
  Result<std::optional<Node>> Read(const std::string& path) override;
  Result<std::vector<std::string>> PathsBelow(const std::string& path, size_t limit) override;

  std::map<std::string, Node> nodes_;
  int64_t sequence_ = 0;
  WatchList watches_;
  Status failure_;
  int commits_before_failure_ = 0;
  bool is_exclusive_ = true;
};

}  // namespace strom::meta
