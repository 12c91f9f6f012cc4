#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/ids.h"
#include "model/table_bucket.h"
#include "model/table_descriptor.h"
#include "model/table_path.h"

namespace strom::model {

/// Who leads a bucket and who follows in step. Source: spec/server.md 1.3.9, 4.1.
struct LeaderAndIsr {
  ServerId leader = kNoLeader;
  LeaderEpoch leader_epoch;
  std::vector<ServerId> isr;
  CoordinatorEpoch coordinator_epoch;
  BucketEpoch bucket_epoch;
  std::vector<ServerId> standby_replicas;
  bool operator==(const LeaderAndIsr&) const = default;
};

/// What the coordinator tells a tablet server about one bucket (NotifyLeaderAndIsr). It carries the table, so that the receiver
/// needs no other source.
struct LeaderAndIsrNotice {
  TableBucket bucket;
  PhysicalTablePath path;
  std::vector<ServerId> replicas;
  LeaderAndIsr state;
  std::shared_ptr<const TableInfo> table;
};

/// A bucket to give up (StopReplica).
struct StopReplicaNotice {
  TableBucket bucket;
  LeaderEpoch leader_epoch;
  bool delete_local = false;
};

}  // namespace strom::model
