#include "coordinator/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace strom::coordinator {
namespace {

std::vector<AssignableServer> Servers(int count, int racks = 0) {
  std::vector<AssignableServer> servers;
  for (int i = 0; i < count; ++i) {
    AssignableServer server{ServerId(10 + i), std::nullopt};
    if (racks > 0) server.rack = "rack" + std::to_string(i % racks);
    servers.push_back(std::move(server));
  }
  return servers;
}

TEST(Assignment, RefusesMoreReplicasThanServers) {
  Random random(1);
  EXPECT_EQ(AssignBuckets(3, 2, Servers(1), random).code(), ErrorCode::kInvalidReplicationFactor);
  EXPECT_EQ(AssignBuckets(3, 1, {}, random).code(), ErrorCode::kInvalidReplicationFactor);
  EXPECT_EQ(AssignBuckets(3, 0, Servers(3), random).code(), ErrorCode::kInvalidReplicationFactor);
}

TEST(Assignment, PutsEverythingOnASingleServer) {
  Random random(1);
  auto assignment = AssignBuckets(4, 1, Servers(1), random);
  ASSERT_TRUE(assignment.ok());
  for (const auto& replicas : *assignment) EXPECT_EQ(replicas, std::vector<ServerId>{ServerId(10)});
}

/// Whatever the sizes: replicas of a bucket differ, leaders and replicas are spread evenly, racks are used up.
TEST(Assignment, SpreadsReplicasAndLeadersOverServersAndRacks) {
  const uint64_t seed = 77;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    const int servers = 1 + static_cast<int>(random.Below(9));
    const int factor = 1 + static_cast<int>(random.Below(static_cast<uint64_t>(servers)));
    const int racks = static_cast<int>(random.Below(static_cast<uint64_t>(servers) + 1));
    const int buckets = 1 + static_cast<int>(random.Below(40));
    auto assignment = AssignBuckets(buckets, factor, Servers(servers, racks), random);
    ASSERT_TRUE(assignment.ok());
    ASSERT_EQ(assignment->size(), static_cast<size_t>(buckets));
    std::map<ServerId, int> leaders;
    for (const auto& replicas : *assignment) {
      ASSERT_EQ(replicas.size(), static_cast<size_t>(factor));
      ASSERT_EQ(std::set<ServerId>(replicas.begin(), replicas.end()).size(), static_cast<size_t>(factor));
      ++leaders[replicas.front()];
      if (racks == 0) continue;
      std::set<int> used;
      for (ServerId server : replicas) used.insert((server.value() - 10) % racks);
      ASSERT_EQ(used.size(), static_cast<size_t>(std::min(factor, racks))) << servers << " servers " << racks << " racks";
    }
    const int most = std::max_element(leaders.begin(), leaders.end(), [](auto& a, auto& b) { return a.second < b.second; })->second;
    ASSERT_LE(most, (buckets + servers - 1) / servers);
  }
}

}  // namespace
}  // namespace strom::coordinator
