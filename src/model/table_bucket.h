#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "model/ids.h"

namespace strom::model {

/// The key of everything that belongs to one bucket: ids, never names, so that a table dropped and made again is another one.
struct TableBucket {
  TableId table_id;
  std::optional<PartitionId> partition_id;
  BucketId bucket;

  auto operator<=>(const TableBucket&) const = default;
  /// "table 7 bucket 2" or "table 7 partition 3 bucket 2"
  std::string ToString() const;
};

/// The shard that a bucket lives on: a hash of its ids, the same in every process with that many shards.
uint32_t OwnerShard(const TableBucket& bucket, uint32_t shard_count);

}  // namespace strom::model

template <>
struct std::hash<strom::model::TableBucket> {
  size_t operator()(const strom::model::TableBucket& bucket) const noexcept {
    uint64_t h = static_cast<uint64_t>(bucket.table_id.value()) * 0x9E3779B97F4A7C15ULL;
    h ^= static_cast<uint64_t>(bucket.partition_id ? bucket.partition_id->value() + 1 : 0) * 0xBF58476D1CE4E5B9ULL;
    h ^= static_cast<uint64_t>(bucket.bucket.value()) * 0x94D049BB133111EBULL;
    return static_cast<size_t>(h ^ (h >> 31));
  }
};
