#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <thread>
#include <vector>

#include "rt/epoll/blocking_pool.h"
#include "rt/epoll/epoll_executor.h"
#include "rt/runtime.h"

namespace strom::rt {

namespace {

uint32_t UsableCores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return static_cast<uint32_t>(std::max(1, CPU_COUNT(&cores)));
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Shard 0 is the thread that calls Run(); the others are started here and joined at the end of Run().
class EpollRuntime final : public Runtime {
 public:
  static Result<std::unique_ptr<EpollRuntime>> Make(RuntimeOptions options) {
    std::unique_ptr<EpollRuntime> runtime(new EpollRuntime(options));
    const uint32_t count = options.shards != 0 ? options.shards : UsableCores();
    for (uint32_t i = 0; i < count; ++i) {
      STROM_ASSIGN(auto shard, EpollExecutor::Make({i, &runtime->shards_, &runtime->pool_}));
      runtime->shards_.push_back(std::move(shard));
    }
    for (uint32_t i = 1; i < count; ++i) runtime->StartThread(*runtime->shards_[i]);
    return runtime;
  }
  ~EpollRuntime() override { StopAll(); }

  uint32_t shard_count() const override { return static_cast<uint32_t>(shards_.size()); }

  int Run(std::function<Task<int>()> main) override {
    STROM_ASSERT(Executor::CurrentOrNull() == nullptr, "a runtime runs on a thread that is no shard");
    STROM_ASSERT(!ran_, "a runtime runs once");
    ran_ = true;
    int result = 0;
    shards_.front()->PostMessage(std::make_unique<MainMessage>(&main, &result, shards_.front().get()));
    shards_.front()->Loop();
    StopAll();
    return result;
  }

 private:
  explicit EpollRuntime(RuntimeOptions options) : pool_(std::max(1u, options.blocking_threads)) {}

  class MainMessage final : public Message {
   public:
    MainMessage(std::function<Task<int>()>* main, int* result, EpollExecutor* shard)
        : main_(main), result_(result), shard_(shard) {}
    void Run() override { Spawn(RunMain(main_, result_, shard_)); }

   private:
    static Task<void> RunMain(std::function<Task<int>()>* main, int* result, EpollExecutor* shard) {
      Task<int> task = (*main)();
      *result = co_await std::move(task);
      shard->RequestStop();
    }
    std::function<Task<int>()>* main_;
    int* result_;
    EpollExecutor* shard_;
  };

  void StartThread(EpollExecutor& shard) {
    threads_.emplace_back([&shard] { shard.Loop(); });
    const std::string name = fmt::format("strom-shard-{}", shard.shard_index());
    pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }

  /// In this order: nobody posts to a shard that has gone.
  void StopAll() {
    for (size_t i = 1; i < shards_.size(); ++i) {
      if (!threads_.empty()) shards_[i]->RequestStop();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    pool_.Stop();
    if (!shards_.empty()) shards_.front()->Drain();
    for (const auto& shard : shards_) shard->CloseSockets();
  }

  std::vector<std::unique_ptr<EpollExecutor>> shards_;
  std::vector<std::thread> threads_;
  BlockingPool pool_;  // dies first: its threads post to the shards
  bool ran_ = false;
};

Task<int> RunTestMain(std::function<Task<void>()>* main) {
  Task<void> task = (*main)();
  co_await std::move(task);
  co_return 0;
}

}  // namespace

Result<std::unique_ptr<Runtime>> Runtime::Start(RuntimeOptions options) {
  // sendfile has no flag against it: writing to a socket whose peer has gone would end the process.
  std::signal(SIGPIPE, SIG_IGN);
  STROM_ASSIGN(auto runtime, EpollRuntime::Make(options));
  return std::unique_ptr<Runtime>(std::move(runtime));
}

void RunForTest(std::function<Task<void>()> main) {
  auto runtime = Runtime::Start({.shards = 1, .blocking_threads = 2});
  STROM_ASSERT(runtime.ok(), "{}", runtime.ToString());
  runtime.value()->Run([&main] { return RunTestMain(&main); });
}

ShardCounters& Counters() {
  static constinit thread_local ShardCounters counters;
  return counters;
}

}  // namespace strom::rt
