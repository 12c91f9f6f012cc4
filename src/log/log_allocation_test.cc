#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "log/testing/log_fixture.h"

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace {
thread_local uint64_t allocations = 0;
}

// Counts the allocations of this program's threads.
void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace strom::log {
namespace {

using namespace testing;

TEST(LogAppend, WritesOnceAndAllocatesNothingPerBatchOrRecord) {
  Machine machine;
  ASSERT_OK(machine.Open());
  std::vector<Buffer> parts;
  for (int i = 0; i < 100; ++i) parts.push_back(MakeBatch(20));
  const Buffer request = Concat(parts);
  for (int i = 0; i < 3; ++i) ASSERT_OK(machine.Append(request));
  const uint64_t writes = machine.disk->writes_to(".log");
  const uint64_t before = allocations;
  ASSERT_OK(machine.Append(request));
  const uint64_t after = allocations;
  EXPECT_EQ(machine.disk->writes_to(".log"), writes + 1);
  // The simulated disk itself takes some (its pages and its copy of the pieces); none may follow the 100 batches or 2,000 records.
  EXPECT_LE(after - before, 80u);
}

}  // namespace
}  // namespace strom::log
