#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/result.h"

namespace strom::meta {

/// RocksDB's files, with fewer syncs. Included by rocks_tree.cc and embedded_store.cc only: it is heavy.
///
/// - Files that nobody reads (OPTIONS-*, IDENTITY) are not written or not synced.
/// - In a *new* store nothing can be lost before the first commit, so its files are written without syncs (a dozen, each some
///   milliseconds), until SyncDeferred() makes up for them all at once, before the first commit is answered. As long as the mark
///   `NEW` lies in the directory, this has not happened, and after a crash the directory is made afresh.
class LeanFiles final : public rocksdb::FileSystemWrapper {
 public:
  LeanFiles(bool is_new, std::string directory)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), directory_(std::move(directory)), deferring_(is_new) {}

  const char* Name() const override { return "LeanFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

  /// Makes the directory ready for a start: made when it is missing, emptied when no commit was ever answered from it. True: it is new.
  static Result<bool> Prepare(const std::string& directory);

  /// Syncs what has been deferred, and defers nothing more. Cheap when nothing has.
  Status SyncDeferred();

  /// True when the sync of `path` is put off. For the files.
  bool Defer(const std::string& path);

 private:
  const std::string directory_;
  std::mutex mutex_;
  bool deferring_;
  std::set<std::string> deferred_;
};

}  // namespace strom::meta
