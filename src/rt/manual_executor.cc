#include "rt/manual_executor.h"

#include <algorithm>
#include <variant>

#include "rt/timer_heap.h"

namespace strom::rt {

namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;

/// Work for the pool of blocking threads and who waits for it; a timer, because it may take simulated time.
struct BlockingWork : Timer {
  std::function<void()> work;
  std::coroutine_handle<> then;
  Executor* shard = nullptr;
};

/// Runs the work when its message is run, with no executor current: such work must not touch the shard.
class BlockingMessage final : public Message {
 public:
  explicit BlockingMessage(std::unique_ptr<BlockingWork> work) : work_(std::move(work)) {}
  void Run() override {
    {
      Executor::Scope nobody(nullptr);
      work_->work();
    }
    internal::Resume(work_->then);
  }

 private:
  std::unique_ptr<BlockingWork> work_;
};

void PostBlocking(Timer& timer) {
  std::unique_ptr<BlockingWork> work(static_cast<BlockingWork*>(&timer));
  Executor* shard = work->shard;
  shard->PostMessage(std::make_unique<BlockingMessage>(std::move(work)));
}

}  // namespace

class ManualExecutor::Shard final : public Executor {
 public:
  Shard(ManualExecutor* owner, uint32_t index) : owner_(owner), index_(index) {}
  ~Shard() override {
    while (!timers_.empty()) {
      Timer& timer = timers_.Pop();
      if (timer.fire == &PostBlocking) delete static_cast<BlockingWork*>(&timer);
    }
  }

  void Post(std::coroutine_handle<> handle) override {
    ready_.emplace_back(handle);
    owner_->NoteReady(this);
  }
  void PostMessage(std::unique_ptr<Message> message) override {
    ready_.emplace_back(std::move(message));
    owner_->NoteReady(this);
  }
  MonotonicTime Now() override { return owner_->Now(); }
  TimestampMs WallClockNow() override { return owner_->WallClockNow(); }
  void Arm(Timer& timer) override { timers_.Arm(timer); }
  void Cancel(Timer& timer) override { timers_.Cancel(timer); }
  void SubmitBlocking(std::function<void()> work, std::coroutine_handle<> then) override {
    auto pending = std::make_unique<BlockingWork>();
    pending->work = std::move(work);
    pending->then = then;
    pending->shard = this;
    pending->fire = &PostBlocking;
    pending->deadline = Now() + owner_->options_.blocking_time;
    if (owner_->options_.blocking_time == Duration::zero()) {
      PostBlocking(*pending.release());
    } else {
      timers_.Arm(*pending.release());
    }
  }
  uint32_t shard_index() const override { return index_; }
  uint32_t shard_count() const override { return owner_->shard_count(); }
  Executor& peer(uint32_t shard_index) override { return owner_->peer(shard_index); }

  bool idle() const { return ready_.empty(); }
  MonotonicTime next_deadline() const { return timers_.next_deadline(); }
  void RunFirst() {
    Scope scope(this);
    std::variant<std::coroutine_handle<>, std::unique_ptr<Message>> work = std::move(ready_.front());
    ready_.pop_front();
    if (auto* handle = std::get_if<std::coroutine_handle<>>(&work)) {
      internal::Resume(*handle);
    } else {
      std::get<std::unique_ptr<Message>>(work)->Run();
    }
  }
  void ExpireTimers() {
    Scope scope(this);
    timers_.Expire(owner_->Now(), *this);
  }
  void Start(Task<void> task) {
    Scope scope(this);
    Spawn(std::move(task));
  }

 private:
  ManualExecutor* owner_;
  uint32_t index_;
  TimerHeap timers_;
  std::deque<std::variant<std::coroutine_handle<>, std::unique_ptr<Message>>> ready_;
};

ManualExecutor::ManualExecutor(ManualExecutorOptions options)
    : options_(options),
      random_(options.seed),
      now_(options.start),
      wall_clock_ms_at_zero_(options.wall_clock.value() - options.start.nanoseconds / kNanosPerMilli) {
  STROM_ASSERT(options.shards > 0, "an executor has at least one shard");
  for (uint32_t i = 0; i < options.shards; ++i) shards_.push_back(std::make_unique<Shard>(this, i));
  internal::EnableFrameCache(true);
  scope_.emplace(shards_.front().get());
}

ManualExecutor::~ManualExecutor() {
  shards_.clear();
  scope_.reset();
  internal::EnableFrameCache(false);
}

Executor& ManualExecutor::peer(uint32_t shard_index) {
  STROM_ASSERT(shard_index < shards_.size(), "shard {} of {}", shard_index, shards_.size());
  return *shards_[shard_index];
}

TimestampMs ManualExecutor::WallClockNow() const {
  return TimestampMs(wall_clock_ms_at_zero_ + now_.nanoseconds / kNanosPerMilli);
}

void ManualExecutor::SetWallClock(TimestampMs now) {
  wall_clock_ms_at_zero_ = now.value() - now_.nanoseconds / kNanosPerMilli;
}

void ManualExecutor::NoteReady(Shard* shard) {
  if (options_.seed == 0) order_.push_back(shard);
}

ManualExecutor::Shard* ManualExecutor::NextShard() {
  if (options_.seed == 0) {
    if (order_.empty()) return nullptr;
    Shard* shard = order_.front();
    order_.pop_front();
    return shard;
  }
  Shard* chosen = nullptr;
  uint64_t candidates = 0;
  for (const auto& shard : shards_) {
    if (!shard->idle() && random_.OneIn(++candidates)) chosen = shard.get();
  }
  return chosen;
}

bool ManualExecutor::RunOne() {
  Shard* shard = NextShard();
  if (shard == nullptr) return false;
  shard->RunFirst();
  return true;
}

size_t ManualExecutor::RunUntilIdle() {
  size_t count = 0;
  while (RunOne()) ++count;
  return count;
}

bool ManualExecutor::JumpToNextTimer() {
  MonotonicTime deadline = MonotonicTime::Never();
  for (const auto& shard : shards_) deadline = std::min(deadline, shard->next_deadline());
  if (deadline == MonotonicTime::Never()) return false;
  now_ = std::max(now_, deadline);
  for (const auto& shard : shards_) {
    if (shard->next_deadline() <= now_) shard->ExpireTimers();
  }
  return true;
}

void ManualExecutor::Advance(Duration duration) {
  const MonotonicTime end = now_ + duration;
  RunUntilIdle();
  for (;;) {
    MonotonicTime deadline = MonotonicTime::Never();
    for (const auto& shard : shards_) deadline = std::min(deadline, shard->next_deadline());
    if (deadline > end) break;
    JumpToNextTimer();
    RunUntilIdle();
  }
  now_ = end;
}

void ManualExecutor::RunUntil(const std::function<bool()>& done) {
  while (!done()) {
    if (RunOne()) continue;
    const bool jumped = JumpToNextTimer();
    STROM_ASSERT(jumped, "deadlock: nothing is ready, no timer is armed, and what is waited for has not happened");
  }
}

void ManualExecutor::SpawnOn(uint32_t shard, Task<void> task) {
  STROM_ASSERT(shard < shards_.size(), "shard {} of {}", shard, shards_.size());
  shards_[shard]->Start(std::move(task));
}

}  // namespace strom::rt
