#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/tablet_gateway.h"
#include "rt/sync.h"

namespace strom::coordinator::testing {

/// Tablet servers that do what they are told, and check what they are told against what they know. For tests only.
class FakeGateway final : public TabletGateway {
 public:
  struct Replica {
    LeaderEpoch epoch;
    bool stopped = false;
    std::string path;
  };

  rt::Task<Status> PublishCatalog(std::shared_ptr<const meta::Catalog> next) override {
    co_await rt::Yield();
    if (catalog != nullptr && next->version() <= catalog->version()) problems.push_back("an older catalog was published");
    catalog = std::move(next);
    ++publish_count;
    co_return Status::OK();
  }

  rt::Task<BucketOutcomes> NotifyLeaderAndIsr(ServerId server, std::vector<model::LeaderAndIsrNotice> notices) override {
    ++notify_count;
    std::vector<BucketOutcome> outcomes;
    for (const model::LeaderAndIsrNotice& notice : notices) {
      const meta::BucketState* known = catalog->FindBucket(notice.bucket);
      if (known == nullptr) problems.push_back("told of a bucket that is not in the catalog: " + notice.bucket.ToString());
      auto [at, fresh] = replicas[server].try_emplace(notice.bucket, Replica{notice.state.leader_epoch, false, ""});
      if (!fresh && notice.state.leader_epoch <= at->second.epoch) problems.push_back("epoch did not grow");
      at->second = {notice.state.leader_epoch, false, notice.path.ToString()};
      outcomes.push_back({notice.bucket, refused.contains(notice.bucket) ? refusal : Status::OK()});
    }
    while (holding) {
      co_await released.Wait();
    }
    co_await rt::Yield();
    co_return outcomes;
  }

  rt::Task<BucketOutcomes> StopReplica(ServerId server, CoordinatorEpoch, std::vector<model::StopReplicaNotice> notices) override {
    std::vector<BucketOutcome> outcomes;
    for (const model::StopReplicaNotice& notice : notices) {
      if (catalog->FindBucket(notice.bucket) != nullptr) problems.push_back("stopped a bucket that is in the catalog");
      if (notice.delete_local && failing_deletions > 0) {
        --failing_deletions;
        outcomes.push_back({notice.bucket, MakeError(ErrorCode::kIoError, "cannot delete")});
        continue;
      }
      if (notice.delete_local) {
        replicas[server].erase(notice.bucket);
        ++deleted_count;
      } else if (auto at = replicas[server].find(notice.bucket); at != replicas[server].end()) {
        at->second.stopped = true;
      }
      outcomes.push_back({notice.bucket, Status::OK()});
    }
    co_await rt::Yield();
    co_return outcomes;
  }

  void Release() {
    holding = false;
    released.NotifyAll();
  }

  std::shared_ptr<const meta::Catalog> catalog;
  std::map<ServerId, std::map<model::TableBucket, Replica>> replicas;
  std::set<model::TableBucket> refused;
  Status refusal = MakeError(ErrorCode::kCorruptData, "segment 0 is bad at position 17");
  int failing_deletions = 0;
  bool holding = false;  // notices are taken and not answered
  rt::Event released;
  int publish_count = 0;
  int notify_count = 0;
  int deleted_count = 0;
  std::vector<std::string> problems;  // what no coordinator may do
};

}  // namespace strom::coordinator::testing
