#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "rt/call.h"
#include "rt/connection.h"
#include "rt/epoll/endpoint.h"
#include "rt/epoll/epoll_executor.h"
#include "rt/epoll/socket.h"
#include "rt/epoll/system_connection.h"
#include "rt/epoll/system_error.h"
#include "rt/epoll/system_listener.h"

namespace strom::rt {

namespace {

using ConnectResult = Result<std::unique_ptr<Connection>>;

Error ConnectError(const Endpoint& endpoint, int error) {
  return MakeError(ErrorCode::kIoError, "cannot connect to {}: {}", ToText(endpoint), SystemErrorText(error));
}

int PendingError(int descriptor) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/// Opens a socket and starts to connect it.
Result<SocketRef> StartConnect(EpollExecutor& executor, const Endpoint& endpoint) {
  const int descriptor = ::socket(endpoint.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return ConnectError(endpoint, errno);
  ConfigureStream(descriptor);
  SocketRef socket(new Socket(executor, descriptor, false));
  if (::connect(descriptor, endpoint.get(), endpoint.size) != 0 && errno != EINPROGRESS && errno != EINTR) {
    return ConnectError(endpoint, errno);
  }
  STROM_TRY(executor.Register(*socket));
  return socket;
}

Task<ConnectResult> ConnectEndpoint(Endpoint endpoint, MonotonicTime deadline) {
  EpollExecutor* executor = EpollExecutor::CurrentEpoll();
  Result<SocketRef> started = StartConnect(*executor, endpoint);
  if (!started.ok()) co_return started.error();
  SocketRef socket = *started;
  SideAwaiter wait(socket->output(), deadline);
  const bool in_time = co_await wait;
  if (!in_time) co_return MakeError(ErrorCode::kDeadlineExceeded, "cannot connect to {} in time", ToText(endpoint));
  if (const int error = PendingError(socket->descriptor()); error != 0) co_return ConnectError(endpoint, error);
  executor->open_connections().fetch_add(1, std::memory_order_relaxed);
  co_return std::unique_ptr<Connection>(std::make_unique<SystemConnection>(std::move(socket), ToText(endpoint)));
}

/// Tries the addresses of the host one after the other until one answers or the time is over.
Task<ConnectResult> ConnectTo(Address address, Duration timeout) {
  const MonotonicTime deadline = Now() + timeout;
  Result<std::vector<Endpoint>> endpoints = ResolveNumeric(address);
  if (!endpoints.ok()) {
    Task<Result<std::vector<Endpoint>>> resolve = Blocking([address] { return Resolve(address); });
    endpoints = co_await std::move(resolve);
  }
  if (!endpoints.ok()) co_return endpoints.error();
  Error last = MakeError(ErrorCode::kNotFound, "the host '{}' has no address", address.host);
  for (const Endpoint& endpoint : *endpoints) {
    ConnectResult connected = co_await ConnectEndpoint(endpoint, deadline);
    if (connected.ok() || connected.code() == ErrorCode::kDeadlineExceeded) co_return std::move(connected);
    last = connected.error();
  }
  co_return last;
}

class EpollNetwork final : public Network {
 public:
  Task<ConnectResult> Connect(Address address, Duration timeout) override {
    return ConnectTo(std::move(address), timeout);
  }
  Result<std::unique_ptr<Listener>> Listen(const Address& address, Listener::OnConnection on_connection) override {
    EpollExecutor* executor = EpollExecutor::CurrentEpoll();
    STROM_ASSERT(executor != nullptr, "the system's network is used on a shard of the runtime");
    STROM_ASSIGN(const std::vector<Endpoint> endpoints, Resolve(address));
    return ListenOn(*executor, endpoints.front(), std::move(on_connection));
  }
};

}  // namespace

Network& SystemNetwork() {
  static EpollNetwork network;
  return network;
}

}  // namespace strom::rt
