#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace strom::server {

/// The data directory `D` of one server (design.md 2), locked by this process as long as the object lives.
///
/// | name       | content |
/// |------------|---------|
/// | `STROM`    | the stamp: lines `format <version>` and `server <id>`; a newer format is refused |
/// | `LOCK`     | the owner's pid; locked with flock |
/// | `boot-id`  | the machine's boot id at the last start |
/// | `meta/`    | the embedded metadata store |
/// | `tablet/`  | logs, in the reference's layout only |
/// | `kv/`      | KV stores |
/// | `remote/`  | default of remote.data.dir |
class DataDirectory {
 public:
  /// Makes what is missing. kInvalidConfig with a sentence when another process owns it, when a newer version wrote it, when it belongs to another
  /// server id, or when the stamp is damaged.
  static Result<std::unique_ptr<DataDirectory>> Open(const std::string& path, int32_t server_id);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  /// Absolute.
  const std::string& path() const { return path_; }
  std::string meta_path() const { return path_ + "/meta"; }
  std::string tablet_path() const { return path_ + "/tablet"; }
  std::string remote_path() const { return path_ + "/remote"; }
  /// The machine was started again since the last start of the server (or nobody knows): writes that were not synced may be lost. Else at most
  /// the process has died.
  bool power_may_have_failed() const { return power_may_have_failed_; }

 private:
  DataDirectory(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}
  Status CheckStamp(int32_t server_id);
  Status NoteBoot();

  std::string path_;
  int lock_fd_ = -1;
  bool power_may_have_failed_ = true;
};

/// Where the logs are when `path` is the data directory of a server (it has a stamp); else `path` itself.
std::string LogsBelow(const std::string& path);

/// Locks `<directory>/<name>` for this process and writes the pid into it; the descriptor holds the lock. kInvalidConfig names the owner's pid
/// when it is taken.
Result<int> LockDirectory(const std::string& directory, const std::string& name);

}  // namespace strom::server
