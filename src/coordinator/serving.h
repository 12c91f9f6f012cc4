#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/table_bucket.h"
#include "model/ids.h"
#include "rt/sync.h"
#include "rt/time.h"

namespace strom::coordinator {

/// Which buckets have been told to a leader that has not said yet that it serves them. One shard.
class Serving {
 public:
  void Tell(const model::TableBucket& bucket, LeaderEpoch epoch) { pending_[bucket] = epoch; }

  /// The leader of `epoch` has answered. Older answers say nothing.
  void Answer(const model::TableBucket& bucket, LeaderEpoch epoch, bool serves) {
    const auto found = pending_.find(bucket);
    if (found == pending_.end() || found->second != epoch) return;
    pending_.erase(found);
    serves ? (void)refused_.erase(bucket) : (void)refused_.insert(bucket);
    answered_.NotifyAll();
  }
  void Forget(const model::TableBucket& bucket) {
    pending_.erase(bucket);
    refused_.erase(bucket);
    answered_.NotifyAll();
  }

  /// Until none of the buckets is waited for, or the deadline.
  rt::Task<void> Wait(std::vector<model::TableBucket> buckets, rt::MonotonicTime deadline) {
    for (const model::TableBucket& bucket : buckets) {
      while (pending_.contains(bucket) && !stopped_) {
        const bool woken = co_await answered_.Wait(deadline);
        if (!woken) co_return;
      }
    }
  }

  /// Nobody waits any more.
  void Stop() {
    stopped_ = true;
    answered_.NotifyAll();
  }

  /// Buckets whose leader does not serve (yet).
  std::unordered_set<model::TableBucket> Inactive() const {
    std::unordered_set<model::TableBucket> inactive = refused_;
    for (const auto& [bucket, epoch] : pending_) inactive.insert(bucket);
    return inactive;
  }

 private:
  std::unordered_map<model::TableBucket, LeaderEpoch> pending_;
  std::unordered_set<model::TableBucket> refused_;
  bool stopped_ = false;
  rt::Event answered_;
};

}  // namespace strom::coordinator
