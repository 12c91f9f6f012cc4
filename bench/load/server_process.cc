#include "load/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

namespace strom::bench {

Result<std::unique_ptr<ScratchDirectory>> ScratchDirectory::Make() {
  std::error_code failed;
  std::string path = (std::filesystem::temp_directory_path(failed) / "strom-bench-XXXXXX").string();
  if (failed || ::mkdtemp(path.data()) == nullptr) {
    return MakeError(ErrorCode::kUnknownServerError, "no directory {}: {}", path, std::strerror(errno));
  }
  return std::unique_ptr<ScratchDirectory>(new ScratchDirectory(path));
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<std::unique_ptr<ServerProcess>> ServerProcess::Start(std::string_view command, const std::string& directory) {
  std::istringstream split{std::string(command)};
  std::vector<std::string> words;
  for (std::string word; split >> word;) {
    const size_t at = word.find("{dir}");
    if (at != std::string::npos) word.replace(at, 5, directory);
    words.push_back(std::move(word));
  }
  if (words.empty()) return MakeError(ErrorCode::kInvalidConfig, "the command that starts the server is empty");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string log = directory + "/server.log";
  const pid_t child = ::fork();
  if (child < 0) return MakeError(ErrorCode::kUnknownServerError, "fork: {}", std::strerror(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(to, STDOUT_FILENO);
    ::dup2(to, STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  return std::unique_ptr<ServerProcess>(new ServerProcess(child));
}

Status ServerProcess::CheckRunning() {
  if (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) return Status::OK();
  pid_ = 0;
  return MakeError(ErrorCode::kUnknownServerError, "the server that was started has ended; is its port taken by another one?");
}

void ServerProcess::Kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

ServerProcess::~ServerProcess() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGTERM);
  for (int hundredths = 0; hundredths < 1000; ++hundredths) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) return;
    ::usleep(10'000);
  }
  Kill();
}

}  // namespace strom::bench
