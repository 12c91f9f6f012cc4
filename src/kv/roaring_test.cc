#include <gtest/gtest.h>

#include "base/random.h"
#include "kv/roaring32.h"
#include "kv/roaring64.h"
#include "kv/testing/roaring_images.h"

namespace strom::kv {
namespace {

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::string ToHex(ByteView bytes) {
  std::string hex;
  for (const uint8_t byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

template <typename Union>
std::string United(std::string_view accumulator, std::string_view input) {
  MutableBuffer out;
  const Status united = Union().Unite(AsBytes(accumulator), AsBytes(input), &out);
  return united.ok() ? ToHex(out.view()) : united.ToString();
}

struct Case {
  const char* what;
  const char* accumulator;
  const char* input;
  const char* result;
};

// Made with RoaringBitmap 1.3.0. An array becomes a run container where 2 + 4 * runs < 2 * cardinality; a run container stays one where
// 2 + 4 * runs <= 2 + 2 * cardinality.
constexpr Case kTies[] = {
    {"1 run of 3 stays an array", "3a30000001000000000001001000000001000200", "3a3000000100000000000000100000000300",
     "3a300000010000000000020010000000010002000300"},
    {"1 run of 4 does not", "3a30000001000000000001001000000001000200", "3a30000001000000000001001000000003000400",
     "3b3000000100000300010001000300"},
    {"a run container with 3 runs of 7", "3b3000000100000300010001000300",
     "3a30000001000000000002001000000009000a001400", "3b30000001000006000300010003000900010014000000"},
    {"and with 3 runs of 6", "3b3000000100000300010001000300", "3a30000001000000000001001000000009001400",
     "3b30000001000005000300010003000900000014000000"},
    {"but 4 runs of 7 are an array again", "3b3000000100000300010001000300",
     "3a300000010000000000020010000000090014001e00", "3a3000000100000000000600100000000100020003000400090014001e00"},
};

TEST(Roaring32, ChoosesContainersAsJavaDoesWhereTheirSizesAreClose) {
  for (const Case& test : kTies) {
    SCOPED_TRACE(test.what);
    EXPECT_EQ(United<Roaring32Union>(FromHex(test.accumulator), FromHex(test.input)), test.result);
  }
}

TEST(Roaring64, ReadsALeafThatKeptThePrefixOfARemovedBranch) {
  // Java 1.3.0: 7 and 5 << 40 | 3 were added, 7 was removed again.
  EXPECT_EQ(United<Roaring64Union>(FromHex("01010000000000000004000003000005000005000000010000000000000001000000fe02000"
                                           "0000001020100000003000100000000000000"
                                           "0000000001000000"),
                                   FromHex("01010000000000000004000000000009000000000000000000000001000000fe01000000010"
                                           "201000000000001000000000000000000000000000000")),
            "0102000000000000000002000200000000090504000000000005000000010000000000000004000000000009000000020000000000"
            "000001000000fe030000000001"
            "02010000000300010201000000000002000000000000000000000002000000");
}

/// Clusters of values, so that all kinds of containers come up and meet.
std::set<uint64_t> RandomValues(Random* random, uint64_t mask) {
  std::set<uint64_t> values;
  for (uint64_t clusters = random->Below(6); clusters > 0; --clusters) {
    uint64_t value = random->OneIn(2) ? random->Below(5) << 16 : random->Next() & ~random->Below(0x10000);
    const uint64_t step_max = 1 + random->Below(random->OneIn(4) ? 60 : 4);
    for (uint64_t count = random->OneIn(6) ? random->Below(7000) : random->Below(50); count > 0; --count) {
      values.insert(value & mask);
      value += 1 + random->Below(step_max);
    }
  }
  return values;
}

TEST(Roaring32, UnitesWhatTwoSetsHold) {
  Roaring32Union merge;
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    std::set<uint64_t> all;
    Buffer image = testing::Roaring32Image({});
    for (int i = 0; i < 4; ++i) {
      const std::set<uint64_t> more = RandomValues(&random, 0xFFFFFFFF);
      all.insert(more.begin(), more.end());
      MutableBuffer out;
      ASSERT_TRUE(merge.Unite(image.view(), testing::Roaring32Image({more.begin(), more.end()}).view(), &out).ok());
      image = out.Freeze();
      ASSERT_EQ(testing::Roaring32Values(image.view()), std::vector<uint64_t>(all.begin(), all.end()));
    }
  }
}

TEST(Roaring64, UnitesWhatTwoSetsHold) {
  Roaring64Union merge;
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    std::set<uint64_t> all;
    Buffer image = testing::Roaring64Image({});
    for (int i = 0; i < 4; ++i) {
      const std::set<uint64_t> more = RandomValues(&random, ~uint64_t{0});
      all.insert(more.begin(), more.end());
      MutableBuffer out;
      ASSERT_TRUE(merge.Unite(image.view(), testing::Roaring64Image({more.begin(), more.end()}).view(), &out).ok());
      image = out.Freeze();
      ASSERT_EQ(testing::Roaring64Values(image.view()), std::vector<uint64_t>(all.begin(), all.end()));
    }
  }
}

TEST(Roaring64, TakesTreesOfEveryNodeType) {
  // One container for each key: 1, 3, 10, 40, 200 and 256 children of one node, in an order of their own.
  for (const uint64_t children : {1, 3, 10, 40, 200, 256}) {
    std::vector<uint64_t> values;
    for (uint64_t i = 0; i < children; ++i) values.push_back((i * 7 + 3) % 257 % 256 << 24 | i);
    const Buffer image = testing::Roaring64Image(values);
    std::set<uint64_t> sorted(values.begin(), values.end());
    EXPECT_EQ(testing::Roaring64Values(image.view()), std::vector<uint64_t>(sorted.begin(), sorted.end()));
  }
}

/// Every cut and every flipped bit is refused, or is a bitmap that can be written and read again.
template <typename Union>
void Damage(const Buffer& image, const Buffer& empty) {
  Union merge;
  MutableBuffer out;
  for (size_t size = 0; size < image.size(); ++size)
    EXPECT_EQ(merge.Unite(image.view().first(size), empty.view(), &out).code(), ErrorCode::kCorruptRecord);
  EXPECT_EQ(out.size(), 0U);
  std::string damaged(image.text());
  for (size_t bit = 0; bit < 8 * damaged.size(); ++bit) {
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << (bit % 8));
    out.Clear();
    if (merge.Unite(empty.view(), AsBytes(damaged), &out).ok()) {
      MutableBuffer again;
      EXPECT_TRUE(merge.Unite(empty.view(), out.view(), &again).ok());
    }
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << (bit % 8));
  }
}

