// What the runtime costs above a bare epoll loop, on an echo: the server's CPU time for a message, with the client, which is
// the same for both, on another thread. Run with --benchmark_min_time=2 on a quiet machine and compare `server_ns`.

#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/assert.h"
#include "rt/connection.h"
#include "rt/runtime.h"
#include "rt/sync.h"

namespace strom::rt {
namespace {

constexpr size_t kBufferSize = 16 << 10;

int64_t ThreadNanos() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// What a server tells the client thread, and what it has cost once the client is done.
struct Measured {
  std::atomic<uint16_t> port = 0;
  int64_t server_nanos = 0;
  ShardCounters calls;  // the runtime's only
};

/// Connections of plain blocking sockets that speak in rounds: one message on each, then one answer from each.
class Clients {
 public:
  Clients(uint16_t port, int64_t count, int64_t size) : bytes_(static_cast<size_t>(size)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int64_t i = 0; i < count; ++i) {
      const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const int on = 1;
      ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      STROM_ASSERT(::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "connect");
      descriptors_.push_back(descriptor);
    }
  }
  ~Clients() {
    for (int descriptor : descriptors_) ::close(descriptor);
  }
  void Round() {
    for (int descriptor : descriptors_) {
      STROM_ASSERT(::send(descriptor, bytes_.data(), bytes_.size(), 0) == static_cast<ssize_t>(bytes_.size()), "send");
    }
    for (int descriptor : descriptors_) {
      STROM_ASSERT(::recv(descriptor, bytes_.data(), bytes_.size(), MSG_WAITALL) == static_cast<ssize_t>(bytes_.size()),
                   "receive");
    }
  }

 private:
  std::vector<char> bytes_;
  std::vector<int> descriptors_;
};

/// Serves `connections` clients until all have left; a level-triggered loop as one would write it without a runtime.
void ServeBare(Measured* measured, int64_t connections) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  STROM_ASSERT(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(listener, 1024) == 0, "listen");
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  measured->port = ntohs(address.sin_port);
  for (int64_t i = 0; i < connections; ++i) {
    const int descriptor = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
  }
  std::vector<char> bytes(kBufferSize);
  std::array<epoll_event, 128> events;
  const int64_t begin = ThreadNanos();
  for (int64_t open = connections; open > 0;) {
    const int count = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<size_t>(i)].data.fd;
      const ssize_t received = ::recv(descriptor, bytes.data(), bytes.size(), 0);
      if (received > 0) {
        STROM_ASSERT(::send(descriptor, bytes.data(), static_cast<size_t>(received), MSG_NOSIGNAL) == received, "send");
      } else {
        ::close(descriptor);
        --open;
      }
    }
  }
  measured->server_nanos = ThreadNanos() - begin;
  ::close(epoll);
  ::close(listener);
}

/// All connections share one buffer, as in the bare loop: the content does not matter, the cost of the calls does.
Task<void> Echo(std::unique_ptr<Connection> connection, Buffer shared, Gate::Holder /*holder*/) {
  auto* into = const_cast<uint8_t*>(shared.data());
  for (;;) {
    Result<size_t> count = co_await connection->Read({into, kBufferSize});
    if (!count.ok()) co_return;
    Pieces pieces;
    pieces.Add(shared.Slice(0, *count));
    Status sent = co_await connection->Write(std::move(pieces));
    if (!sent.ok()) co_return;
  }
}

Task<void> ServeUntilAllLeft(Measured* measured, int64_t connections) {
  Gate gate;
  Event arrived;
  MutableBuffer bytes(kBufferSize);
  bytes.Resize(kBufferSize);
  const Buffer shared = bytes.Freeze();
  auto listener = SystemNetwork().Listen({"127.0.0.1", 0}, [&](std::unique_ptr<Connection> connection) {
    Spawn(Echo(std::move(connection), shared, gate.TryEnter()));
    arrived.NotifyAll();
  });
  STROM_ASSERT(listener.ok(), "{}", listener.ToString());
  measured->port = listener.value()->local_address().port;
  while (gate.count() < static_cast<size_t>(connections)) co_await arrived.Wait();
  Counters() = {};
  const int64_t begin = ThreadNanos();
  co_await gate.Close();
  measured->calls = Counters();
  measured->server_nanos = ThreadNanos() - begin;
}

void ServeRuntime(Measured* measured, int64_t connections) {
  RunForTest([=] { return ServeUntilAllLeft(measured, connections); });
}

void Run(benchmark::State& state, void (*serve)(Measured*, int64_t)) {
  const int64_t connections = state.range(0);
  Measured measured;
  std::thread server([&] { serve(&measured, connections); });
  while (measured.port == 0) std::this_thread::yield();
  {
    Clients clients(measured.port, connections, state.range(1));
    for (auto _ : state) clients.Round();
  }
  server.join();
  const int64_t messages = static_cast<int64_t>(state.iterations()) * connections;
  state.counters["server_ns"] = static_cast<double>(measured.server_nanos) / static_cast<double>(messages);
  // Calls for a message, of reads, writes and waits: 2 and a share of a wait are the least.
  const uint64_t calls = measured.calls.read_calls + measured.calls.write_calls + measured.calls.wait_calls;
  if (calls > 0) state.counters["calls"] = static_cast<double>(calls) / static_cast<double>(messages);
  state.SetItemsProcessed(messages);
}

void BareEpoll(benchmark::State& state) { Run(state, &ServeBare); }
void RuntimeEcho(benchmark::State& state) { Run(state, &ServeRuntime); }

// Connections, bytes of a message.
BENCHMARK(BareEpoll)->Args({1, 100})->Args({64, 100})->Args({64, 4096})->UseRealTime();
BENCHMARK(RuntimeEcho)->Args({1, 100})->Args({64, 100})->Args({64, 4096})->UseRealTime();

}  // namespace
}  // namespace strom::rt
