#include "rt/task.h"

#include "base/assert.h"

namespace strom::rt {

namespace {
// Not inline and behind a call, so that no coroutine keeps the address of the thread's variable over a wait.
thread_local Executor* current_executor = nullptr;
}  // namespace

Executor& Executor::Current() {
  STROM_ASSERT(current_executor != nullptr, "this thread runs no executor");
  return *current_executor;
}

Executor* Executor::CurrentOrNull() { return current_executor; }

Executor::Scope::Scope(Executor* executor) : previous_(std::exchange(current_executor, executor)) {}

Executor::Scope::~Scope() { current_executor = previous_; }

MonotonicTime Now() { return Executor::Current().Now(); }

TimestampMs WallClockNow() { return Executor::Current().WallClockNow(); }

void Spawn(Task<void> task) {
  Task<void>::Handle handle = task.Release();
  STROM_ASSERT(handle && !handle.done(), "a task is started once");
  handle.promise().detached = true;
  internal::Resume(handle);
}

namespace internal {

void* AllocateNewFrame(size_t size) {
  const size_t rounded = (size + kFrameGrain - 1) / kFrameGrain * kFrameGrain;
  void* memory = std::malloc(rounded);
  STROM_ASSERT(memory != nullptr, "no memory for a coroutine of {} bytes", size);
  return memory;
}

void EnableFrameCache(bool enabled) {
  frame_cache.enabled = enabled && kKeepFrames;
  if (enabled) return;
  for (size_t size_class = 0; size_class < kFrameClasses; ++size_class) {
    FrameCache::FreeFrame* frame = std::exchange(frame_cache.free[size_class], nullptr);
    while (frame != nullptr) std::free(std::exchange(frame, frame->next));
    frame_cache.count[size_class] = 0;
  }
}

}  // namespace internal

}  // namespace strom::rt
