#include "meta/lean_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/log.h"
#include "rt/file.h"

namespace strom::meta {
namespace {

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class LeanFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LeanFile(std::unique_ptr<rocksdb::FSWritableFile> file, LeanFiles* files, std::string path)
      : FSWritableFileOwnerWrapper(std::move(file)), files_(files), path_(std::move(path)) {}

  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    return files_->Defer(path_) ? Flush(options, debug) : FSWritableFileOwnerWrapper::Sync(options, debug);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    return files_->Defer(path_) ? Flush(options, debug) : FSWritableFileOwnerWrapper::Fsync(options, debug);
  }

 private:
  LeanFiles* files_;
  const std::string path_;
};

class LeanDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  LeanDirectory(std::unique_ptr<rocksdb::FSDirectory> directory, LeanFiles* files, std::string path)
      : FSDirectoryWrapper(std::move(directory)), files_(files), path_(std::move(path)) {}

  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    return files_->Defer(path_) ? rocksdb::IOStatus::OK() : FSDirectoryWrapper::Fsync(options, debug);
  }
  rocksdb::IOStatus FsyncWithDirOptions(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug,
                                        const rocksdb::DirFsyncOptions& dir_options) override {
    // The rename of IDENTITY needs no sync of its own.
    const bool is_idle = dir_options.reason == rocksdb::DirFsyncOptions::FsyncReason::kFileRenamed &&
                         BaseName(dir_options.renamed_new_name) == "IDENTITY";
    if (is_idle || files_->Defer(path_)) return rocksdb::IOStatus::OK();
    return FSDirectoryWrapper::FsyncWithDirOptions(options, debug, dir_options);
  }

 private:
  LeanFiles* files_;
  const std::string path_;
};

Error Failed(const std::string& path) {
  const int error = errno;
  return MakeError(error == ENOSPC ? ErrorCode::kNoSpace : ErrorCode::kIoError, "sync of {}: {}", path, std::strerror(error));
}

/// Syncs files; one flush of the file system's journal serves most of them, since all writes are started before the first is waited for.
Status SyncAll(const std::set<std::string>& paths) {
  std::vector<std::pair<std::string, int>> open_files;
  Status status;
  for (const std::string& path : paths) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      status = Failed(path);
      break;
    }
    open_files.emplace_back(path, descriptor);
    (void)::sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);  // a hint; the sync below says whether it went well
  }
  for (const auto& [path, descriptor] : open_files) {
    if (status.ok() && ::fsync(descriptor) != 0) status = Failed(path);
    ::close(descriptor);
  }
  return status;
}

std::string MarkPath(const std::string& directory) { return directory + "/NEW"; }

}  // namespace

rocksdb::IOStatus LeanFiles::NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* result, rocksdb::IODebugContext* debug) {
  // Writing, reading and comparing them costs more than all the rest of an open. RocksDB goes on without them.
  if (BaseName(path).starts_with("OPTIONS-")) return rocksdb::IOStatus::NotSupported("no options file is kept");
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::IOStatus made = FileSystemWrapper::NewWritableFile(path, options, &file, debug);
  if (made.ok()) *result = std::make_unique<LeanFile>(std::move(file), this, path);
  return made;
}

rocksdb::IOStatus LeanFiles::NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                          std::unique_ptr<rocksdb::FSDirectory>* result, rocksdb::IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSDirectory> directory;
  rocksdb::IOStatus made = FileSystemWrapper::NewDirectory(path, options, &directory, debug);
  if (made.ok()) *result = std::make_unique<LeanDirectory>(std::move(directory), this, path);
  return made;
}

rocksdb::IOStatus LeanFiles::RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                                        rocksdb::IODebugContext* debug) {
  {
    std::lock_guard lock(mutex_);
    if (deferred_.erase(from) > 0 && BaseName(to) != "IDENTITY") deferred_.insert(to);
  }
  return FileSystemWrapper::RenameFile(from, to, options, debug);
}

rocksdb::IOStatus LeanFiles::DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                                        rocksdb::IODebugContext* debug) {
  {
    std::lock_guard lock(mutex_);
    deferred_.erase(path);
  }
  return FileSystemWrapper::DeleteFile(path, options, debug);
}

bool LeanFiles::Defer(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (deferring_) deferred_.insert(path);
  return deferring_;
}

Status LeanFiles::SyncDeferred() {
  std::set<std::string> paths;
  {
    std::lock_guard lock(mutex_);
    if (!deferring_) return Status::OK();
    deferring_ = false;
    paths = std::move(deferred_);
  }
  paths.erase(directory_);
  STROM_TRY(SyncAll(paths));
  // Now the files can be trusted. The mark is gone for good before anything is answered, else a power loss could bring it back, and
  // with it the order to start afresh.
  rt::FileSystem& files = rt::SystemFiles();
  STROM_TRY(files.Remove(MarkPath(directory_)));
  STROM_TRY(files.SyncDirectory(directory_));
  return files.SyncDirectory(directory_.substr(0, directory_.rfind('/')));
}

Result<bool> LeanFiles::Prepare(const std::string& directory) {
  rt::FileSystem& files = rt::SystemFiles();
  STROM_TRY(files.CreateDirectories(directory));
  STROM_ASSIGN(const bool is_marked, files.Exists(MarkPath(directory)));
  if (is_marked) {
    STROM_LOG_INFO("metadata store: {} was not finished when it was made, and is made afresh", directory);
    STROM_TRY(files.RemoveTree(directory));
    STROM_TRY(files.CreateDirectories(directory));
  }
  STROM_ASSIGN(const std::vector<rt::DirectoryEntry> entries, files.List(directory));
  if (!entries.empty()) return false;
  // Made before everything else in the directory, so no crash leaves a file of the store without it.
  STROM_TRY(files.Open(MarkPath(directory), {.write = true, .create = true}));
  return true;
}

}  // namespace strom::meta
