#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace strom::bench {

/// A fresh directory below the system's temporary one, removed with all it holds.
class ScratchDirectory {
 public:
  static Result<std::unique_ptr<ScratchDirectory>> Make();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

/// A server that this program started. It is told to stop (SIGTERM), waited for ten seconds, and killed.
class ServerProcess {
 public:
  /// `command`: program and arguments, split at spaces; {dir} in it becomes `directory`. What it prints goes to DIRECTORY/server.log.
  static Result<std::unique_ptr<ServerProcess>> Start(std::string_view command, const std::string& directory);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// An error once it has ended: then whoever answers at its port is another server.
  Status CheckRunning();
  /// Kills it (SIGKILL), as a crash of the process does, and waits for its end.
  void Kill();

 private:
  explicit ServerProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_;  // 0 once it has ended
};

}  // namespace strom::bench
