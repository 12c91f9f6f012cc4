#include "base/log.h"
#include "replica/replica.h"
#include "rt/call.h"

namespace strom::replica {

void Replica::StartSync() {
  if (sync_running_) return;
  rt::Gate::Holder holder = gate_.TryEnter();
  if (!holder) return;
  sync_running_ = true;
  rt::Spawn(SyncUntilDone(std::move(holder)));
}

rt::Task<void> Replica::SyncUntilDone([[maybe_unused]] rt::Gate::Holder holder) {
  while (!gate_.closing() && !refused_) {
    log::SyncPlan plan = log_->PrepareSync();
    if (plan.empty()) break;
    const log::SyncPlan* running = &plan;
    Status synced = co_await rt::Blocking([running] { return running->Run(); });
    log_->FinishSync(plan, synced);
    if (!log_->failure().ok()) {
      // After a failed fdatasync nobody knows what the disk holds: the kernel may have dropped the pages (design-replication.md 1).
      Refuse(log_->failure().error());
      break;
    }
    AdvanceHighWatermark();
    if (!environment_->group_commit) break;
  }
  sync_running_ = false;
  sync_done_.NotifyAll();
}

rt::Task<void> Replica::Sync() {
  StartSync();
  while (sync_running_) {
    co_await sync_done_.Wait();
  }
}

Status Replica::DeleteExpired(TimestampMs now, bool roll_active_segment) {
  if (refused_) return Status::OK();
  return log_->DeleteExpired({.now = now,
                              .ttl_ms = table_->config.log_ttl_ms,
                              .bound = committed_.current(),
                              .roll_active = roll_active_segment});
}

void Replica::ExpireWriters() {
  if (!refused_) log_->writers().RemoveExpired(log_->max_timestamp());
}

}  // namespace strom::replica
