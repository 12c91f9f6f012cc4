#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "base/random.h"
#include "base/result.h"

namespace strom {
namespace {

TEST(Crc32c, GivesTheCheckValueOfTheStandard) {
  EXPECT_EQ(Crc32c(AsBytes("123456789")), 0xE3069283U);
  EXPECT_EQ(internal::Crc32cPortable(AsBytes("123456789"), 0), 0xE3069283U);
}

TEST(Crc32c, IsTheSameInAnyNumberOfPartsAndWithoutHardware) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    MutableBuffer bytes;
    const size_t size = random.Below(round % 4 == 0 ? 10'000 : 300);
    for (size_t i = 0; i < size; ++i) bytes.AppendByte(static_cast<uint8_t>(random.Next()));
    const size_t cut = random.Below(size + 1);
    const ByteView all = bytes.view();
    EXPECT_EQ(Crc32c(all.subspan(cut), Crc32c(all.first(cut))), Crc32c(all));
    EXPECT_EQ(internal::Crc32cPortable(all, 0), Crc32c(all));
  }
}

TEST(Buffer, SliceKeepsItsParentAlive) {
  Buffer slice;
  {
    const Buffer whole = Buffer::CopyOf("hello world");
    slice = whole.Slice(6, 5);
  }
  EXPECT_EQ(slice.text(), "world");
}

TEST(MutableBuffer, FreezesWithoutACopy) {
  MutableBuffer bytes;
  bytes.Append(std::string_view("abc"));
  const uint8_t* before = bytes.data();
  const Buffer frozen = bytes.Freeze();
  EXPECT_EQ(frozen.data(), before);
  EXPECT_EQ(frozen.text(), "abc");
  EXPECT_EQ(bytes.size(), 0U);
}

TEST(Endian, ReadsBothOrders) {
  const uint8_t bytes[] = {1, 2, 3, 4};
  EXPECT_EQ(LoadLe<int32_t>(bytes), 0x04030201);
  EXPECT_EQ(LoadBe<int32_t>(bytes), 0x01020304);
}

Result<int> Half(int n) {
  if (n % 2 != 0) return MakeError(ErrorCode::kInvalidConfig, "{} is odd", n);
  return n / 2;
}

Status Quarter(int n, int* out) {
  STROM_ASSIGN(const int half, Half(n));
  STROM_ASSIGN(*out, Half(half));
  return Status::OK();
}

TEST(Result, MacrosPassOnTheFirstError) {
  int quarter = 0;
  EXPECT_TRUE(Quarter(8, &quarter).ok());
  EXPECT_EQ(quarter, 2);
  EXPECT_EQ(Quarter(6, &quarter).ToString(), "INVALID_CONFIG_EXCEPTION: 3 is odd");
}

TEST(ErrorCode, InternalCodesReachClientsThroughOneMapping) {
  EXPECT_EQ(ToWireCode(ErrorCode::kNoSpace), ErrorCode::kStorageException);
  EXPECT_TRUE(IsRetriable(ToWireCode(ErrorCode::kNoSpace)));
  EXPECT_EQ(ToWireCode(ErrorCode::kTableNotExist), ErrorCode::kTableNotExist);
}

}  // namespace
}  // namespace strom
