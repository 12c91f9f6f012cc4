#include "format/arrow_compression.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace strom::format {
namespace {

std::string Repeating(size_t size) {
  std::string bytes(size, 'x');
  for (size_t i = 0; i < size; i += 7) bytes[i] = static_cast<char>(i);
  return bytes;
}

std::string Noise(size_t size) {
  Random random(1);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random.Next());
  return bytes;
}

MutableBuffer Compress(ArrowCodec codec, std::string_view bytes) {
  MutableBuffer out;
  ArrowCompressor compressor({.codec = codec});
  EXPECT_TRUE(compressor.Append(AsBytes(bytes), &out).ok());
  return out;
}

class BothCodecs : public testing::TestWithParam<ArrowCodec> {};
INSTANTIATE_TEST_SUITE_P(ArrowCompression, BothCodecs, testing::Values(ArrowCodec::kLz4Frame, ArrowCodec::kZstd));

TEST_P(BothCodecs, BuffersOfAnySizeComeBack) {
  for (const size_t size : {0, 1, 7, 100, 65'536, 65'537, 1'000'000}) {
    for (const std::string& bytes : {Repeating(size), Noise(size)}) {
      const MutableBuffer stored = Compress(GetParam(), bytes);
      MutableBuffer room;
      const Result<ByteView> read = DecompressArrowBuffer(GetParam(), stored.view(), size, &room);
      ASSERT_TRUE(read.ok()) << read.ToString();
      EXPECT_TRUE(AsText(read.value()) == bytes) << size << " bytes";
    }
  }
}

TEST_P(BothCodecs, WhatDoesNotShrinkIsStoredRaw) {
  const std::string bytes = Noise(1000);
  const MutableBuffer stored = Compress(GetParam(), bytes);
  ASSERT_EQ(stored.size(), 1008u);
  EXPECT_EQ(LoadLe<int64_t>(stored.data()), -1);
}

TEST_P(BothCodecs, JavasFormOfAnEmptyBufferIsRead) {
  const std::string zeros(8, '\0');
  MutableBuffer room;
  EXPECT_TRUE(DecompressArrowBuffer(GetParam(), AsBytes(zeros), 0, &room).value().empty());
}

TEST_P(BothCodecs, MoreThanTheCallerAllowsIsRefused) {
  const MutableBuffer stored = Compress(GetParam(), Repeating(10'000));
  MutableBuffer room;
  EXPECT_EQ(DecompressArrowBuffer(GetParam(), stored.view(), 9'999, &room).code(), ErrorCode::kCorruptRecord);
}

TEST_P(BothCodecs, AnAnnouncedSizeThatIsWrongIsRefused) {
  for (const int64_t announced : {int64_t{9'999}, int64_t{10'001}, int64_t{1} << 40, int64_t{-2}}) {
    MutableBuffer stored = Compress(GetParam(), Repeating(10'000));
    StoreLe(stored.data(), announced);
    MutableBuffer room;
    EXPECT_EQ(DecompressArrowBuffer(GetParam(), stored.view(), UINT64_MAX, &room).code(), ErrorCode::kCorruptRecord) << announced;
    EXPECT_LT(room.capacity(), 2u << 20) << "memory follows the frame, not the announcement";
  }
}

TEST_P(BothCodecs, AFrameThatIsCutOffIsRefused) {
  const MutableBuffer stored = Compress(GetParam(), Repeating(10'000));
  for (size_t size = 1; size < stored.size(); ++size) {
    MutableBuffer room;
    EXPECT_FALSE(DecompressArrowBuffer(GetParam(), stored.view().first(size), UINT64_MAX, &room).ok()) << size << " bytes";
  }
}

// Java throws for linked blocks (spec/formats.md 3.1); bit 5 of the frame's flags, bits 4 to 6 of the next byte are the block size.
TEST(ArrowCompression, Lz4FramesHaveIndependentBlocksOf64KiBAndNoChecksums) {
  const MutableBuffer stored = Compress(ArrowCodec::kLz4Frame, Repeating(200'000));
  ASSERT_EQ(LoadLe<uint32_t>(stored.data() + 8), 0x184D2204u);
  EXPECT_EQ(stored.data()[12], 0x60);
  EXPECT_EQ(stored.data()[13], 0x40);
}

}  // namespace
}  // namespace strom::format
