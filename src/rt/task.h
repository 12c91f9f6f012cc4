#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "rt/executor.h"
#include "rt/frame_cache.h"

namespace strom::rt {

template <typename T = void>
class Task;

namespace internal {

/// What this thread resumes next. Awaiting a task and finishing one are a *transfer*: the coroutine suspends, the stack
/// unwinds to Resume() below, and that goes on with the other coroutine at once, before anything else that is ready. This is
/// symmetric transfer made by hand: g++ 12 at -O0 grows the stack with each transfer of the language, and chains of awaits
/// can be deep. While no Resume() runs on the thread the value is the address of `no_trampoline`.
inline char no_trampoline = 0;
inline constinit thread_local void* next_to_resume = &no_trampoline;

inline void TransferTo(std::coroutine_handle<> handle) {
  STROM_ASSERT(next_to_resume == nullptr,
               "a coroutine is resumed by Executor::Post() or rt::internal::Resume(), never by resume() itself");
  next_to_resume = handle.address();
}

/// Resumes `handle` and all that it transfers to, until one of them waits. For executors and their messages; may be nested.
inline void Resume(std::coroutine_handle<> handle) {
  void* const outer = std::exchange(next_to_resume, nullptr);
  for (void* next = handle.address(); next != nullptr; next = std::exchange(next_to_resume, nullptr)) {
    std::coroutine_handle<>::from_address(next).resume();
  }
  next_to_resume = outer;
}

struct PromiseBase {
  std::coroutine_handle<> awaiter;
  bool detached = false;  // spawned: the frame destroys itself at the end

  static void* operator new(size_t size) { return AllocateFrame(size); }
  static void operator delete(void* frame, size_t size) { FreeFrame(frame, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct FinalAwaiter {
    bool detached;
    // Ready: the coroutine runs off its end, which destroys the frame.
    bool await_ready() noexcept { return detached; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      TransferTo(handle.promise().awaiter);
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {detached}; }
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

/// A coroutine that runs when it is awaited (lazy), once, on the shard that awaits it. Move only. Its first step runs at
/// once, inside the co_await; when it has finished, its awaiter goes on at once, before other work that is ready. Any depth
/// of awaits takes a bounded stack.
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
    void await_suspend(std::coroutine_handle<> awaiter) noexcept {
      child.promise().awaiter = awaiter;
      TransferTo(child);
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

/// Starts `task` now, on this shard, and lets it run to its end by itself: it has run to its first wait when Spawn() returns.
/// Whoever spawns owns a Gate that the task holds.
void Spawn(Task<void> task);

}  // namespace strom::rt
