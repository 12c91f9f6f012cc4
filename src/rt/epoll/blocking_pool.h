#pragma once

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "rt/executor.h"

namespace strom::rt {

/// The threads for work that blocks, shared by all shards. A thread is started when work comes and none is idle, up to
/// `threads_max`; then work queues, first come first served.
class BlockingPool {
 public:
  explicit BlockingPool(uint32_t threads_max);
  ~BlockingPool();

  /// Thread safe. Runs `work`, then resumes `then` on `shard`.
  void Submit(std::function<void()> work, std::coroutine_handle<> then, Executor& shard);
  /// Waits for what runs and drops what has not begun; nobody is resumed for that. Later work is dropped, too.
  void Stop();
  size_t thread_count();

 private:
  class Job;
  void ThreadMain();

  const uint32_t threads_max_;
  std::mutex mutex_;
  std::condition_variable work_or_stop_;
  std::deque<std::unique_ptr<Job>> queue_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace strom::rt
