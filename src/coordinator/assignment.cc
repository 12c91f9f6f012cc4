#include "coordinator/assignment.h"

#include <algorithm>
#include <map>
#include <set>

namespace strom::coordinator {
namespace {

/// The k-th of the other servers, seen from `first`: none twice for k in [0, count - 1), never `first` itself.
size_t OtherServer(size_t first, size_t shift, size_t k, size_t count) {
  return (first + 1 + (shift + k) % (count - 1)) % count;
}

/// One server per rack in turn, racks by name, servers of a rack by id.
std::vector<AssignableServer> AlternateRacks(const std::vector<AssignableServer>& servers) {
  std::map<std::string, std::vector<AssignableServer>> racks;
  for (const AssignableServer& server : servers) racks[*server.rack].push_back(server);
  std::vector<AssignableServer> arranged;
  for (size_t round = 0; arranged.size() < servers.size(); ++round) {
    for (const auto& [rack, members] : racks) {
      if (round < members.size()) arranged.push_back(members[round]);
    }
  }
  return arranged;
}

size_t CountRacks(const std::vector<AssignableServer>& servers) {
  std::set<std::string> racks;
  for (const AssignableServer& server : servers) racks.insert(*server.rack);
  return racks.size();
}

/// Adds replicas after the first one: on racks without a replica as long as there are such.
void AddRackAware(const std::vector<AssignableServer>& servers, size_t rack_count, size_t first, size_t shift, size_t factor,
                  std::vector<ServerId>* replicas) {
  std::set<std::string> used_racks{*servers[first].rack};
  std::set<ServerId> used{servers[first].id};
  while (replicas->size() < factor) {
    for (size_t k = 0; k < servers.size() - 1; ++k) {
      const AssignableServer& candidate = servers[OtherServer(first, shift * rack_count, k, servers.size())];
      const bool rack_fits = !used_racks.contains(*candidate.rack) || used_racks.size() == rack_count;
      if (!rack_fits || used.contains(candidate.id)) continue;
      used_racks.insert(*candidate.rack);
      used.insert(candidate.id);
      replicas->push_back(candidate.id);
      break;
    }
  }
}

}  // namespace

Result<std::vector<std::vector<ServerId>>> AssignBuckets(int32_t bucket_count, int32_t replication_factor,
                                                         std::vector<AssignableServer> servers, Random& random) {
  const size_t count = servers.size();
  const auto factor = static_cast<size_t>(std::max(replication_factor, 0));
  if (factor < 1 || factor > count) {
    return MakeError(ErrorCode::kInvalidReplicationFactor, "replication factor {} needs as many tablet servers; {} {} alive",
                     replication_factor, count, count == 1 ? "is" : "are");
  }
  std::sort(servers.begin(), servers.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  const bool rack_aware = std::all_of(servers.begin(), servers.end(), [](const auto& each) { return each.rack.has_value(); });
  if (rack_aware) servers = AlternateRacks(servers);
  const size_t rack_count = rack_aware ? CountRacks(servers) : 0;

  const size_t start = random.Below(count);
  size_t shift = random.Below(count);
  std::vector<std::vector<ServerId>> assignment(static_cast<size_t>(bucket_count));
  for (size_t bucket = 0; bucket < assignment.size(); ++bucket) {
    if (bucket > 0 && bucket % count == 0) ++shift;
    const size_t first = (bucket + start) % count;
    std::vector<ServerId>& replicas = assignment[bucket];
    replicas.push_back(servers[first].id);
    if (rack_aware) {
      AddRackAware(servers, rack_count, first, shift, factor, &replicas);
      continue;
    }
    for (size_t j = 0; j + 1 < factor; ++j) replicas.push_back(servers[OtherServer(first, shift, j, count)].id);
  }
  return assignment;
}

}  // namespace strom::coordinator
