#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "model/ids.h"

namespace strom::coordinator {

struct AssignableServer {
  ServerId id;
  std::optional<std::string> rack;
};

/// Spreads the replicas of `bucket_count` buckets over the servers: result[bucket] is the replicas in order of preference, all
/// different. When every server names its rack, the replicas of a bucket lie on as many racks as there are.
/// kInvalidReplicationFactor when there are fewer servers than replicas. Source: spec/server.md 4.9.
Result<std::vector<std::vector<ServerId>>> AssignBuckets(int32_t bucket_count, int32_t replication_factor,
                                                         std::vector<AssignableServer> servers, Random& random);

}  // namespace strom::coordinator
