#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "rt/executor.h"

namespace strom::rt {

class EpollExecutor;

/// A socket that is registered with its shard's epoll once, edge triggered, for both directions; it remembers what the
/// kernel has told, so that a wait costs no call. Belongs to one shard and is counted without atomics.
///
/// Invariants
/// 1. A side that is not ready had EAGAIN, or a short read, after the last edge: the kernel will tell the next one.
/// 2. After a hang-up the input side stays ready: that edge does not come again.
/// 3. Nobody touches the descriptor after Close(); who waited sees closed() first.
class Socket {
 public:
  struct Side {
    bool ready = false;
    std::coroutine_handle<> waiter;
  };

  /// Takes over `descriptor`, which must be non-blocking. `connected`: it can be written to.
  Socket(EpollExecutor& executor, int descriptor, bool connected);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int descriptor() const { return descriptor_; }
  bool closed() const { return descriptor_ < 0; }
  bool hung_up() const { return hung_up_; }
  Side& input() { return input_; }
  Side& output() { return output_; }

  /// What epoll has told. Only notes it and posts who waits.
  void OnEvents(uint32_t events);
  /// Closes the descriptor now and wakes who waits.
  void Close();
  /// As Close(), for a shard that has stopped: wakes nobody.
  void Abandon();

 private:
  friend class EpollExecutor;
  friend class SocketRef;
  void Wake(Side& side);
  void CloseDescriptor();

  EpollExecutor* executor_;  // null once closed
  int descriptor_;
  uint32_t references_ = 0;
  bool hung_up_ = false;
  Side input_;
  Side output_;
  Socket* previous_ = nullptr;  // the executor's list of open sockets
  Socket* next_ = nullptr;
};

/// Shared ownership of a socket within its shard.
class SocketRef {
 public:
  SocketRef() = default;
  explicit SocketRef(Socket* socket) : socket_(socket) { ++socket_->references_; }
  SocketRef(const SocketRef& other) : socket_(other.socket_) {
    if (socket_ != nullptr) ++socket_->references_;
  }
  SocketRef(SocketRef&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)) {}
  SocketRef& operator=(SocketRef other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~SocketRef() {
    if (socket_ != nullptr && --socket_->references_ == 0) delete socket_;
  }
  Socket* operator->() const { return socket_; }
  Socket& operator*() const { return *socket_; }

 private:
  Socket* socket_ = nullptr;
};

/// co_await until a side is ready, the socket is closed, or the deadline has come (false).
struct SideAwaiter : Timer {
  Socket::Side& side;
  bool timed_out = false;

  explicit SideAwaiter(Socket::Side& awaited, MonotonicTime until = MonotonicTime::Never()) : side(awaited) {
    deadline = until;
  }
  SideAwaiter(const SideAwaiter&) = delete;
  SideAwaiter& operator=(const SideAwaiter&) = delete;
  bool await_ready() const noexcept { return side.ready; }
  void await_suspend(std::coroutine_handle<> handle);
  bool await_resume();
  static void OnDeadline(Timer& timer);
};

}  // namespace strom::rt
