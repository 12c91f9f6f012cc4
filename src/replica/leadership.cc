#include <algorithm>

#include "base/log.h"
#include "replica/replica.h"
#include "rt/call.h"

namespace strom::replica {

Replica::Replica(const ReplicaEnvironment* environment, model::TableBucket bucket, model::PhysicalTablePath path,
                 std::shared_ptr<const model::TableInfo> table, std::unique_ptr<log::Log> log, LogOffset high_watermark)
    : environment_(environment),
      bucket_(bucket),
      path_(std::move(path)),
      table_(std::move(table)),
      log_(std::move(log)),
      committed_(std::clamp(high_watermark, log_->log_start_offset(), log_->log_end_offset())) {}

Replica::Replica(const ReplicaEnvironment* environment, model::TableBucket bucket, model::PhysicalTablePath path,
                 std::shared_ptr<const model::TableInfo> table, Error why)
    : environment_(environment),
      bucket_(bucket),
      path_(std::move(path)),
      table_(std::move(table)),
      refused_(std::move(why)),
      committed_(LogOffset(0)) {}

Replica::~Replica() = default;

Status Replica::ApplyNotice(const model::LeaderAndIsrNotice& notice) {
  if (refused_) return *refused_;
  const auto& replicas = notice.replicas;
  if (std::find(replicas.begin(), replicas.end(), environment_->server_id) == replicas.end()) {
    return MakeError(ErrorCode::kUnknownTableOrBucket, "{} has no replica on server {}", bucket_.ToString(),
                     environment_->server_id);
  }
  if (notified_) {
    if (notice.state.leader_epoch < state_.leader_epoch) {
      return MakeError(ErrorCode::kFencedLeaderEpoch, "{}: leader epoch {} is older than {}", bucket_.ToString(),
                       notice.state.leader_epoch, state_.leader_epoch);
    }
    if (notice.state.bucket_epoch < state_.bucket_epoch) {
      return MakeError(ErrorCode::kInvalidUpdateVersion, "{}: bucket epoch {} is older than {}", bucket_.ToString(),
                       notice.state.bucket_epoch, state_.bucket_epoch);
    }
  }
  // The log books the epoch at its first append, not here: most buckets of a restarted server are not written to soon, and each
  // booking is a sync.
  table_ = notice.table;
  state_ = notice.state;
  notified_ = true;
  if (is_leader()) {
    if (environment_->group_commit && log_->flushed_offset() < log_->log_end_offset()) StartSync();
    AdvanceHighWatermark();
  } else {
    committed_.FailAll(MakeError(ErrorCode::kNotLeaderOrFollower, "{} is led by server {} now", bucket_.ToString(),
                                 state_.leader));
  }
  fetch_waiters_.NotifyAll();
  return Status::OK();
}

Status Replica::CheckServing() const {
  if (refused_) return *refused_;
  if (!is_leader()) {
    return MakeError(ErrorCode::kNotLeaderOrFollower, "server {} does not lead {}", environment_->server_id,
                     bucket_.ToString());
  }
  return Status::OK();
}

void Replica::Refuse(Error why) {
  if (refused_) return;
  STROM_LOG_ERROR("{} of {} is refused: {}", bucket_.ToString(), path_.ToString(), why.message);
  refused_ = std::move(why);
  committed_.FailAll(*refused_);
  fetch_waiters_.NotifyAll();
}

rt::Task<Status> Replica::Stop(bool clean) {
  const Error stopping = MakeError(ErrorCode::kNotLeaderOrFollower, "{} is being stopped", bucket_.ToString());
  state_.leader = kNoLeader;
  committed_.FailAll(stopping);
  fetch_waiters_.NotifyAll();
  co_await gate_.Close();
  if (!log_ || refused_ || !clean) co_return Status::OK();
  // The sync is what takes long, and it is all that may leave the shard: closing the log uses the shard's file cache.
  const log::SyncPlan plan = log_->PrepareSync();
  if (!plan.empty()) {
    const log::SyncPlan* running = &plan;
    Status synced = co_await rt::Blocking([running] { return running->Run(); });
    log_->FinishSync(plan, synced);
  }
  co_return log_->Close();
}

}  // namespace strom::replica
