#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "rt/executor.h"
#include "rt/task.h"

namespace strom::rt {

namespace internal {

template <typename R>
struct TaskValue {
  using Type = R;
  static constexpr bool kIsTask = false;
};
template <typename T>
struct TaskValue<Task<T>> {
  using Type = T;
  static constexpr bool kIsTask = true;
};

struct Unit {};
template <typename T>
using Stored = std::conditional_t<std::is_void_v<T>, Unit, T>;

/// Resumes a coroutine of another shard.
class ResumeMessage final : public Message {
 public:
  explicit ResumeMessage(std::coroutine_handle<> handle) : handle_(handle) {}
  void Run() override { Resume(handle_); }

 private:
  std::coroutine_handle<> handle_;
};

/// The frame of the call stays on the caller's side until the answer has come, so the message may point into it.
template <typename F, typename T>
class CallMessage final : public Message {
 public:
  CallMessage(F* function, std::optional<Stored<T>>* result, Executor* caller, std::coroutine_handle<> awaiter)
      : function_(function), result_(result), caller_(caller), awaiter_(awaiter) {}
  void Run() override { Spawn(Perform(function_, result_, caller_, awaiter_)); }

 private:
  static Task<void> Perform(F* function, std::optional<Stored<T>>* result, Executor* caller,
                            std::coroutine_handle<> awaiter) {
    using R = std::invoke_result_t<F&>;
    if constexpr (TaskValue<R>::kIsTask) {
      // The task dies before the caller goes on: it may look at what the function holds.
      R task = (*function)();
      if constexpr (std::is_void_v<T>) {
        co_await std::move(task);
        result->emplace();
      } else {
        T value = co_await std::move(task);
        result->emplace(std::move(value));
      }
      task = R();
    } else if constexpr (std::is_void_v<T>) {
      (*function)();
      result->emplace();
    } else {
      result->emplace((*function)());
    }
    caller->PostMessage(std::make_unique<ResumeMessage>(awaiter));
  }

  F* function_;
  std::optional<Stored<T>>* result_;
  Executor* caller_;
  std::coroutine_handle<> awaiter_;
};

template <typename F, typename T>
struct CallAwaiter {
  Executor& target;
  F& function;
  std::optional<Stored<T>> result;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiter) {
    target.PostMessage(
        std::make_unique<CallMessage<F, T>>(&function, &result, &Executor::Current(), awaiter));
  }
  Stored<T> await_resume() { return std::move(*result); }
};

template <typename F>
struct BlockingAwaiter {
  using R = std::invoke_result_t<F&>;
  F& function;
  std::optional<Stored<R>> result;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiter) {
    Executor::Current().SubmitBlocking(
        [this] {
          if constexpr (std::is_void_v<R>) {
            function();
            result.emplace();
          } else {
            result.emplace(function());
          }
        },
        awaiter);
  }
  Stored<R> await_resume() { return std::move(*result); }
};

template <typename F>
auto PerformCall(uint32_t shard, F function) -> Task<typename TaskValue<std::invoke_result_t<F&>>::Type> {
  using R = std::invoke_result_t<F&>;
  using T = typename TaskValue<R>::Type;
  if (shard == ThisShard()) {
    if constexpr (TaskValue<R>::kIsTask) {
      R task = function();
      if constexpr (std::is_void_v<T>) {
        co_await std::move(task);
        co_return;
      } else {
        T value = co_await std::move(task);
        co_return value;
      }
    } else {
      co_return function();
    }
  }
  CallAwaiter<F, T> call{Executor::Current().peer(shard), function, {}};
  if constexpr (std::is_void_v<T>) {
    co_await call;
    co_return;
  } else {
    T value = co_await call;
    co_return value;
  }
}

template <typename F>
auto PerformBlocking(F function) -> Task<std::invoke_result_t<F&>> {
  using R = std::invoke_result_t<F&>;
  BlockingAwaiter<F> wait{function, {}};
  if constexpr (std::is_void_v<R>) {
    co_await wait;
    co_return;
  } else {
    R value = co_await wait;
    co_return value;
  }
}

/// A task that was made with a function object whose captures have destructors. It must get a name before it is awaited:
/// g++ 12 destroys the captures of a lambda twice when the lambda is a temporary of the expression that holds the co_await.
template <typename T>
class [[nodiscard]] UnnamedTask {
 public:
  explicit UnnamedTask(Task<T> task) : task_(std::move(task)) {}
  operator Task<T>() && { return std::move(task_); }  // NOLINT: implicit on purpose
  template <typename U = T>
  Task<T>::Awaiter operator co_await() && {
    static_assert(!std::is_same_v<T, U>,
                  "g++ 12 destroys the lambda's captures twice here: write `Task<T> call = CallOn(...);` and then "
                  "`co_await std::move(call);`, or give the lambda a name");
  }

 private:
  Task<T> task_;
};

template <typename F, typename T>
auto Unnamed(Task<T> task) {
  if constexpr (std::is_lvalue_reference_v<F> || std::is_trivially_destructible_v<F>) {
    return task;
  } else {
    return UnnamedTask<T>(std::move(task));
  }
}

}  // namespace internal

/// Runs `function` (returning a value or a Task) on another shard and gives back what it returned, as a Task. The function
/// may be a lambda with captures as long as it is not itself a coroutine: a plain lambda that *returns* a Task made by a
/// named coroutine is right. It is run even when `shard` is this one, then at once and without a message, so that the order
/// of two calls to one shard is the order in which they were made.
///
/// When the captures have destructors, name the task (or the lambda) before the co_await; anything else does not compile:
///   Task<Status> call = CallOn(shard, [buffer] { return Store(buffer); });
///   const Status stored = co_await std::move(call);
template <typename F>
auto CallOn(uint32_t shard, F&& function) {
  return internal::Unnamed<F>(internal::PerformCall<std::decay_t<F>>(shard, std::forward<F>(function)));
}

/// Runs `function` on the pool of blocking threads: fsync, cold reads, the metadata store. One hop for a whole batch of
/// work. `function` runs on another thread: it may touch only what it owns or what is thread safe. As to naming: see CallOn.
template <typename F>
auto Blocking(F&& function) {
  return internal::Unnamed<F>(internal::PerformBlocking<std::decay_t<F>>(std::forward<F>(function)));
}

}  // namespace strom::rt
