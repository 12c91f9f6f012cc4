#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "rt/time.h"

namespace strom::rt {

/// An open file. Reads and writes go through the page cache and are called on the shard; Sync() may block for long and is
/// called through rt::Blocking(). Errors: kIoError, kNoSpace; the message names the path and the position.
class File {
 public:
  virtual ~File() = default;

  /// Reads up to `into.size()` bytes at `position`; fewer only at the end of the file.
  virtual Result<size_t> ReadAt(uint64_t position, std::span<uint8_t> into) const = 0;
  /// Writes all pieces one after the other at `position` (one pwritev where the system allows). On an error nothing may be
  /// assumed of the bytes from `position` on.
  virtual Status WriteAt(uint64_t position, std::span<const ByteView> pieces) = 0;
  virtual Result<uint64_t> Size() const = 0;
  virtual Status Truncate(uint64_t size) = 0;
  /// fdatasync. Thread safe against the other members. A failed one is final: the file is not to be trusted any more.
  virtual Status Sync() = 0;
  /// The descriptor for sendfile, or -1 where there is none (simulation).
  virtual int descriptor() const = 0;
  virtual const std::string& path() const = 0;
};

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
};

struct DiskUsage {
  uint64_t total_bytes = 0;
  uint64_t available_bytes = 0;
};

/// The disk, as rooms see it: the system's (rt/epoll) or a simulated one that can crash (sim/). Members are thread safe.
class FileSystem {
 public:
  struct OpenOptions {
    bool write = false;
    bool create = false;     // make it when it is missing
    bool exclusive = false;  // with create: fail with kAlreadyExists when it is there
  };

  virtual ~FileSystem() = default;
  /// kNotFound when it is missing.
  virtual Result<std::shared_ptr<File>> Open(const std::string& path, OpenOptions options) = 0;
  virtual Status CreateDirectories(const std::string& path) = 0;
  /// Sorted by name. kNotFound when the directory is missing.
  virtual Result<std::vector<DirectoryEntry>> List(const std::string& path) = 0;
  virtual Result<bool> Exists(const std::string& path) = 0;
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  virtual Status RemoveTree(const std::string& path) = 0;
  /// Makes names in `path` durable.
  virtual Status SyncDirectory(const std::string& path) = 0;
  virtual Result<DiskUsage> Usage(const std::string& path) = 0;

  // Built from the above.
  Result<Buffer> ReadAll(const std::string& path);
  /// Writes `<path>.tmp`, syncs it, renames it over `path` and syncs the directory: after a crash there is the old content or the new.
  Status ReplaceFile(const std::string& path, ByteView content);
};

/// The system's disk.
FileSystem& SystemFiles();

}  // namespace strom::rt
