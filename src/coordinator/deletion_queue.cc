#include "coordinator/deletion_queue.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <unordered_set>

#include "base/log.h"
#include "rt/time.h"

namespace strom::coordinator {
namespace {

constexpr size_t kReplicasAtOnceMax = 64;
constexpr rt::Duration kRetryDelayMin = std::chrono::seconds(1);
constexpr int kRetryDoublingsMax = 8;

rt::Duration RetryDelay(int tries) { return kRetryDelayMin * (1 << std::min(tries, kRetryDoublingsMax)); }

}  // namespace

void DeletionQueue::Add(std::vector<Deletion> deletions) {
  for (Deletion& each : deletions) queue_.push_back({std::move(each), 0, rt::Now()});
  changed_.NotifyAll();
  if (queue_.empty() || running_) return;
  rt::Gate::Holder holder = gate_.TryEnter();
  if (!holder) return;
  running_ = true;
  rt::Spawn(Run(std::move(holder)));
}

rt::Task<void> DeletionQueue::Run([[maybe_unused]] rt::Gate::Holder holder) {
  while (!queue_.empty() && !gate_.closing()) {
    const auto next = std::min_element(queue_.begin(), queue_.end(),
                                       [](const Entry& a, const Entry& b) { return a.not_before < b.not_before; });
    if (next->not_before > rt::Now()) {
      const rt::MonotonicTime until = next->not_before;
      co_await changed_.Wait(until);
      continue;
    }
    Entry entry = std::move(*next);
    queue_.erase(next);
    const bool deleted = co_await Delete(&entry.deletion);
    if (deleted || gate_.closing()) continue;
    entry.not_before = rt::Now() + RetryDelay(entry.tries++);
    queue_.push_back(std::move(entry));
  }
  running_ = false;
}

rt::Task<bool> DeletionQueue::Delete(Deletion* deletion) {
  std::set<ServerId> servers;
  for (const Deletion::Replica& replica : deletion->replicas) servers.insert(replica.server);
  for (ServerId server : servers) {
    if (!is_alive_(server)) continue;
    co_await DeleteOnServer(server, deletion);
  }
  if (!deletion->replicas.empty()) co_return false;
  Status removed = co_await on_deleted_(deletion->assignment_path);
  co_return removed.ok();
}

/// Takes those that are gone off the list.
rt::Task<void> DeletionQueue::DeleteOnServer(ServerId server, Deletion* deletion) {
  std::vector<model::StopReplicaNotice> all;
  for (const Deletion::Replica& replica : deletion->replicas) {
    if (replica.server == server) all.push_back({replica.bucket, replica.leader_epoch, true});
  }
  for (size_t begin = 0; begin < all.size() && !gate_.closing(); begin += kReplicasAtOnceMax) {
    const auto first = all.begin() + static_cast<ptrdiff_t>(begin);
    std::vector<model::StopReplicaNotice> part(first, first + static_cast<ptrdiff_t>(std::min(kReplicasAtOnceMax, all.size() - begin)));
    BucketOutcomes outcomes = co_await gateway_->StopReplica(server, epoch_, std::move(part));
    if (!outcomes.ok()) {
      STROM_LOG_WARN("coordinator: server {} does not delete replicas of {}: {}", server, deletion->assignment_path,
                     outcomes.error().message);
      co_return;
    }
    std::unordered_set<model::TableBucket> gone;
    for (const BucketOutcome& outcome : *outcomes) {
      if (outcome.status.ok()) {
        gone.insert(outcome.bucket);
      } else {
        STROM_LOG_WARN("coordinator: server {} cannot delete {}: {}", server, outcome.bucket.ToString(),
                       outcome.status.error().message);
      }
    }
    std::erase_if(deletion->replicas, [&](const Deletion::Replica& replica) {
      return replica.server == server && gone.contains(replica.bucket);
    });
  }
}

void DeletionQueue::Retry() {
  for (Entry& entry : queue_) entry.not_before = std::min(entry.not_before, rt::Now());
  changed_.NotifyAll();
}

rt::Task<void> DeletionQueue::Stop() {
  // Who is woken here runs after the gate has begun to close.
  changed_.NotifyAll();
  co_await gate_.Close();
}

}  // namespace strom::coordinator
