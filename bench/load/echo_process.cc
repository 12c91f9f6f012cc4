#include "load/echo_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace strom::bench {

namespace {

bool SendBack(int connection, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(connection, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

[[noreturn]] void ServeForEver(int listener) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  static char bytes[1 << 20];
  while (true) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection < 0) continue;
    const int on = 1;
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    ssize_t received = 0;
    while ((received = ::recv(connection, bytes, sizeof(bytes), 0)) > 0) {
      if (!SendBack(connection, bytes, static_cast<size_t>(received))) break;
    }
    ::close(connection);
  }
}

Error SystemFailure(const char* what) { return MakeError(ErrorCode::kUnknownServerError, "echo: {}: {}", what, std::strerror(errno)); }

}  // namespace

Result<std::unique_ptr<EchoProcess>> EchoProcess::Start() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return SystemFailure("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, size) != 0 || ::listen(listener, 1) != 0 || ::getsockname(listener, generic, &size) != 0) {
    const Error error = SystemFailure("listen");
    ::close(listener);
    return error;
  }
  const pid_t child = ::fork();
  if (child == 0) ServeForEver(listener);
  const Error error = SystemFailure("fork");
  ::close(listener);
  if (child < 0) return error;
  return std::unique_ptr<EchoProcess>(new EchoProcess(child, ntohs(address.sin_port)));
}

EchoProcess::~EchoProcess() {
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

}  // namespace strom::bench
