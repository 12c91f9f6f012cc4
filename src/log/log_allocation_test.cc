#include <gtest/gtest.h>

#include "base/testing/allocation_counter.h"
#include "log/testing/log_fixture.h"

namespace strom::log {
namespace {

using strom::testing::allocations;
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
