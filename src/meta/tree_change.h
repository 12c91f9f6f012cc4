#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "meta/meta_store.h"

namespace strom::meta {

/// Where transactions read the tree as it was committed last.
class NodeReader {
 public:
  virtual ~NodeReader() = default;
  virtual Result<std::optional<Node>> Read(const std::string& path) = 0;
  /// Paths strictly below `path`, at most `limit`.
  virtual Result<std::vector<std::string>> PathsBelow(const std::string& path, size_t limit) = 0;
};

/// The effect of transactions on a tree, not written yet: the rules of Transaction, once for all stores. Several transactions can be
/// applied one after the other; each sees those before it, and one that fails leaves no trace.
class TreeChange {
 public:
  explicit TreeChange(NodeReader* base) : base_(base) {}

  /// `sequence`: the number of this transaction.
  Status Apply(const Transaction& transaction, int64_t sequence);

  /// What the touched nodes become; nothing: deleted.
  const std::map<std::string, std::optional<Node>>& nodes() const { return nodes_; }
  /// For watchers, in order.
  const std::vector<Change>& changes() const { return changes_; }

 private:
  using Nodes = std::map<std::string, std::optional<Node>>;

  /// Reads what many operations will look at in the order of the paths, which is the order on the disk.
  Status ReadAhead(const Transaction& transaction);
  Status ApplyOp(const Transaction::Op& op, int64_t sequence);
  Status Create(const Transaction::Op& op, int64_t sequence);
  Status CreateParents(const std::string& path, int64_t sequence);
  Status DeleteTree(const std::string& path);
  Result<std::optional<Node>> Read(const std::string& path);
  Result<std::vector<std::string>> PathsBelow(const std::string& path);
  /// The node, when it is there in the version that the operation expects.
  Result<Node> Expect(const Transaction::Op& op);
  void Write(Change::Kind kind, const std::string& path, std::optional<Node> node, std::string data);

  NodeReader* base_;
  Nodes committed_;  // what `base_` has answered
  Nodes nodes_;
  std::vector<Change> changes_;
  // Of the transaction that is being applied.
  Nodes pending_;
  std::vector<Change> pending_changes_;
};

/// True for `root` itself and everything below it.
bool IsAtOrBelow(std::string_view path, std::string_view root);
/// "/a" of "/a/b"; "/" of "/a".
std::string_view ParentPath(std::string_view path);

}  // namespace strom::meta
