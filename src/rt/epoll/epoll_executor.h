#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/result.h"
#include "rt/epoll/blocking_pool.h"
#include "rt/epoll/inbox.h"
#include "rt/epoll/ready_queue.h"
#include "rt/epoll/socket.h"
#include "rt/executor.h"
#include "rt/timer_heap.h"

struct epoll_event;

namespace strom::rt {

/// A shard on one thread. A turn of its loop: ask epoll (sleeping when nothing is ready, until the next timer), run the
/// messages of other threads, expire timers, run ready coroutines up to a limit. The first step only notes and posts, so
/// that no code of a room runs between events of one batch.
class EpollExecutor final : public Executor {
 public:
  struct Place {
    uint32_t shard_index = 0;
    const std::vector<std::unique_ptr<EpollExecutor>>* shards = nullptr;  // all of them, complete before a loop runs
    BlockingPool* pool = nullptr;
  };

  /// kIoError when the system refuses an epoll or event descriptor.
  static Result<std::unique_ptr<EpollExecutor>> Make(Place place);
  ~EpollExecutor() override;
  /// The one that runs this thread, or null.
  static EpollExecutor* CurrentEpoll() { return dynamic_cast<EpollExecutor*>(CurrentOrNull()); }

  /// Runs the calling thread as this shard until RequestStop(); then runs what is ready, bounded, without timers and sockets.
  void Loop();
  /// Runs ready work and messages until there are none or a bound is reached: after Loop().
  void Drain();
  /// Closes all sockets that are still open, without waking anybody: after the last Drain().
  void CloseSockets();
  /// Thread safe.
  void RequestStop();

  void Post(std::coroutine_handle<> handle) override { ready_.Push(handle); }
  void PostMessage(std::unique_ptr<Message> message) override;
  MonotonicTime Now() override;
  TimestampMs WallClockNow() override;
  void Arm(Timer& timer) override { timers_.Arm(timer); }
  void Cancel(Timer& timer) override { timers_.Cancel(timer); }
  void SubmitBlocking(std::function<void()> work, std::coroutine_handle<> then) override {
    place_.pool->Submit(std::move(work), then, *this);
  }
  uint32_t shard_index() const override { return place_.shard_index; }
  uint32_t shard_count() const override { return static_cast<uint32_t>(place_.shards->size()); }
  Executor& peer(uint32_t shard_index) override { return epoll_peer(shard_index); }
  EpollExecutor& epoll_peer(uint32_t shard_index) { return *(*place_.shards)[shard_index]; }

  /// Starts telling `socket` what happens to it.
  Status Register(Socket& socket);
  void Link(Socket& socket);
  void Unlink(Socket& socket);

  /// Connections that this shard owns or is about to get: the acceptor's measure of load. Thread safe.
  std::atomic<uint32_t>& open_connections() { return open_connections_; }

 private:
  explicit EpollExecutor(Place place) : place_(place) {}
  Status Open();
  void Turn();
  void Poll();
  int WaitForEvents(epoll_event* events, int capacity);
  void RunMessages();
  void RunReady();
  void NoteStall(Duration length);
  bool HasWork();

  Place place_;
  int epoll_ = -1;
  int wake_ = -1;  // an eventfd, edge triggered: a write to it is the edge, nobody needs to read it
  bool stopping_ = false;
  ReadyQueue ready_;
  TimerHeap timers_;
  Socket* sockets_ = nullptr;
  MonotonicTime next_stall_line_;
  std::atomic<uint32_t> open_connections_ = 0;
  Inbox inbox_;
};

}  // namespace strom::rt
