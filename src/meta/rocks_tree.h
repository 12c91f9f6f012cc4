#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "meta/meta_store.h"
#include "meta/tree_change.h"

namespace strom::meta {

/// The tree in RocksDB, for blocking threads: thread safe reads, one writer at a time. The only file of the room that knows RocksDB
/// is its .cc.
class RocksTree : public NodeReader {
 public:
  /// What is known of the directory: empty but for the mark (LeanFiles), checked by its seal, or not checked.
  enum class OpenAs : uint8_t { kNew, kChecked, kUnchecked };
  /// Opens or makes the database and removes ephemeral nodes of an earlier process. What is not checked yet is read as a whole first.
  static Result<std::unique_ptr<RocksTree>> Open(const std::string& directory, OpenAs as);

  /// Writes and syncs what `change` says, with the number of its last transaction. After an error the tree refuses all writes:
  /// what is on the disk is then not known.
  virtual Status Write(const TreeChange& change, int64_t sequence) = 0;
  virtual Result<std::vector<std::string>> Children(const std::string& path) = 0;
  virtual Result<std::vector<NodeEntry>> Scan(const std::string& path) = 0;
  /// Number of the last transaction.
  virtual int64_t sequence() const = 0;
  /// Leaves nothing in the write-ahead log, where damage is harder to tell from an unfinished write, and closes the database.
  virtual Status Close() = 0;
};

}  // namespace strom::meta
