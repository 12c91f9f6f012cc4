#include "server/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "rt/file.h"

namespace strom::server {

namespace {

constexpr int64_t kFormatVersion = 1;

Error SystemError(std::string_view what, const std::string& path) {
  return MakeError(ErrorCode::kIoError, "{} {}: {}", what, path, std::strerror(errno));
}

std::string ReadSmallFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char bytes[256];
  const ssize_t size = read(fd, bytes, sizeof(bytes));
  close(fd);
  std::string text(bytes, size > 0 ? static_cast<size_t>(size) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

/// The number in the line "<name> <number>" of the stamp.
std::optional<int64_t> FindNumber(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ') {
      const std::string_view digits = line.substr(name.size() + 1);
      int64_t value = 0;
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size()) return value;
      return std::nullopt;
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace

Result<int> LockDirectory(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return SystemError("cannot open", path);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    close(fd);
    if (reason != EWOULDBLOCK) {
      return MakeError(ErrorCode::kIoError, "cannot lock {}: {}", path, std::strerror(reason));
    }
    const std::string owner = ReadSmallFile(path);
    return MakeError(ErrorCode::kInvalidConfig,
                     "{} is in use by another server{}: stop that one first, or give this one a directory of its own",
                     directory, owner.empty() ? "" : " (process " + owner + ")");
  }
  return fd;
}

Result<std::unique_ptr<DataDirectory>> DataDirectory::Open(const std::string& path, int32_t server_id) {
  std::error_code problem;
  const std::filesystem::path absolute = std::filesystem::absolute(path, problem).lexically_normal();
  if (problem) return MakeError(ErrorCode::kInvalidConfig, "{} is no path: {}", path, problem.message());
  std::string directory = absolute.string();
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  STROM_TRY(rt::SystemFiles().CreateDirectories(directory));
  STROM_ASSIGN(const int lock_fd, LockDirectory(directory, "LOCK"));
  std::unique_ptr<DataDirectory> opened(new DataDirectory(directory, lock_fd));
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(lock_fd, 0) != 0 || pwrite(lock_fd, pid.data(), pid.size(), 0) < 0) {
    return SystemError("cannot write", directory + "/LOCK");
  }
  STROM_TRY(opened->CheckStamp(server_id));
  STROM_TRY(opened->NoteBoot());
  return opened;
}

DataDirectory::~DataDirectory() {
  if (lock_fd_ >= 0) close(lock_fd_);
}

Status DataDirectory::CheckStamp(int32_t server_id) {
  const std::string path = path_ + "/STROM";
  STROM_ASSIGN(const bool stamped, rt::SystemFiles().Exists(path));
  if (!stamped) {
    const std::string stamp = fmt::format("format {}\nserver {}\n", kFormatVersion, server_id);
    return rt::SystemFiles().ReplaceFile(path, AsBytes(stamp));
  }
  STROM_ASSIGN(const Buffer stamp, rt::SystemFiles().ReadAll(path));
  const auto format = FindNumber(stamp.text(), "format");
  const auto server = FindNumber(stamp.text(), "server");
  if (!format || !server) {
    return MakeError(ErrorCode::kInvalidConfig, "the stamp {} is damaged: it should have the lines 'format {}' and 'server <id>'",
                     path, kFormatVersion);
  }
  if (*format > kFormatVersion) {
    return MakeError(ErrorCode::kInvalidConfig, "{} was written by a newer version of Strom (format {}, this one knows {}): use that version",
                     path_, *format, kFormatVersion);
  }
  if (*server != server_id) {
    return MakeError(ErrorCode::kInvalidConfig, "{} belongs to server {}, and tablet-server.id is {}", path_, *server, server_id);
  }
  return Status::OK();
}

Status DataDirectory::NoteBoot() {
  const std::string path = path_ + "/boot-id";
  const std::string before = ReadSmallFile(path);
  const std::string now = ReadSmallFile("/proc/sys/kernel/random/boot_id");
  power_may_have_failed_ = now.empty() || before != now;
  if (!power_may_have_failed_) return Status::OK();
  return rt::SystemFiles().ReplaceFile(path, AsBytes(now + "\n"));
}

std::string LogsBelow(const std::string& path) {
  const Result<bool> stamped = rt::SystemFiles().Exists(path + "/STROM");
  return stamped.ok() && *stamped ? path + "/tablet" : path;
}

}  // namespace strom::server
