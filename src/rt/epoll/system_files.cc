#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "rt/epoll/system_error.h"
#include "rt/file.h"
#include "rt/runtime.h"

namespace strom::rt {

namespace {

Error FileError(const char* verb, const std::string& path, int error) {
  return MakeError(FileErrorCode(error), "cannot {} {}: {}", verb, path, SystemErrorText(error));
}

Error FileErrorAt(const char* verb, const std::string& path, uint64_t position, int error) {
  return MakeError(FileErrorCode(error), "cannot {} {} at position {}: {}", verb, path, position, SystemErrorText(error));
}

/// Goes through views piece by piece, as vectors for pwritev.
class PieceCursor {
 public:
  explicit PieceCursor(std::span<const ByteView> pieces) : pieces_(pieces) {}

  /// The next up to `count` non-empty vectors; 0 at the end.
  int Fill(iovec* vectors, int count) const {
    int filled = 0;
    size_t offset = offset_;
    for (size_t i = index_; i < pieces_.size() && filled < count; ++i, offset = 0) {
      if (pieces_[i].size() == offset) continue;
      vectors[filled].iov_base = const_cast<uint8_t*>(pieces_[i].data() + offset);
      vectors[filled].iov_len = pieces_[i].size() - offset;
      ++filled;
    }
    return filled;
  }
  void Skip(size_t bytes) {
    while (bytes > 0) {
      const size_t step = std::min(bytes, pieces_[index_].size() - offset_);
      offset_ += step;
      bytes -= step;
      if (offset_ == pieces_[index_].size()) {
        ++index_;
        offset_ = 0;
      }
    }
  }

 private:
  std::span<const ByteView> pieces_;
  size_t index_ = 0;
  size_t offset_ = 0;  // in the piece at index_
};

class SystemFile final : public File {
 public:
  SystemFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~SystemFile() override { ::close(descriptor_); }

  Result<size_t> ReadAt(uint64_t position, std::span<uint8_t> into) const override {
    size_t done = 0;
    while (done < into.size()) {
      const ssize_t count =
          ::pread(descriptor_, into.data() + done, into.size() - done, static_cast<off_t>(position + done));
      ++Counters().file_read_calls;
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return FileErrorAt("read", path_, position + done, errno);
      if (count == 0) break;
      done += static_cast<size_t>(count);
    }
    Counters().file_bytes_read += done;
    return done;
  }

  Status WriteAt(uint64_t position, std::span<const ByteView> pieces) override {
    PieceCursor cursor(pieces);
    iovec vectors[IOV_MAX];
    while (const int filled = cursor.Fill(vectors, IOV_MAX)) {
      const ssize_t count = ::pwritev(descriptor_, vectors, filled, static_cast<off_t>(position));
      ++Counters().file_write_calls;
      if (count < 0 && errno == EINTR) continue;
      // A write of nothing without an error would be tried for ever.
      if (count <= 0) return FileErrorAt("write", path_, position, count < 0 ? errno : EIO);
      Counters().file_bytes_written += static_cast<uint64_t>(count);
      cursor.Skip(static_cast<size_t>(count));
      position += static_cast<uint64_t>(count);
    }
    return {};
  }

  Result<uint64_t> Size() const override {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) return FileError("stat", path_, errno);
    return static_cast<uint64_t>(status.st_size);
  }

  Status Truncate(uint64_t size) override {
    while (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
      if (errno != EINTR) return FileErrorAt("truncate", path_, size, errno);
    }
    return {};
  }

  Status Sync() override {
    // After a failure the kernel may have dropped the dirty pages and report success the next time: never believe that.
    if (sync_failed_.load(std::memory_order_acquire)) {
      return MakeError(ErrorCode::kIoError, "cannot sync {}: an earlier sync of it failed", path_);
    }
    while (::fdatasync(descriptor_) != 0) {
      const int error = errno;
      if (error == EINTR) continue;
      sync_failed_.store(true, std::memory_order_release);
      return FileError("sync", path_, error);
    }
    return {};
  }

  int descriptor() const override { return descriptor_; }
  const std::string& path() const override { return path_; }

 private:
  const int descriptor_;
  const std::string path_;
  std::atomic<bool> sync_failed_ = false;
};

class SystemFileSystem final : public FileSystem {
 public:
  Result<std::shared_ptr<File>> Open(const std::string& path, OpenOptions options) override {
    int flags = O_CLOEXEC | (options.write ? O_RDWR : O_RDONLY);
    if (options.create) flags |= O_CREAT | (options.exclusive ? O_EXCL : 0);
    STROM_ASSIGN(const int descriptor, OpenDescriptor(path, flags));
    return std::shared_ptr<File>(std::make_shared<SystemFile>(descriptor, path));
  }

  Status CreateDirectories(const std::string& path) override {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) return FileError("create the directory", path, error.value());
    return {};
  }

  Result<std::vector<DirectoryEntry>> List(const std::string& path) override {
    std::error_code error;
    std::filesystem::directory_iterator entry(path, error);
    std::vector<DirectoryEntry> entries;
    while (!error && entry != std::filesystem::directory_iterator()) {
      // An entry that vanishes meanwhile is a plain name: whoever opens it learns that it is gone.
      std::error_code ignored;
      entries.push_back({entry->path().filename().string(), entry->is_directory(ignored)});
      entry.increment(error);
    }
    if (error) return FileError("list", path, error.value());
    std::sort(entries.begin(), entries.end(),
              [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
    return entries;
  }

  Result<bool> Exists(const std::string& path) override {
    struct stat status;
    if (::stat(path.c_str(), &status) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return FileError("stat", path, errno);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
    const int error = errno;
    return MakeError(FileErrorCode(error), "cannot rename {} to {}: {}", from, to, SystemErrorText(error));
  }

  Status Remove(const std::string& path) override {
    if (::remove(path.c_str()) == 0) return {};
    return FileError("remove", path, errno);
  }

  Status RemoveTree(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) return FileError("remove the tree", path, error.value());
    return {};
  }

  Status SyncDirectory(const std::string& path) override {
    STROM_ASSIGN(const int descriptor, OpenDescriptor(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int error = 0;
    while (::fsync(descriptor) != 0) {
      error = errno;
      if (error != EINTR) break;
      error = 0;
    }
    ::close(descriptor);
    if (error != 0) return FileError("sync the directory", path, error);
    return {};
  }

  Result<DiskUsage> Usage(const std::string& path) override {
    struct statvfs usage;
    if (::statvfs(path.c_str(), &usage) != 0) return FileError("ask for the free space of", path, errno);
    return DiskUsage{.total_bytes = usage.f_blocks * usage.f_frsize, .available_bytes = usage.f_bavail * usage.f_frsize};
  }

 private:
  static Result<int> OpenDescriptor(const std::string& path, int flags) {
    for (;;) {
      const int descriptor = ::open(path.c_str(), flags, 0644);
      if (descriptor >= 0) return descriptor;
      if (errno != EINTR) return FileError("open", path, errno);
    }
  }
};

}  // namespace

FileSystem& SystemFiles() {
  static SystemFileSystem files;
  return files;
}

}  // namespace strom::rt
