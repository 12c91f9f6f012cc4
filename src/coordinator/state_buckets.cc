#include <algorithm>

#include "coordinator/assignment.h"
#include "coordinator/buckets.h"
#include "coordinator/coordinator_state.h"
#include "meta/paths.h"

namespace strom::coordinator {

Result<std::vector<meta::BucketState>> CoordinatorState::NewBuckets(int32_t count, int32_t replication_factor) {
  std::vector<AssignableServer> servers;
  for (const meta::ServerEntry& server : view().tablet_servers()) servers.push_back({server.id, server.rack});
  STROM_ASSIGN(auto assignment, AssignBuckets(count, replication_factor, std::move(servers), random_));
  std::vector<meta::BucketState> buckets;
  for (std::vector<ServerId>& replicas : assignment) {
    // All of them are alive: the first record has them all in the ISR (spec/server.md 4.1, 4.4 Init).
    model::LeaderAndIsr first;
    first.leader = replicas.front();
    first.isr = replicas;
    first.coordinator_epoch = epoch_;
    buckets.push_back({std::move(replicas), std::move(first)});
  }
  return buckets;
}

void CoordinatorState::WriteBuckets(TableId table, std::optional<PartitionId> partition,
                                    const std::vector<meta::BucketState>& buckets, Outcome* outcome) const {
  meta::AssignmentRecord assignment;
  if (partition) assignment.table_id = table;
  for (const meta::BucketState& bucket : buckets) assignment.replicas.push_back(bucket.replicas);
  outcome->writes.Create(meta::paths::Assignment(table, partition), meta::ToJson(assignment));
  ForEachBucket(table, partition, buckets, [&](const model::TableBucket& id, const meta::BucketState& bucket) {
    outcome->writes.Create(meta::paths::LeaderAndIsr(id), meta::ToJson(bucket.state));
    outcome->notify.push_back(id);
    outcome->await.push_back(id);
  });
}

void CoordinatorState::StopBuckets(TableId table, std::optional<PartitionId> partition,
                                   const std::vector<meta::BucketState>& buckets, Outcome* outcome) const {
  Deletion deletion;
  deletion.assignment_path = meta::paths::Assignment(table, partition);
  ForEachBucket(table, partition, buckets, [&](const model::TableBucket& id, const meta::BucketState& bucket) {
    for (ServerId server : bucket.replicas) {
      outcome->stops.push_back({server, {id, bucket.state.leader_epoch, false}});
      deletion.replicas.push_back({server, id, bucket.state.leader_epoch});
    }
  });
  outcome->deletions.push_back(std::move(deletion));
}

/// After `returned` has come: a new leadership where the bucket has no leader that this coordinator has told so. False: nothing
/// changes.
bool CoordinatorState::Elect(ServerId returned, meta::BucketState* bucket) const {
  model::LeaderAndIsr& state = bucket->state;
  const auto contains = [](const std::vector<ServerId>& servers, ServerId server) {
    return std::find(servers.begin(), servers.end(), server) != servers.end();
  };
  if (!contains(bucket->replicas, returned)) return false;
  // The process of the returned server is a new one, whatever the record says of its earlier life.
  const bool has_leader = state.leader != kNoLeader && state.leader != returned && state.coordinator_epoch == epoch_ &&
                          view().FindServer(state.leader) != nullptr;
  if (has_leader) return false;
  const auto winner = std::find_if(bucket->replicas.begin(), bucket->replicas.end(), [&](ServerId replica) {
    return contains(state.isr, replica) && view().FindServer(replica) != nullptr;
  });
  if (winner == bucket->replicas.end()) return false;
  state.leader = *winner;
  state.leader_epoch = LeaderEpoch(state.leader_epoch.value() + 1);
  state.bucket_epoch = BucketEpoch(state.bucket_epoch.value() + 1);
  state.coordinator_epoch = epoch_;
  return true;
}

}  // namespace strom::coordinator
