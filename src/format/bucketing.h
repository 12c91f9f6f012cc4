#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace strom::format {

/// `table.datalake.format`: decides how keys are encoded and spread over buckets.
enum class LakeFormat : uint8_t { kNone, kPaimon, kIceberg, kLance, kHudi };

/// "paimon", "ICEBERG"; nothing is kNone. kInvalidConfig for other names.
Result<LakeFormat> ParseLakeFormat(std::optional<std::string_view> name);

/// The bucket of an encoded bucket key, 0 to bucket_count - 1 (spec/formats.md 8.2). An empty key is an error, as is a Hudi key of other than
/// 4 bytes and a bucket count below 1.
Result<int32_t> BucketOf(LakeFormat lake, ByteView key, int32_t bucket_count);

/// Murmur3 with the reference's tail: each remaining byte is mixed as a word of its own, sign-extended (spec/formats.md 16.4).
int32_t MurmurOfKey(ByteView key);
/// What the default bucketing does with it: murmur of the number, never negative.
int32_t MathMurmur(int32_t code);
/// Standard murmur3_x86_32 with seed 0, for Iceberg.
uint32_t Murmur3(ByteView key);

}  // namespace strom::format
