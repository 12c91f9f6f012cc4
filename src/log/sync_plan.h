#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "rt/file.h"

namespace strom::log {

/// What makes a log durable up to `target`: files to fdatasync and directories whose names must last. A value that travels to a blocking thread
/// and back; it holds its files open.
class SyncPlan {
 public:
  LogOffset target() const { return target_; }
  bool empty() const { return prepared_.ok() && files_.empty() && paths_.empty() && directories_.empty(); }
  /// Blocks. Files first, then directories. Thread safe against the log's own work. The first error ends it.
  Status Run() const;

 private:
  friend class Log;
  rt::FileSystem* file_system_ = nullptr;
  std::vector<std::shared_ptr<rt::File>> files_;
  std::vector<std::string> paths_;        // files that are opened for it
  std::vector<std::string> directories_;
  LogOffset target_;
  Status prepared_;             // why it could not be made
  uint64_t truncations_ = 0;    // of the log when it was made
  uint64_t names_version_ = 0;  // likewise
};

}  // namespace strom::log
