#pragma once

#include <algorithm>

#include "meta/catalog.h"
#include "model/partition.h"

namespace strom::meta {

/// True for the partition that the system makes and drops by itself (spec/server.md 13.5); clients see it only when they ask.
inline bool IsSystemPartition(const PartitionEntry& partition) {
  return std::any_of(partition.values.begin(), partition.values.end(),
                     [](const std::string& value) { return value == model::kHistoricalPartition; });
}

}  // namespace strom::meta
