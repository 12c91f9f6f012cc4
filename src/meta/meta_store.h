#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rt/task.h"

namespace strom::meta {

/// A node of the tree. Versions count from 0 at its creation and grow by one with each change of its data.
struct Node {
  std::string data;
  int32_t version = 0;
  int64_t created_at = 0;  // number of the transaction that made the node: grows over the whole store, never used twice
  bool ephemeral = false;
};

struct NodeEntry {
  std::string path;
  Node node;
};

/// Several changes that happen together or not at all. A plain value.
class Transaction {
 public:
  enum class Kind : uint8_t { kCreate, kSet, kPut, kDelete, kDeleteTree, kCheck };
  struct Op {
    Kind kind = Kind::kCheck;
    std::string path;
    std::string data;
    std::optional<int32_t> version;  // expected; nothing: any
    bool ephemeral = false;
  };

  /// Makes a node and, where they are missing, its parents (persistent, empty). kAlreadyExists when it is there.
  Transaction& Create(std::string path, std::string data, bool ephemeral = false) {
    return Add({Kind::kCreate, std::move(path), std::move(data), {}, ephemeral});
  }
  /// kNotFound when it is missing, kVersionConflict when its version is another.
  Transaction& Set(std::string path, std::string data, std::optional<int32_t> version = {}) {
    return Add({Kind::kSet, std::move(path), std::move(data), version, false});
  }
  /// Create or Set, whichever fits.
  Transaction& Put(std::string path, std::string data) { return Add({Kind::kPut, std::move(path), std::move(data), {}, false}); }
  /// kNotFound when it is missing; kVersionConflict when its version is another or it has children.
  Transaction& Delete(std::string path, std::optional<int32_t> version = {}) {
    return Add({Kind::kDelete, std::move(path), {}, version, false});
  }
  /// The node and everything below it. Nothing there is fine.
  Transaction& DeleteTree(std::string path) { return Add({Kind::kDeleteTree, std::move(path), {}, {}, false}); }
  /// Fails like Set, and changes nothing.
  Transaction& Check(std::string path, int32_t version) { return Add({Kind::kCheck, std::move(path), {}, version, false}); }

  bool empty() const { return ops_.empty(); }
  const std::vector<Op>& ops() const { return ops_; }
  /// Appends the operations of `other`.
  Transaction& Append(Transaction other);

 private:
  Transaction& Add(Op op) {
    ops_.push_back(std::move(op));
    return *this;
  }
  std::vector<Op> ops_;
};

/// A change that has been committed.
struct Change {
  enum class Kind : uint8_t { kCreated, kChanged, kDeleted } kind = Kind::kCreated;
  std::string path;
  std::string data;  // the new one; of a deleted node the last one
};

/// The cluster's metadata: a tree of small nodes with versions. Paths and JSON are those of the ZooKeeper layout (spec/server.md 1.2), below
/// its root prefix: "/metadata/databases/db". One shard uses a store; reads see every commit that was answered before.
///
/// Errors besides those of Transaction: kIoError and kCorruptData of the disk below, after which no commit succeeds any more.
class MetaStore {
 public:
  using Watcher = std::function<void(const Change&)>;

  virtual ~MetaStore() = default;

  /// Durable when it answers, but for ephemeral nodes, which end with the process anyway. Commits that are under way at the same time share one sync; they take effect in the order of the calls.
  virtual rt::Task<Status> Commit(Transaction transaction) = 0;
  /// Nothing for a node that is not there.
  virtual rt::Task<Result<std::optional<Node>>> Get(std::string path) = 0;
  /// Names of the direct children, sorted; empty when there is no such node.
  virtual rt::Task<Result<std::vector<std::string>>> Children(std::string path) = 0;
  /// The node and all below it, sorted by path, as of one moment. "/" is everything.
  virtual rt::Task<Result<std::vector<NodeEntry>>> Scan(std::string path) = 0;
  /// Ends ephemeral nodes and closes what is open.
  virtual rt::Task<Status> Close() = 0;

  /// True when nobody else can write as long as this store is open: what was read is still so.
  virtual bool is_exclusive() const = 0;

  /// Calls `watcher` for each change at `path` or below, after its commit and in commit order, on the store's shard. Returns a
  /// number for Unwatch().
  virtual uint64_t Watch(std::string path, Watcher watcher) = 0;
  virtual void Unwatch(uint64_t id) = 0;
};

/// Adds `delta` to the counter at `path` (8 bytes big-endian; absent: 0) and returns its value before. Never the same twice
/// (spec/server.md 1.4). Retries lost races a bounded number of times.
rt::Task<Result<int64_t>> AddToCounter(MetaStore* store, std::string path, int64_t delta);
std::string EncodeCounter(int64_t value);
Result<int64_t> DecodeCounter(std::string_view data);

/// "/a/b" of nonempty names without NUL; the error says what is wrong.
Status ValidatePath(std::string_view path);

}  // namespace strom::meta
