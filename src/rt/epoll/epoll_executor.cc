#include "rt/epoll/epoll_executor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.h"
#include "rt/epoll/system_error.h"
#include "rt/runtime.h"
#include "rt/task.h"

namespace strom::rt {

namespace {

constexpr int kEventsMax = 128;        // of one epoll_wait
constexpr int kResumesPerTurn = 256;   // then sockets and timers get their chance
constexpr int kDrainTurnsMax = 1000;   // a stopping shard gives up on work that makes new work for ever
constexpr Duration kStall = std::chrono::milliseconds(20);
constexpr int64_t kNanosPerSecond = 1'000'000'000;

class StopMessage final : public Message {
 public:
  explicit StopMessage(bool* stopping) : stopping_(stopping) {}
  void Run() override { *stopping_ = true; }

 private:
  bool* stopping_;
};

int64_t ReadClock(clockid_t clock) {
  timespec time;
  ::clock_gettime(clock, &time);
  return time.tv_sec * kNanosPerSecond + time.tv_nsec;
}

}  // namespace

Result<std::unique_ptr<EpollExecutor>> EpollExecutor::Make(Place place) {
  std::unique_ptr<EpollExecutor> executor(new EpollExecutor(place));
  STROM_TRY(executor->Open());
  return executor;
}

Status EpollExecutor::Open() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return MakeError(ErrorCode::kIoError, "cannot make an epoll descriptor: {}", SystemErrorText(errno));
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return MakeError(ErrorCode::kIoError, "cannot make an event descriptor: {}", SystemErrorText(errno));
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    return MakeError(ErrorCode::kIoError, "cannot wait for an event descriptor: {}", SystemErrorText(errno));
  }
  return {};
}

EpollExecutor::~EpollExecutor() {
  Scope scope(this);  // what a message holds may belong to this shard
  Inbox::DestroyAll(inbox_.TakeAll());
  CloseSockets();
  if (wake_ >= 0) ::close(wake_);
  if (epoll_ >= 0) ::close(epoll_);
}

MonotonicTime EpollExecutor::Now() { return {ReadClock(CLOCK_MONOTONIC)}; }

TimestampMs EpollExecutor::WallClockNow() { return TimestampMs(ReadClock(CLOCK_REALTIME) / 1'000'000); }

void EpollExecutor::PostMessage(std::unique_ptr<Message> message) {
  if (!inbox_.Push(std::move(message))) return;
  const uint64_t one = 1;
  // It cannot fail: the counter is far from full, and EINTR is not given for a non-blocking one.
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

void EpollExecutor::RequestStop() { PostMessage(std::make_unique<StopMessage>(&stopping_)); }

void EpollExecutor::Loop() {
  Scope scope(this);
  Counters() = {};
  internal::EnableFrameCache(true);
  while (!stopping_) Turn();
  Drain();
  internal::EnableFrameCache(false);
}

void EpollExecutor::Drain() {
  Scope scope(this);
  for (int turn = 0; turn < kDrainTurnsMax && HasWork(); ++turn) {
    RunMessages();
    RunReady();
  }
}

bool EpollExecutor::HasWork() {
  if (!ready_.empty()) return true;
  if (!inbox_.FallAsleep()) return true;
  RunMessages();  // wakes up again
  return !ready_.empty();
}

void EpollExecutor::Turn() {
  Poll();
  const MonotonicTime begin = Now();
  RunMessages();
  timers_.Expire(begin, *this);
  RunReady();
  const Duration length = Now() - begin;
  if (length > kStall) [[unlikely]] NoteStall(length);
}

void EpollExecutor::Poll() {
  epoll_event events[kEventsMax];
  const int count = WaitForEvents(events, kEventsMax);
  for (int i = 0; i < count; ++i) {
    // Without a socket it is the wake-up, which has done its work.
    if (auto* socket = static_cast<Socket*>(events[i].data.ptr); socket != nullptr) socket->OnEvents(events[i].events);
  }
}

int EpollExecutor::WaitForEvents(epoll_event* events, int capacity) {
  ++Counters().wait_calls;
  if (!ready_.empty() || !inbox_.FallAsleep()) return ::epoll_wait(epoll_, events, capacity, 0);
  const MonotonicTime deadline = timers_.next_deadline();
  if (deadline == MonotonicTime::Never()) return ::epoll_wait(epoll_, events, capacity, -1);
  const int64_t wait = std::max<int64_t>(0, (deadline - Now()).count());
  const timespec timeout{.tv_sec = wait / kNanosPerSecond, .tv_nsec = wait % kNanosPerSecond};
  const int count = ::epoll_pwait2(epoll_, events, capacity, &timeout, nullptr);
  if (count >= 0 || errno != ENOSYS) return count;
  // A kernel before 5.11: in milliseconds, rounded up so that no timer comes early.
  const int64_t milliseconds = std::min<int64_t>((wait + 999'999) / 1'000'000, 3'600'000);
  return ::epoll_wait(epoll_, events, capacity, static_cast<int>(milliseconds));
}

void EpollExecutor::RunMessages() {
  for (Message* message = inbox_.TakeAll(); message != nullptr;) {
    std::unique_ptr<Message> owned(std::exchange(message, message->next));
    owned->Run();
  }
}

void EpollExecutor::RunReady() {
  for (int budget = kResumesPerTurn; budget > 0 && !ready_.empty(); --budget) internal::Resume(ready_.Pop());
}

void EpollExecutor::NoteStall(Duration length) {
  ++Counters().stalls;
  const MonotonicTime now = Now();
  if (now < next_stall_line_) return;
  next_stall_line_ = now + std::chrono::seconds(1);
  STROM_LOG_DEBUG("shard {} ran for {} ms without a break (stall {} of this shard)", shard_index(),
                  std::chrono::duration_cast<std::chrono::milliseconds>(length).count(), Counters().stalls);
}

Status EpollExecutor::Register(Socket& socket) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = &socket}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket.descriptor(), &event) == 0) return {};
  return MakeError(ErrorCode::kIoError, "cannot wait for a socket: {}", SystemErrorText(errno));
}

void EpollExecutor::Link(Socket& socket) {
  socket.next_ = sockets_;
  if (sockets_ != nullptr) sockets_->previous_ = &socket;
  sockets_ = &socket;
}

void EpollExecutor::Unlink(Socket& socket) {
  // Before the descriptor closes: a copy of it in a process that is just being forked would keep the registration.
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket.descriptor(), nullptr);
  (socket.previous_ != nullptr ? socket.previous_->next_ : sockets_) = socket.next_;
  if (socket.next_ != nullptr) socket.next_->previous_ = socket.previous_;
}

void EpollExecutor::CloseSockets() {
  while (sockets_ != nullptr) sockets_->Abandon();
}

}  // namespace strom::rt
