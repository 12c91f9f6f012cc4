#pragma once

// Counts the allocations of a test program: it replaces operator new, so one source file of the program includes it.

#include <cstdint>
#include <cstdlib>
#include <new>

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace strom::testing {
/// Allocations of this thread so far.
inline thread_local uint64_t allocations = 0;
}  // namespace strom::testing

void* operator new(size_t size) {
  ++strom::testing::allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
