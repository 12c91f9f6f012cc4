#include "rt/epoll/blocking_pool.h"

#include <pthread.h>

#include <string>

#include "rt/task.h"

namespace strom::rt {

/// One object on the whole way: queued, run by the pool, then posted back as the message that resumes the waiter.
class BlockingPool::Job final : public Message {
 public:
  Job(std::function<void()> work, std::coroutine_handle<> then, Executor& shard)
      : work_(std::move(work)), then_(then), shard_(shard) {}
  void Work() { work_(); }
  Executor& shard() { return shard_; }
  void Run() override { internal::Resume(then_); }

 private:
  std::function<void()> work_;
  std::coroutine_handle<> then_;
  Executor& shard_;
};

BlockingPool::BlockingPool(uint32_t threads_max) : threads_max_(threads_max) {}

BlockingPool::~BlockingPool() { Stop(); }

void BlockingPool::Submit(std::function<void()> work, std::coroutine_handle<> then, Executor& shard) {
  auto job = std::make_unique<Job>(std::move(work), then, shard);
  std::lock_guard lock(mutex_);
  if (stopping_) return;
  queue_.push_back(std::move(job));
  if (idle_ < queue_.size() && threads_.size() < threads_max_) {
    threads_.emplace_back([this] { ThreadMain(); });
    const std::string name = fmt::format("strom-block-{}", threads_.size() - 1);
    pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }
  work_or_stop_.notify_one();
}

void BlockingPool::ThreadMain() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_or_stop_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (stopping_) return;
    std::unique_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    job->Work();
    Executor& shard = job->shard();
    shard.PostMessage(std::move(job));
    lock.lock();
  }
}

void BlockingPool::Stop() {
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
    threads.swap(threads_);
  }
  work_or_stop_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

size_t BlockingPool::thread_count() {
  std::lock_guard lock(mutex_);
  return threads_.size();
}

}  // namespace strom::rt
