#pragma once

// The binary `strom` as a child process, with what it prints.

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "rt/file.h"

namespace strom::cli::testing {

/// What a child that has ended left: `status` is its exit status, 128 + signal when a signal ended it.
struct Ended {
  int status = -1;
  std::string out;
  std::string err;
};

/// One child; the destructor kills it if it still runs.
class StromProcess {
 public:
  /// Runs the binary that was built beside the test program.
  explicit StromProcess(const std::vector<std::string>& arguments) {
    int out[2];
    EXPECT_EQ(pipe(out), 0);
    out_ = out[0];
    err_ = std::tmpfile();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(err_), STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    const std::string binary = Binary();
    std::vector<char*> argv{const_cast<char*>(binary.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, binary.c_str(), &actions, nullptr, argv.data(), environ), 0) << binary;
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
  }
  ~StromProcess() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      Wait();
    }
    close(out_);
    std::fclose(err_);
  }
  StromProcess(const StromProcess&) = delete;
  StromProcess& operator=(const StromProcess&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const { kill(pid_, signal); }

  /// The next line on standard output, without its end; empty when the child closes it first or says nothing for a minute.
  std::string ReadLine() {
    while (true) {
      const size_t end = pending_.find('\n');
      if (end != std::string::npos) {
        std::string line = pending_.substr(0, end);
        pending_.erase(0, end + 1);
        return line;
      }
      if (!ReadMore()) return "";
    }
  }

  Ended Wait() {
    while (ReadMore()) {
    }
    int state = 0;
    waitpid(pid_, &state, 0);
    pid_ = -1;
    Ended ended{WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state), pending_, ""};
    std::rewind(err_);
    char bytes[4096];
    for (size_t got = 0; (got = std::fread(bytes, 1, sizeof(bytes), err_)) > 0;) ended.err.append(bytes, got);
    return ended;
  }

 private:
  static std::string Binary() {
    char self[PATH_MAX];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof(self));
    const std::string path(self, size > 0 ? static_cast<size_t>(size) : 0);
    return path.substr(0, path.rfind('/')) + "/strom";
  }
  bool ReadMore() {
    constexpr int kMinuteMs = 60'000;
    pollfd ready{out_, POLLIN, 0};
    if (poll(&ready, 1, kMinuteMs) <= 0) {
      ADD_FAILURE() << "strom (process " << pid_ << ") said nothing for a minute";
      kill(pid_, SIGKILL);
      return false;
    }
    char bytes[4096];
    const ssize_t got = read(out_, bytes, sizeof(bytes));
    if (got <= 0) return false;
    pending_.append(bytes, static_cast<size_t>(got));
    return true;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  std::FILE* err_ = nullptr;
  std::string pending_;
};

inline Ended RunStrom(const std::vector<std::string>& arguments) { return StromProcess(arguments).Wait(); }

/// A folder of its own, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = ::testing::TempDir() + "strom-cli-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() { EXPECT_TRUE(rt::SystemFiles().RemoveTree(path_).ok()); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  void Write(const std::string& name, std::string_view content) const {
    EXPECT_TRUE(rt::SystemFiles().ReplaceFile(Path(name), AsBytes(content)).ok()) << name;
  }
  std::string Read(const std::string& name) const {
    const Result<Buffer> content = rt::SystemFiles().ReadAll(Path(name));
    EXPECT_TRUE(content.ok()) << content.ToString();
    return content.ok() ? std::string(content->text()) : "";
  }

 private:
  std::string path_;
};

}  // namespace strom::cli::testing
