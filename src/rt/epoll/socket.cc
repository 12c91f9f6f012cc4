#include "rt/epoll/socket.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/assert.h"
#include "rt/epoll/epoll_executor.h"

namespace strom::rt {

Socket::Socket(EpollExecutor& executor, int descriptor, bool connected)
    : executor_(&executor), descriptor_(descriptor) {
  output_.ready = connected;
  executor.Link(*this);
}

Socket::~Socket() {
  STROM_ASSERT(!input_.waiter && !output_.waiter, "a socket dies while somebody waits for it");
  Close();
}

void Socket::Wake(Side& side) {
  if (side.waiter) executor_->Post(std::exchange(side.waiter, nullptr));
}

void Socket::OnEvents(uint32_t events) {
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) hung_up_ = true;
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    input_.ready = true;
    Wake(input_);
  }
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
    output_.ready = true;
    Wake(output_);
  }
}

void Socket::Close() {
  if (closed()) return;
  Wake(input_);
  Wake(output_);
  CloseDescriptor();
}

void Socket::Abandon() {
  if (closed()) return;
  input_.waiter = nullptr;
  output_.waiter = nullptr;
  CloseDescriptor();
}

void Socket::CloseDescriptor() {
  std::exchange(executor_, nullptr)->Unlink(*this);
  ::close(std::exchange(descriptor_, -1));
}

void SideAwaiter::await_suspend(std::coroutine_handle<> handle) {
  STROM_ASSERT(!side.waiter, "a connection has one reader and one writer at a time");
  side.waiter = handle;
  if (deadline == MonotonicTime::Never()) return;
  fire = &SideAwaiter::OnDeadline;
  Executor::Current().Arm(*this);
}

bool SideAwaiter::await_resume() {
  if (armed) Executor::Current().Cancel(*this);
  return !timed_out;
}

void SideAwaiter::OnDeadline(Timer& timer) {
  auto& self = static_cast<SideAwaiter&>(timer);
  // When the side has come up in this turn already, its waiter is posted and only finds the timer gone.
  if (!self.side.waiter) return;
  self.timed_out = true;
  Executor::Current().Post(std::exchange(self.side.waiter, nullptr));
}

}  // namespace strom::rt
