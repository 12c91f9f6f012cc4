#pragma once

#include "meta/catalog.h"

namespace strom::coordinator {

/// Calls function(TableBucket, const BucketState&) for each bucket of a table or of one partition.
template <typename F>
void ForEachBucket(TableId table, std::optional<PartitionId> partition, const std::vector<meta::BucketState>& buckets,
                   F&& function) {
  for (size_t i = 0; i < buckets.size(); ++i) {
    function(model::TableBucket{table, partition, BucketId(static_cast<int32_t>(i))}, buckets[i]);
  }
}

/// The same for all buckets of a table, in all partitions.
template <typename F>
void ForEachBucket(const meta::TableEntry& table, F&& function) {
  ForEachBucket(table.info->table_id, std::nullopt, table.buckets, function);
  for (const auto& [name, partition] : table.partitions) {
    ForEachBucket(table.info->table_id, partition->id, partition->buckets, function);
  }
}

}  // namespace strom::coordinator
