#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ids.h"
#include "rt/file.h"

namespace strom::log {

/// The open files of a shard's logs, within a budget of descriptors: a file is opened when it is first used and closed again when others were
/// used later. Whoever holds a shared file (a reader's slice, a sync plan) keeps it open beyond that. Used by one thread.
class FileCache {
 public:
  /// The place of one file. Knows whether it is open; the file's name is its owner's.
  class Slot {
   public:
    Slot() = default;
    ~Slot() { Close(); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    bool is_open() const { return file_ != nullptr; }
    /// The open file, for slices and sync plans.
    const std::shared_ptr<rt::File>& file() const { return file_; }
    /// True when somebody besides the cache holds the file.
    bool is_shared() const { return file_ != nullptr && file_.use_count() > 1; }
    void Close();
    /// Close, and forget readers that still hold the file: its name is another file's now.
    void Forget() {
      Close();
      last_.reset();
    }

   private:
    friend class FileCache;
    FileCache* cache_ = nullptr;  // set while open
    std::shared_ptr<rt::File> file_;
    std::weak_ptr<rt::File> last_;  // so that one path is never open twice at once
    Slot* newer_ = nullptr;
    Slot* older_ = nullptr;
  };

  FileCache(rt::FileSystem* files, size_t open_files_max) : files_(files), open_files_max_(open_files_max) {}
  ~FileCache();
  FileCache(const FileCache&) = delete;
  FileCache& operator=(const FileCache&) = delete;

  /// The file of `slot`, opened for writing under `<directory>/<base><suffix>` if it is not open yet; kNotFound unless `create`. The pointer is
  /// good until the next call.
  Result<rt::File*> Open(Slot& slot, const std::string& directory, LogOffset base, std::string_view suffix, bool create = false);

  rt::FileSystem& files() { return *files_; }
  size_t open_count() const { return open_count_; }
  size_t open_files_max() const { return open_files_max_; }

 private:
  void PushNewest(Slot& slot);
  void Unlink(Slot& slot);

  rt::FileSystem* files_;
  const size_t open_files_max_;
  size_t open_count_ = 0;
  Slot* newest_ = nullptr;
  Slot* oldest_ = nullptr;
};

}  // namespace strom::log
