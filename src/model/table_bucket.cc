#include "model/table_bucket.h"

#include <fmt/format.h>

#include "base/assert.h"

namespace strom::model {

namespace {

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace

std::string TableBucket::ToString() const {
  if (partition_id) return fmt::format("table {} partition {} bucket {}", table_id, *partition_id, bucket);
  return fmt::format("table {} bucket {}", table_id, bucket);
}

uint32_t OwnerShard(const TableBucket& bucket, uint32_t shard_count) {
  STROM_ASSERT(shard_count > 0, "a process has at least one shard");
  // Hashed by table and partition, dealt out by bucket: the buckets of one table spread evenly however few they are.
  const uint64_t partition = bucket.partition_id ? static_cast<uint64_t>(bucket.partition_id->value()) + 1 : 0;
  const uint64_t start = Mix(static_cast<uint64_t>(bucket.table_id.value()) * 0x9E3779B97F4A7C15ULL + Mix(partition));
  const uint64_t position = (start >> 32) + static_cast<uint32_t>(bucket.bucket.value());
  return static_cast<uint32_t>(position % shard_count);
}

}  // namespace strom::model
