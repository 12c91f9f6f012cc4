#include "base/java_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace strom {
namespace {

TEST(JavaText, PlainAndScientific) {
  EXPECT_EQ(JavaText(0.0), "0.0");
  EXPECT_EQ(JavaText(-0.0), "-0.0");
  EXPECT_EQ(JavaText(1.0), "1.0");
  EXPECT_EQ(JavaText(100.0), "100.0");
  EXPECT_EQ(JavaText(0.001), "0.001");
  EXPECT_EQ(JavaText(0.00999), "0.00999");
  EXPECT_EQ(JavaText(9999999.0), "9999999.0");
  EXPECT_EQ(JavaText(1.0e7), "1.0E7");
  EXPECT_EQ(JavaText(1.0e-5), "1.0E-5");
  EXPECT_EQ(JavaText(12345.678), "12345.678");
  EXPECT_EQ(JavaText(2e23), "2.0E23");
  EXPECT_EQ(JavaText(-0.001f), "-0.001");
  EXPECT_EQ(JavaText(1e10f), "1.0E10");
}

TEST(JavaText, Bounds) {
  EXPECT_EQ(JavaText(std::numeric_limits<double>::denorm_min()), "4.9E-324");
  EXPECT_EQ(JavaText(std::numeric_limits<double>::max()), "1.7976931348623157E308");
  EXPECT_EQ(JavaText(std::numeric_limits<float>::denorm_min()), "1.4E-45");
  EXPECT_EQ(JavaText(std::numeric_limits<float>::max()), "3.4028235E38");
  EXPECT_EQ(JavaText(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(JavaText(-std::numeric_limits<float>::infinity()), "-Infinity");
}

}  // namespace
}  // namespace strom
