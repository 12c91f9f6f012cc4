#include "coordinator/auto_partition_plan.h"

#include "meta/system_partition.h"

namespace strom::coordinator {

AutoPartitionPlan PlanAutoPartitions(const meta::TableEntry& table, const model::AutoPartition& partitioning, TimestampMs now,
                                     TimestampMs creation_now, size_t create_max) {
  const std::vector<std::string>& keys = table.info->descriptor.partition_keys;
  const size_t position = partitioning.KeyPosition(keys);
  AutoPartitionPlan plan;
  for (const auto& [name, partition] : table.partitions) {
    if (meta::IsSystemPartition(*partition) || position >= partition->values.size()) continue;
    if (model::IsExpiredPartition(partitioning, now, partition->values[position])) plan.drop.push_back(name);
  }
  if (keys.size() != 1) return plan;
  for (std::string& value : model::AutoPartitionValuesAhead(partitioning, creation_now, create_max)) {
    // What creation, which looks at an earlier time, would make and the next run would drop again, is not made.
    const bool expired = model::IsExpiredPartition(partitioning, now, value);
    if (!expired && table.FindPartition(value) == nullptr) plan.create.push_back(std::move(value));
  }
  return plan;
}

}  // namespace strom::coordinator
