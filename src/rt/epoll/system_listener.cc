#include "rt/epoll/system_listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.h"
#include "rt/epoll/epoll_executor.h"
#include "rt/epoll/socket.h"
#include "rt/epoll/system_connection.h"
#include "rt/epoll/system_error.h"
#include "rt/sync.h"

namespace strom::rt {

namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptsPerTurn = 64;
constexpr Duration kPauseWithoutDescriptors = std::chrono::milliseconds(100);

using SharedOnConnection = std::shared_ptr<const Listener::OnConnection>;

int OpenSpare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

/// What the accept loop and the Listener share; both are of the acceptor's shard.
struct Acceptor {
  EpollExecutor* executor = nullptr;
  SocketRef socket;
  SharedOnConnection on_connection;
  Address local;
  int spare = -1;  // given up to accept and close a connection when there are no descriptors
  bool exhausted = false;
  uint64_t refused = 0;  // since the descriptors ran out
  Event closed;

  ~Acceptor() {
    if (spare >= 0) ::close(spare);
  }
  void Close() {
    socket->Close();
    closed.NotifyAll();
  }
};

/// Brings an accepted socket to the shard that will own it.
class NewConnection final : public Message {
 public:
  NewConnection(EpollExecutor& shard, int descriptor, std::string peer, SharedOnConnection on_connection)
      : shard_(shard), descriptor_(descriptor), peer_(std::move(peer)), on_connection_(std::move(on_connection)) {
    shard_.open_connections().fetch_add(1, std::memory_order_relaxed);
  }
  ~NewConnection() override {
    if (descriptor_ < 0) return;
    shard_.open_connections().fetch_sub(1, std::memory_order_relaxed);
    ::close(descriptor_);
  }
  void Run() override {
    SocketRef socket(new Socket(shard_, std::exchange(descriptor_, -1), true));
    auto connection = std::make_unique<SystemConnection>(socket, std::move(peer_));
    if (Status registered = shard_.Register(*socket); !registered.ok()) {
      STROM_LOG_WARN("a connection from {} is closed: {}", connection->peer_address(), registered.error().message);
      return;
    }
    (*on_connection_)(std::move(connection));
  }

 private:
  EpollExecutor& shard_;
  int descriptor_;
  std::string peer_;
  SharedOnConnection on_connection_;
};

EpollExecutor& LeastLoaded(EpollExecutor& acceptor) {
  EpollExecutor* best = &acceptor;
  uint32_t fewest = acceptor.open_connections().load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < acceptor.shard_count(); ++i) {
    EpollExecutor& shard = acceptor.epoll_peer(i);
    const uint32_t count = shard.open_connections().load(std::memory_order_relaxed);
    if (count < fewest) {
      best = &shard;
      fewest = count;
    }
  }
  return *best;
}

void HandOver(Acceptor& acceptor, int descriptor, const Endpoint& peer) {
  ConfigureStream(descriptor);
  EpollExecutor& shard = LeastLoaded(*acceptor.executor);
  auto message = std::make_unique<NewConnection>(shard, descriptor, ToText(peer), acceptor.on_connection);
  if (&shard == acceptor.executor) {
    message->Run();
  } else {
    shard.PostMessage(std::move(message));
  }
}

/// No descriptors: the spare one makes room to take a waiting client off the queue and close it, so that it learns at once.
/// False when nobody waits.
bool RefuseOne(Acceptor& acceptor) {
  if (acceptor.spare >= 0) ::close(acceptor.spare);
  const int descriptor = ::accept4(acceptor.socket->descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor >= 0) ::close(descriptor);
  acceptor.spare = OpenSpare();
  if (descriptor >= 0) ++acceptor.refused;
  return descriptor >= 0;
}

enum class Accepted { kAll, kMore, kExhausted };

Accepted OnExhausted(Acceptor& acceptor, int error) {
  if (!std::exchange(acceptor.exhausted, true)) {
    STROM_LOG_WARN("{} refuses connections: {}; raise the limit of open files", ToText(acceptor.local),
                   SystemErrorText(error));
  }
  for (int i = 0; i < kAcceptsPerTurn && RefuseOne(acceptor); ++i) {
  }
  return Accepted::kExhausted;
}

