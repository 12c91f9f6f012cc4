#include "coordinator/cluster_health.h"

#include "coordinator/buckets.h"

namespace strom::coordinator {

ClusterHealth CountHealth(const meta::Catalog& catalog, const std::unordered_set<model::TableBucket>& inactive) {
  ClusterHealth health;
  catalog.ForEachTable([&](const meta::TableEntry& table) {
    ForEachBucket(table, [&](const model::TableBucket& id, const meta::BucketState& bucket) {
      health.replicas += static_cast<int32_t>(bucket.replicas.size());
      health.in_sync_replicas += static_cast<int32_t>(bucket.state.isr.size());
      ++health.leader_replicas;
      if (catalog.FindServer(bucket.state.leader) != nullptr && !inactive.contains(id)) ++health.active_leader_replicas;
    });
  });
  using Color = ClusterHealth::Color;
  if (health.active_leader_replicas < health.leader_replicas) {
    health.color = Color::kRed;
  } else {
    health.color = health.in_sync_replicas < health.replicas ? Color::kYellow : Color::kGreen;
  }
  return health;
}

}  // namespace strom::coordinator
