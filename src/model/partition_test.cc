#include "model/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

#include "model/layout.h"

namespace strom::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TablePath kTable{"db", "t"};
const std::vector<std::string> kKeys = {"dt", "region"};

TEST(PartitionSpecs, AreResolvedInTheTablesOrder) {
  const auto spec = ResolvePartitionSpec(kTable, kKeys, {{"region", "eu"}, {"dt", "2026"}}, true);
  ASSERT_TRUE(spec.ok()) << spec.ToString();
  EXPECT_EQ(spec->Name(), "2026$eu");
  EXPECT_EQ(spec->QualifiedName(), "dt=2026/region=eu");
  EXPECT_EQ(spec->ToSpec(), (PartitionSpec{{"dt", "2026"}, {"region", "eu"}}));
  EXPECT_TRUE(spec->Matches({{"region", "eu"}}));
  EXPECT_FALSE(spec->Matches({{"region", "us"}}));
  EXPECT_TRUE(spec->Matches({}));
}

TEST(PartitionSpecs, ThatDoNotFitAreRefused) {
  const auto code = [](const PartitionSpec& spec) { return ResolvePartitionSpec(kTable, kKeys, spec, true).code(); };
  EXPECT_EQ(code({{"dt", "a"}}), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(code({{"dt", "a"}, {"region", "b"}, {"dt", "c"}}), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(code({{"dt", "a"}, {"other", "b"}}), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(code({{"dt", "not valid!"}, {"region", "b"}}), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(code({{"dt", ""}, {"region", "b"}}), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(code({{"dt", "a$b"}, {"region", "b"}}), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(code({{"dt", "__x"}, {"region", "b"}}), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(ResolvePartitionSpec(kTable, kKeys, {{"dt", "__x"}, {"region", "b"}}, false).code(), ErrorCode::kNone);
  EXPECT_EQ(ResolvePartitionSpec(kTable, {}, {{"dt", "a"}}, true).code(), ErrorCode::kTableNotPartitioned);
  EXPECT_EQ(ValidatePartialSpec(kTable, kKeys, {{"region", "b"}}).code(), ErrorCode::kNone);
  EXPECT_EQ(ValidatePartialSpec(kTable, kKeys, {{"no", "b"}}).code(), ErrorCode::kPartitionSpecInvalid);
}

TEST(PartitionNames, HaveAValueForEachKey) {
  EXPECT_THAT(ParsePartitionName(kKeys, "a$b")->values, ElementsAre("a", "b"));
  EXPECT_FALSE(ParsePartitionName(kKeys, "a").ok());
  EXPECT_FALSE(ParsePartitionName(kKeys, "a$b$c").ok());
  EXPECT_FALSE(ParsePartitionName(kKeys, "").ok());
}

TEST(PartitionValues, OfAnotherTypeOrOutOfRangeAreRefused) {
  EXPECT_FALSE(PartitionValueToString(DataType::Decimal(5, 2), int64_t{1}).ok());
  EXPECT_FALSE(PartitionValueToString(DataType::Of(TypeRoot::kInteger), std::string("1")).ok());
  EXPECT_FALSE(PartitionValueToString(DataType::Time(3), int64_t{86400000}).ok());
  EXPECT_FALSE(PartitionValueToString(DataType::Timestamp(3), TimestampValue{0, 1000000}).ok());
  EXPECT_EQ(*PartitionValueToString(DataType::Of(TypeRoot::kDouble), 0.0), "0_0");
  EXPECT_EQ(*PartitionValueToString(DataType::Of(TypeRoot::kDouble), -0.0), "-0_0");
  EXPECT_EQ(*PartitionValueToString(DataType::Of(TypeRoot::kDate), int64_t{INT32_MIN}), "-5877641-06-23");
  EXPECT_TRUE(PartitionValueToString(DataType::Timestamp(3), TimestampValue{INT64_MIN, 0}).ok());
}

TEST(PartitionValues, OfFloatingPointAreJavasTextWithoutPoint) {
  const auto text = [](auto value) {
    return *PartitionValueToString(DataType::Of(std::is_same_v<decltype(value), float> ? TypeRoot::kFloat : TypeRoot::kDouble), value);
  };
  // Java gives the smallest numbers two digits: shortest digits alone would be 5.0E-324 and 1.0E-45.
  EXPECT_EQ(text(std::numeric_limits<double>::denorm_min()), "4_9E-324");
  EXPECT_EQ(text(std::numeric_limits<float>::denorm_min()), "1_4E-45");
  EXPECT_EQ(text(1e10), "1_0E10");
  EXPECT_EQ(text(1.5f), "1_5");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "Inf");
  EXPECT_EQ(text(-std::numeric_limits<float>::infinity()), "-Inf");
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(Layout, DirectoryNamesAreReadFromTheLastDash) {
  const auto table = ParseTableDirectoryName("my-table-2-150001");
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->table, "my-table-2");
  EXPECT_EQ(table->id, TableId(150001));
  const auto partition = ParsePartitionDirectoryName("eu$2024-01-01-p3");
  ASSERT_TRUE(partition.has_value());
  EXPECT_EQ(partition->partition_name, "eu$2024-01-01");
  EXPECT_EQ(partition->id, PartitionId(3));
  for (const std::string bad : {"", "t", "t-", "-1", "t-x", "t-1x", "t--", "t-99999999999999999999", "t-p1"}) {
    EXPECT_FALSE(ParseTableDirectoryName(bad).has_value()) << bad;
  }
  for (const std::string bad : {"", "p1", "-p1", "x-1", "x-p", "x-p-1", "x-p1y"})
    EXPECT_FALSE(ParsePartitionDirectoryName(bad).has_value()) << bad;
  EXPECT_EQ(ParseBucketDirectoryName("log-7", "log-"), BucketId(7));
  EXPECT_EQ(ParseBucketDirectoryName("kv-7", "log-"), std::nullopt);
  EXPECT_EQ(ParseBucketDirectoryName("log--7", "log-"), std::nullopt);
  EXPECT_EQ(ParseBucketDirectoryName("log-7.deleted", "log-"), std::nullopt);
}

TEST(Layout, FileNamesCarryTheirOffset) {
  EXPECT_EQ(ParseOffsetFileName("00000000000000123456.index", kOffsetIndexSuffix), LogOffset(123456));
  EXPECT_EQ(ParseOffsetFileName("09223372036854775807.writer_snapshot", kWriterSnapshotSuffix), LogOffset(INT64_MAX));
  EXPECT_EQ(ParseOffsetFileName("99999999999999999999.log", kSegmentSuffix), std::nullopt);
  EXPECT_EQ(ParseOffsetFileName("123456.log", kSegmentSuffix), std::nullopt);
  EXPECT_EQ(ParseOffsetFileName("0000000000000012345x.log", kSegmentSuffix), std::nullopt);
  EXPECT_EQ(ParseOffsetFileName("00000000000000123456.timeindex", kOffsetIndexSuffix), std::nullopt);
}

}  // namespace
}  // namespace strom::model
