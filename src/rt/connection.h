#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "rt/pieces.h"
#include "rt/task.h"
#include "rt/time.h"

namespace strom::rt {

/// A byte stream to a peer, owned by one shard. One reader and one writer at a time.
class Connection {
 public:
  virtual ~Connection() = default;

  /// At least one byte, at most `into.size()`; kEndOfStream when the peer has closed, kCancelled after Close().
  virtual Task<Result<size_t>> Read(std::span<uint8_t> into) = 0;
  /// All of it, memory by writev and file ranges by sendfile. A file range that turns out shorter than promised is an error,
  /// after which the connection must be closed: nothing else may be sent in its place.
  virtual Task<Status> Write(Pieces pieces) = 0;
  /// Wakes reader and writer with kCancelled and closes the socket once they are gone.
  virtual void Close() = 0;
  virtual bool closed() const = 0;
  /// "127.0.0.1:45678"
  virtual const std::string& peer_address() const = 0;
};

/// With constructors, not an aggregate: g++ 12 destroys a brace-initialised aggregate twice when it is a temporary of an
/// expression with a co_await, and `co_await network.Connect({host, port}, timeout)` is too natural to forbid.
struct Address {
  Address() = default;
  Address(std::string address_host, uint16_t address_port) : host(std::move(address_host)), port(address_port) {}
  std::string host;
  uint16_t port = 0;
};

/// Accepts connections of one listening address. It binds exclusively (a second server on the port is refused) and hands each
/// connection to the shard with the least load.
class Listener {
 public:
  /// Called on the shard that will own the connection.
  using OnConnection = std::function<void(std::unique_ptr<Connection>)>;
  virtual ~Listener() = default;
  virtual const Address& local_address() const = 0;  // with the real port when 0 was asked for
  /// Stops accepting. Connections that are open stay.
  virtual void Close() = 0;
};

/// The network, as rooms see it: sockets (rt/epoll) or a simulated one (sim/).
class Network {
 public:
  virtual ~Network() = default;
  virtual Task<Result<std::unique_ptr<Connection>>> Connect(Address address, Duration timeout) = 0;
  virtual Result<std::unique_ptr<Listener>> Listen(const Address& address, Listener::OnConnection on_connection) = 0;
};

/// The system's sockets, on the epoll executor of the calling shard.
Network& SystemNetwork();

}  // namespace strom::rt
