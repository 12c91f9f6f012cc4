#include "sim/run.h"

#include <gtest/gtest.h>

#include "base/log.h"

namespace strom::sim {
namespace {

TEST(Run, OfTheSameSeedIsTheSameAndOfAnotherIsAnother) {
  InitLog({.level = LogLevel::kOff, .file = {}});
  for (uint64_t seed = 1001; seed <= 1004; ++seed) {
    const RunResult first = RunSeed(seed, false);
    const RunResult second = RunSeed(seed, false);
    EXPECT_TRUE(first.passed) << "seed " << seed << ": " << first.violation;
    EXPECT_EQ(first.digest, second.digest) << "seed " << seed;
    EXPECT_EQ(first.events, second.events) << "seed " << seed;
    EXPECT_NE(first.digest, RunSeed(seed + 1, false).digest) << "seed " << seed;
  }
}

}  // namespace
}  // namespace strom::sim
