#include "format/bucketing.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/endian.h"

namespace strom::format {

namespace {

uint32_t MixK(uint32_t k) { return std::rotl(k * 0xcc9e2d51, 15) * 0x1b873593; }
uint32_t MixH(uint32_t h, uint32_t k) { return std::rotl(h ^ k, 13) * 5 + 0xe6546b64; }
uint32_t Finish(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  return h ^ (h >> 16);
}

uint32_t MixWords(ByteView key, uint32_t seed) {
  uint32_t h = seed;
  for (size_t i = 0; i + 4 <= key.size(); i += 4) h = MixH(h, MixK(LoadLe<uint32_t>(key.data() + i)));
  return h;
}

constexpr uint32_t kSeed = 42;

}  // namespace

int32_t MurmurOfKey(ByteView key) {
  uint32_t h = MixWords(key, kSeed);
  for (size_t i = key.size() / 4 * 4; i < key.size(); ++i) {
    const int32_t extended = static_cast<int8_t>(key[i]);
    h = MixH(h, MixK(static_cast<uint32_t>(extended)));
  }
  return static_cast<int32_t>(Finish(h ^ static_cast<uint32_t>(key.size())));
}

int32_t MathMurmur(int32_t code) {
  uint32_t h = MixK(static_cast<uint32_t>(code));
  h = std::rotl(h, 13) * 5 + 0xe6546b64;
  const auto hash = static_cast<int32_t>(Finish(h ^ 4));
  if (hash >= 0) return hash;
  return hash == std::numeric_limits<int32_t>::min() ? 0 : -hash;
}

uint32_t Murmur3(ByteView key) {
  uint32_t h = MixWords(key, 0);
  uint32_t tail = 0;
  for (size_t i = key.size(); i-- > key.size() / 4 * 4;) tail = tail << 8 | key[i];
  if (key.size() % 4 != 0) h ^= MixK(tail);
  return Finish(h ^ static_cast<uint32_t>(key.size()));
}

Result<LakeFormat> ParseLakeFormat(std::optional<std::string_view> name) {
  if (!name) return LakeFormat::kNone;
  std::string lower(*name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "paimon") return LakeFormat::kPaimon;
  if (lower == "iceberg") return LakeFormat::kIceberg;
  if (lower == "lance") return LakeFormat::kLance;
  if (lower == "hudi") return LakeFormat::kHudi;
  return MakeError(ErrorCode::kInvalidConfig, "unknown data lake format '{}'; there are paimon, iceberg, lance and hudi", *name);
}

Result<int32_t> BucketOf(LakeFormat lake, ByteView key, int32_t bucket_count) {
  if (bucket_count < 1) return MakeError(ErrorCode::kInvalidBucketRouting, "a table of {} buckets has no bucket for a key", bucket_count);
  if (key.empty()) return MakeError(ErrorCode::kInvalidBucketRouting, "an empty key belongs to no bucket");
  switch (lake) {
    case LakeFormat::kNone:
    case LakeFormat::kLance:
      return MathMurmur(MurmurOfKey(key)) % bucket_count;
    case LakeFormat::kPaimon:
      return std::abs(MurmurOfKey(key) % bucket_count);
    case LakeFormat::kIceberg:
      return static_cast<int32_t>(Murmur3(key) & 0x7fffffff) % bucket_count;
    case LakeFormat::kHudi:
      break;
  }
  if (key.size() != 4) return MakeError(ErrorCode::kInvalidBucketRouting, "a Hudi key has 4 bytes, not {}", key.size());
  return static_cast<int32_t>(LoadBe<uint32_t>(key.data()) & 0x7fffffff) % bucket_count;
}

}  // namespace strom::format
