#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meta/catalog.h"
#include "model/auto_partition.h"

namespace strom::coordinator {

/// What an auto-partitioned table needs at a moment. Partition names.
struct AutoPartitionPlan {
  std::vector<std::string> drop;
  std::vector<std::string> create;
};

/// `now` decides about dropping, `creation_now` about creation: for DAY tables a periodic run looks at an earlier time, which spreads the load of
/// midnight (spec/server.md 5.4). With several partition keys nothing is created. At most `create_max` are created in one run.
AutoPartitionPlan PlanAutoPartitions(const meta::TableEntry& table, const model::AutoPartition& partitioning, TimestampMs now,
                                     TimestampMs creation_now, size_t create_max);

}  // namespace strom::coordinator