TEST(Roaring32, RefusesDamageWithoutATrace) {
  const Buffer empty = testing::Roaring32Image({});
  MutableBuffer mixed;
  ASSERT_TRUE(
      Roaring32Union()
          .Unite(testing::Roaring32Image({1, 2, 3, 4, 5, 70000, 1U << 20, 1U << 21}).view(), empty.view(), &mixed)
          .ok());
  Damage<Roaring32Union>(mixed.Freeze(), empty);
}

TEST(Roaring64, RefusesDamageWithoutATrace) {
  std::vector<uint64_t> values = {1, 2, 3, 4, 5, 6, uint64_t{1} << 40, uint64_t{7} << 60};
  for (uint64_t i = 0; i < 20; ++i) values.push_back(i << 30 | i);
  Damage<Roaring64Union>(testing::Roaring64Image(values), testing::Roaring64Image({}));
}

TEST(Roaring64, SaysWhichValueIsWrongAndWhere) {
  const Buffer image = testing::Roaring64Image({1});
  MutableBuffer out;
  const Status refused = Roaring64Union().Unite(image.view(), AsBytes("\x02"), &out);
  EXPECT_EQ(refused.error().message,
            "the written value of 1 bytes is no 64-bit Roaring bitmap: it does not start with 0 or 1, near byte 1");
}

}  // namespace
}  // namespace strom::kv
