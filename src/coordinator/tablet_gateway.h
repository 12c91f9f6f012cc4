#pragma once

#include <memory>
#include <vector>

#include "meta/catalog.h"
#include "model/leader_and_isr.h"
#include "rt/task.h"

namespace strom::coordinator {

/// What became of one bucket of a request to a tablet server.
struct BucketOutcome {
  model::TableBucket bucket;
  Status status;
};
/// One outcome a bucket that was asked for; an Error: the server as a whole did not take the request.
using BucketOutcomes = Result<std::vector<BucketOutcome>>;

/// The way from the coordinator to the tablet servers: in process now, by RPC later. Implemented in server/, called on shard 0.
/// Requests to one server keep their order: a StopReplica sent after a NotifyLeaderAndIsr is carried out after it.
class TabletGateway {
 public:
  virtual ~TabletGateway() = default;

  /// Gives the new catalog to all shards of all servers. Complete on all of them when the task is done: what is told or answered
  /// after that meets no older catalog.
  virtual rt::Task<Status> PublishCatalog(std::shared_ptr<const meta::Catalog> catalog) = 0;

  /// Answers when the buckets serve (or are refused). A notice with an epoch below what the server knows changes nothing
  /// (spec/server.md 7.3, M7): kFencedLeaderEpoch.
  virtual rt::Task<BucketOutcomes> NotifyLeaderAndIsr(ServerId server, std::vector<model::LeaderAndIsrNotice> notices) = 0;

  /// Answers when the replicas are stopped and, where asked for, their files are gone. A bucket that the server does not hold
  /// is a success (leftover directories are swept).
  virtual rt::Task<BucketOutcomes> StopReplica(ServerId server, CoordinatorEpoch epoch,
                                               std::vector<model::StopReplicaNotice> notices) = 0;
};

}  // namespace strom::coordinator
