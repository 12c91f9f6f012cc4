#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace strom::rt::internal {

/// Frames of coroutines that died on this thread, kept for the next ones: a frame is the one allocation of a read, a write
/// or a call. Sizes are rounded up to a multiple of kFrameGrain, and each size keeps a bounded list.
inline constexpr size_t kFrameGrain = 64;        // bytes
inline constexpr size_t kFrameClasses = 16;      // frames of up to 1 KiB are kept
inline constexpr uint32_t kFramesKeptMax = 512;  // of each size

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kKeepFrames = false;  // so that the sanitizer sees a use after the end
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kKeepFrames = false;
#else
inline constexpr bool kKeepFrames = true;
#endif
#else
inline constexpr bool kKeepFrames = true;
#endif

struct FrameCache {
  struct FreeFrame {
    FreeFrame* next;
  };
  FreeFrame* free[kFrameClasses] = {};
  uint32_t count[kFrameClasses] = {};
  bool enabled = false;  // on the threads of executors only: they release the cache at their end
};
inline constinit thread_local FrameCache frame_cache;

/// Memory for a coroutine's frame. Out of memory ends the process: there is no way to answer without memory.
void* AllocateNewFrame(size_t size);
/// Lets this thread keep frames, or not, and frees those that it has kept.
void EnableFrameCache(bool enabled);

inline void* AllocateFrame(size_t size) {
  const size_t size_class = (size - 1) / kFrameGrain;
  if (size_class < kFrameClasses) {
    FrameCache& cache = frame_cache;
    if (FrameCache::FreeFrame* frame = cache.free[size_class]; frame != nullptr) {
      cache.free[size_class] = frame->next;
      --cache.count[size_class];
      return frame;
    }
  }
  return AllocateNewFrame(size);
}

inline void FreeFrame(void* memory, size_t size) {
  const size_t size_class = (size - 1) / kFrameGrain;
  FrameCache& cache = frame_cache;
  if (size_class >= kFrameClasses || !cache.enabled || cache.count[size_class] >= kFramesKeptMax) {
    std::free(memory);
    return;
  }
  auto* frame = static_cast<FrameCache::FreeFrame*>(memory);
  frame->next = cache.free[size_class];
  cache.free[size_class] = frame;
  ++cache.count[size_class];
}

}  // namespace strom::rt::internal
