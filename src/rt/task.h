#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "rt/executor.h"

namespace strom::rt {

template <typename T = void>
class Task;

namespace internal {

/// A finished task resumes its awaiter through the shard's ready queue, not by symmetric transfer: g++ 12 at -O0 grows the
/// stack with each transfer, and chains of awaits can be deep. A child that finishes without ever suspending does not pay
/// for it: await_suspend() of the awaiter sees that it is done and goes on at once.
struct PromiseBase {
  std::coroutine_handle<> awaiter;
  bool started_inline = false;  // the awaiter is still inside await_suspend()
  bool finished = false;

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      PromiseBase& promise = handle.promise();
      promise.finished = true;
      if (promise.awaiter && !promise.started_inline) Executor::Current().Post(promise.awaiter);
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }
  [[noreturn]] void unhandled_exception() noexcept {
    AssertFailed(__FILE__, __LINE__, "no exception", "an exception left a coroutine: libraries that throw are caught in their room");
  }
};

template <typename T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <typename U>
  void return_value(U&& from) {
    value.emplace(std::forward<U>(from));
  }
  T Take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void Take() {}
};

}  // namespace internal

/// A coroutine that runs when it is awaited (lazy), once, on the shard that awaits it. Move only.
///
/// Rules (style.md 6): coroutines are named functions with parameters by value or of shard lifetime; no capturing lambda
/// coroutines; temporaries are named before co_await; after every co_await the world may have moved.
template <typename T>
class [[nodiscard]] Task {
 public:
  using promise_type = internal::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;
  using Value = T;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  struct Awaiter {
    Handle child;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> awaiter) noexcept {
      promise_type& promise = child.promise();
      promise.awaiter = awaiter;
      promise.started_inline = true;
      child.resume();
      promise.started_inline = false;
      return !promise.finished;
    }
    T await_resume() { return child.promise().Take(); }
  };
  Awaiter operator co_await() && {
    STROM_ASSERT(handle_ && !handle_.done(), "a task is awaited once");
    return Awaiter{handle_};
  }

  /// Gives up ownership; for Spawn() only.
  Handle Release() { return std::exchange(handle_, nullptr); }

 private:
  Handle handle_;
};

namespace internal {
template <typename T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}
}  // namespace internal

/// Starts `task` now, on this shard, and lets it run to its end by itself. Whoever spawns owns a Gate that the task holds.
void Spawn(Task<void> task);

}  // namespace strom::rt
