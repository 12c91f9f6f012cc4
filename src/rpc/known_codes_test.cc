#include "rpc/known_codes.h"

#include <gtest/gtest.h>

#include "base/error_code.h"
#include "rpc/messages.h"

namespace strom::rpc {
namespace {

constexpr int32_t kLastCode = 74;

bool IsKnown(int32_t code, KnownCodes known) {
  switch (known) {
    case KnownCodes::kAll: return code <= kLastCode;
    case KnownCodes::kJava091: return code <= 63;
    case KnownCodes::kRust: return code <= 57 || code == 72;
  }
  return false;
}

TEST(KnownCodesTest, EveryCodeBecomesOneThatTheCallerKnowsAndTreatsAlike) {
  for (const KnownCodes known : {KnownCodes::kAll, KnownCodes::kJava091, KnownCodes::kRust}) {
    for (int32_t code = -1; code <= kLastCode; ++code) {
      SCOPED_TRACE(code);
      const int32_t told = ToKnownCode(code, known);
      EXPECT_TRUE(IsKnown(told, known)) << told;
      EXPECT_EQ(IsRetriable(static_cast<ErrorCode>(told)), IsRetriable(static_cast<ErrorCode>(code))) << told;
      if (IsKnown(code, known)) {
        EXPECT_EQ(told, code);
      }
    }
  }
}

TEST(KnownCodesTest, BackpressureIsAKvErrorForOldJavaOnly) {
  EXPECT_EQ(ToKnownCode(72, KnownCodes::kJava091), 11);
  EXPECT_EQ(ToKnownCode(72, KnownCodes::kRust), 72);
}

TEST(KnownCodesTest, JavaIsTakenForTheOldReleaseUntilItAsksForSomethingNew) {
  const auto key = [](ApiKey api) { return static_cast<int16_t>(api); };
  EXPECT_EQ(KnownCodesOfClient("fluss-rust"), KnownCodes::kRust);
  EXPECT_EQ(KnownCodesOfClient("strom"), KnownCodes::kAll);
  const KnownCodes java = KnownCodesOfClient("fluss");
  EXPECT_EQ(java, KnownCodes::kJava091);
  EXPECT_EQ(LearnFromRequest(java, key(ApiKey::kPutKv), 1), KnownCodes::kJava091);
  EXPECT_EQ(LearnFromRequest(java, key(ApiKey::kPutKv), 2), KnownCodes::kAll);
  EXPECT_EQ(LearnFromRequest(java, key(ApiKey::kGetTableStats), 0), KnownCodes::kJava091);
  EXPECT_EQ(LearnFromRequest(java, key(ApiKey::kScanKv), 0), KnownCodes::kAll);
  EXPECT_EQ(LearnFromRequest(KnownCodes::kRust, key(ApiKey::kPutKv), 3), KnownCodes::kRust);
}

TEST(KnownCodesTest, CodesInsideAResponseAreTranslatedToo) {
  ProduceLogResponse response;
  for (const int32_t code : {70, 0, -1}) response.buckets_resp.push_back({.bucket_id = 1, .error_code = code});
  response.buckets_resp.push_back({.bucket_id = 2});
  ProduceLogResponse seen;
  const Buffer bytes = *rt::Flatten(Encode(response, KnownCodes::kRust));
  ASSERT_TRUE(Decode(bytes, &seen).ok());
  ASSERT_EQ(seen.buckets_resp.size(), 4u);
  EXPECT_EQ(seen.buckets_resp[0].error_code, 26);
  EXPECT_EQ(seen.buckets_resp[1].error_code, 0);
  EXPECT_EQ(seen.buckets_resp[2].error_code, -1);
  EXPECT_FALSE(seen.buckets_resp[3].error_code.has_value());

  LimitScanResponse scan;
  scan.error_code = 74;
  LimitScanResponse seen_scan;
  const Buffer scan_bytes = *rt::Flatten(Encode(scan, KnownCodes::kJava091));
  ASSERT_TRUE(Decode(scan_bytes, &seen_scan).ok());
  EXPECT_EQ(seen_scan.error_code, 27);
}

}  // namespace
}  // namespace strom::rpc
