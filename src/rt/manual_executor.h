#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/random.h"
#include "rt/executor.h"
#include "rt/task.h"

namespace strom::rt {

struct ManualExecutorOptions {
  uint32_t shards = 1;
  uint64_t seed = 0;                           // 0: work runs in the order in which it became ready; else in an order drawn
                                               // from the seed (each shard's own work stays in order)
  MonotonicTime start{1'000'000'000};          // the simulated monotonic clock at the beginning
  TimestampMs wall_clock{1'700'000'000'000};   // the simulated wall clock at the beginning; it runs with the other one
  Duration blocking_time{0};                   // how long work on the "pool" takes
};

/// A deterministic executor for unit tests and simulation: several shards in the calling thread, a clock that moves only
/// when told to (or, in Run(), jumps to the next timer when nothing else is ready), blocking work run inline from the loop.
///
/// While it lives, shard 0 is the thread's current executor, so a test may call Spawn(), Now(), Event::NotifyAll() and the
/// like directly:
///
///   rt::ManualExecutor executor;
///   rt::Spawn(Serve(&server));            // runs to its first wait
///   executor.RunUntilIdle();              // runs what is ready; time stands still
///   executor.Advance(std::chrono::milliseconds(500));
///   Result<Answer> answer = executor.Run(Ask(&client));
///
/// Coroutines that still wait when it dies are neither resumed nor destroyed (the leak sanitizer names them).
class ManualExecutor {
 public:
  explicit ManualExecutor(ManualExecutorOptions options = {});
  ~ManualExecutor();
  ManualExecutor(const ManualExecutor&) = delete;
  ManualExecutor& operator=(const ManualExecutor&) = delete;

  uint32_t shard_count() const { return static_cast<uint32_t>(shards_.size()); }
  Executor& peer(uint32_t shard_index);
  MonotonicTime Now() const { return now_; }
  TimestampMs WallClockNow() const;
  /// Makes the wall clock jump; the monotonic one does not.
  void SetWallClock(TimestampMs now);

  /// Runs all ready work of all shards, and what that makes ready, until nothing is; time stands still. Returns how many
  /// pieces of work it ran.
  size_t RunUntilIdle();
  /// Moves the clock by `duration`, stopping at every timer on the way, and runs what becomes ready.
  void Advance(Duration duration);
  /// Moves the clock to the next timer and fires it, without running what it makes ready; false when no timer is armed.
  bool JumpToNextTimer();
  /// Runs one piece of ready work; false when there is none.
  bool RunOne();

  /// Runs `task` on a shard to its end, jumping to the next timer whenever nothing is ready, and returns its value. Asserts
  /// when the task waits for something that cannot happen any more.
  template <typename T>
  T Run(Task<T> task, uint32_t shard = 0) {
    if constexpr (std::is_void_v<T>) {
      bool done = false;
      SpawnOn(shard, Finish(std::move(task), &done));
      RunUntil([&done] { return done; });
    } else {
      std::optional<T> value;
      SpawnOn(shard, Store(std::move(task), &value));
      RunUntil([&value] { return value.has_value(); });
      return std::move(*value);
    }
  }
  /// Runs ready work and jumps over time until `done`; asserts when that cannot happen any more.
  void RunUntil(const std::function<bool()>& done);
  /// Starts a task on a shard at once.
  void SpawnOn(uint32_t shard, Task<void> task);

 private:
  class Shard;

  template <typename T>
  static Task<void> Store(Task<T> task, std::optional<T>* value) {
    T result = co_await std::move(task);
    value->emplace(std::move(result));
  }
  static Task<void> Finish(Task<void> task, bool* done) {
    co_await std::move(task);
    *done = true;
  }
  void NoteReady(Shard* shard);
  Shard* NextShard();

  ManualExecutorOptions options_;
  Random random_;
  MonotonicTime now_;
  int64_t wall_clock_ms_at_zero_ = 0;  // the wall clock minus the monotonic one
  std::vector<std::unique_ptr<Shard>> shards_;
  std::deque<Shard*> order_;  // without a seed: one entry for each piece of ready work, in the order it became ready
  std::optional<Executor::Scope> scope_;
};

}  // namespace strom::rt
