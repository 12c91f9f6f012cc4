#include "load/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace strom::bench {
namespace {

TEST(HistogramTest, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.At(0.5), 0);
}

TEST(HistogramTest, KeepsSmallValuesExactly) {
  Histogram histogram;
  for (int64_t value = 0; value < 200; ++value) histogram.Add(value);
  EXPECT_EQ(histogram.At(0.5), 99);
  EXPECT_EQ(histogram.At(1), 199);
}

TEST(HistogramTest, AgreesWithASortedListToOnePercent) {
  constexpr uint64_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  Histogram histogram;
  std::vector<int64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<int64_t>(random.Next() >> random.Between(1, 63)));
    histogram.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double quantile : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const int64_t exact = values[static_cast<size_t>(std::ceil(quantile * 20'000)) - 1];
    EXPECT_GE(histogram.At(quantile), exact) << quantile;
    EXPECT_LE(static_cast<double>(histogram.At(quantile)), static_cast<double>(exact) * 1.01 + 1) << quantile;
  }
  EXPECT_EQ(histogram.max(), values.back());
}

TEST(HistogramTest, TakesTheLargestValueAndNegativeOnes) {
  Histogram histogram;
  histogram.Add(INT64_MAX);
  histogram.Add(-5);
  EXPECT_EQ(histogram.At(1), INT64_MAX);
  EXPECT_EQ(histogram.At(0.1), 0);
}

}  // namespace
}  // namespace strom::bench