void OnRecovered(Acceptor& acceptor) {
  acceptor.exhausted = false;
  STROM_LOG_INFO("{} accepts connections again; {} were refused", ToText(acceptor.local),
                 std::exchange(acceptor.refused, 0));
}

/// Accepts who waits, up to a limit.
Accepted AcceptSome(Acceptor& acceptor) {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    if (acceptor.socket->closed()) return Accepted::kAll;  // closed by who got the last connection
    Endpoint peer;
    peer.size = sizeof peer.storage;
    const int descriptor =
        ::accept4(acceptor.socket->descriptor(), peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      if (acceptor.exhausted) OnRecovered(acceptor);
      HandOver(acceptor, descriptor, peer);
      continue;
    }
    switch (errno) {
      case EAGAIN: return Accepted::kAll;
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM: return OnExhausted(acceptor, errno);
      default: break;  // a client that went away before it was accepted: the next one
    }
  }
  return Accepted::kMore;
}

Task<void> AcceptLoop(std::shared_ptr<Acceptor> acceptor) {
  while (!acceptor->socket->closed()) {
    const Accepted accepted = AcceptSome(*acceptor);
    if (acceptor->socket->closed()) break;
    if (accepted == Accepted::kExhausted) {
      const MonotonicTime until = Now() + kPauseWithoutDescriptors;
      co_await acceptor->closed.Wait(until);
    } else if (accepted == Accepted::kMore) {
      co_await Yield();
    } else {
      acceptor->socket->input().ready = false;
      SideAwaiter wait(acceptor->socket->input());
      co_await wait;
    }
  }
}

class SystemListener final : public Listener {
 public:
  explicit SystemListener(std::shared_ptr<Acceptor> acceptor) : acceptor_(std::move(acceptor)) {}
  ~SystemListener() override { Close(); }
  const Address& local_address() const override { return acceptor_->local; }
  void Close() override {
    if (!acceptor_->socket->closed()) acceptor_->Close();
  }

 private:
  std::shared_ptr<Acceptor> acceptor_;
};

/// Binds and listens; the error says which step failed. Without SO_REUSEPORT the port has one listener; SO_REUSEADDR only
/// takes over from connections of a dead one.
const char* BindAndListen(int descriptor, const Endpoint& endpoint) {
  const int on = 1;
  const int off = 0;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (endpoint.family() == AF_INET6) ::setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(descriptor, endpoint.get(), endpoint.size) != 0) return "bind";
  if (::listen(descriptor, kBacklog) != 0) return "listen";
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Listener>> ListenOn(EpollExecutor& executor, const Endpoint& endpoint,
                                           Listener::OnConnection on_connection) {
  const int descriptor = ::socket(endpoint.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return MakeError(ErrorCode::kIoError, "cannot open a socket for {}: {}", ToText(endpoint), SystemErrorText(errno));
  }
  if (const char* failed = BindAndListen(descriptor, endpoint); failed != nullptr) {
    const int error = errno;
    ::close(descriptor);
    return MakeError(ErrorCode::kIoError, "cannot {} on {}: {}", failed, ToText(endpoint), SystemErrorText(error));
  }
  auto acceptor = std::make_shared<Acceptor>();
  acceptor->executor = &executor;
  acceptor->socket = SocketRef(new Socket(executor, descriptor, false));
  acceptor->on_connection = std::make_shared<const Listener::OnConnection>(std::move(on_connection));
  acceptor->spare = OpenSpare();
  STROM_ASSIGN(const Endpoint local, LocalEndpoint(descriptor));
  acceptor->local = ToAddress(local);
  STROM_TRY(executor.Register(*acceptor->socket));
  Spawn(AcceptLoop(acceptor));
  return std::unique_ptr<Listener>(std::make_unique<SystemListener>(std::move(acceptor)));
}

}  // namespace strom::rt
