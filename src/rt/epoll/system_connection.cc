#include "rt/epoll/system_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "rt/epoll/epoll_executor.h"
#include "rt/epoll/sender.h"
#include "rt/epoll/system_error.h"
#include "rt/runtime.h"
#include "rt/sync.h"

namespace strom::rt {

namespace {

Error Cancelled() { return Error{ErrorCode::kCancelled, "the connection is closed on this side"}; }

Error ReceiveError(int error) {
  if (error == ECONNRESET) return Error{ErrorCode::kEndOfStream, "the peer has reset the connection"};
  return MakeError(ErrorCode::kIoError, "cannot receive: {}", SystemErrorText(error));
}

/// One recv: bytes, the end or an error, or 0 when there is nothing yet.
Result<size_t> ReceiveSome(Socket& socket, std::span<uint8_t> into) {
  for (;;) {
    const ssize_t count = ::recv(socket.descriptor(), into.data(), into.size(), 0);
    ++Counters().read_calls;
    if (count > 0) {
      Counters().bytes_read += static_cast<uint64_t>(count);
      // Fewer than asked for: there is no more, and the next byte is a new edge. After a hang-up there is none.
      if (static_cast<size_t>(count) < into.size() && !socket.hung_up()) socket.input().ready = false;
      return static_cast<size_t>(count);
    }
    if (count == 0) return Error{ErrorCode::kEndOfStream, "the peer has closed the connection"};
    if (errno == EAGAIN) {
      socket.input().ready = false;
      return size_t{0};
    }
    if (errno != EINTR) return ReceiveError(errno);
  }
}

Task<Result<size_t>> ReadSome(SocketRef socket, std::span<uint8_t> into) {
  STROM_ASSERT(!into.empty(), "a read of no bytes");
  for (;;) {
    if (socket->closed()) co_return Cancelled();
    if (socket->input().ready) {
      Result<size_t> count = ReceiveSome(*socket, into);
      if (!count.ok() || *count > 0) co_return std::move(count);
    }
    SideAwaiter wait(socket->input());
    co_await wait;
  }
}

Task<Status> WriteAll(SocketRef socket, Pieces pieces) {
  Sender sender(std::move(pieces));
  for (;;) {
    if (socket->closed()) co_return Cancelled();
    Result<Sender::Progress> progress = sender.Push(socket->descriptor());
    if (!progress.ok()) co_return progress.status();
    if (*progress == Sender::Progress::kDone) co_return Status::OK();
    if (*progress == Sender::Progress::kBudgetSpent) {
      co_await Yield();
      continue;
    }
    socket->output().ready = false;
    SideAwaiter wait(socket->output());
    co_await wait;
  }
}

}  // namespace

SystemConnection::SystemConnection(SocketRef socket, std::string peer_address)
    : socket_(std::move(socket)), executor_(EpollExecutor::CurrentEpoll()), peer_address_(std::move(peer_address)) {}

Task<Result<size_t>> SystemConnection::Read(std::span<uint8_t> into) { return ReadSome(socket_, into); }

Task<Status> SystemConnection::Write(Pieces pieces) { return WriteAll(socket_, std::move(pieces)); }

void SystemConnection::Close() {
  if (socket_->closed()) return;
  executor_->open_connections().fetch_sub(1, std::memory_order_relaxed);
  socket_->Close();
}

void ConfigureStream(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace strom::rt
