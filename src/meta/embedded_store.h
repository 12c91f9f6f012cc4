#pragma once

#include <memory>
#include <string>

#include "meta/meta_store.h"

namespace strom::meta {

struct EmbeddedStoreOptions {
  std::string directory;  // made when it is missing; its parent must be there
  /// Nothing says that the last process ended well and the machine was started again since: an unfinished write at the very end of the
  /// write-ahead log is then cut. Else it is damage, and refused.
  bool power_may_have_failed = true;
};

/// The metadata of a single node in one small RocksDB: `D/meta`. A commit is one synced write of its write-ahead log; commits that come
/// in while one is being written share the next one.
///
/// Opening checks every block. A damaged directory is refused with kCorruptData and the file's name, and nothing in it is changed.
///
/// Keys: 'n' + path -> node record, 'e' + path -> "" (ephemeral nodes, removed when the store is opened again), "mformat", "msequence".
class EmbeddedStore : public MetaStore {
 public:
  /// Blocks for some milliseconds. The caller keeps other processes away from the directory. Afterwards the store belongs to the shard that uses it.
  static Result<std::unique_ptr<EmbeddedStore>> Open(EmbeddedStoreOptions options);
};

}  // namespace strom::meta
