#include "replica/high_watermark.h"
#include "replica/replica.h"

namespace strom::replica {

Result<AppendOutcome> Replica::Append(Buffer records, int32_t acks) {
  STROM_TRY(CheckServing());
  if (environment_->disk_write_locked) {
    return MakeError(ErrorCode::kStorageException,
                     "the disk of server {} is too full to take writes to {}; they go on once there is room again",
                     environment_->server_id, bucket_.ToString());
  }
  if (acks == -1 && state_.isr.size() < environment_->min_isr) {
    return MakeError(ErrorCode::kNotEnoughReplicas, "{} has {} replicas in sync, {} are needed", bucket_.ToString(),
                     state_.isr.size(), environment_->min_isr);
  }
  auto appended = log_->AppendAsLeader(records, state_.leader_epoch);
  if (!appended.ok()) {
    if (!log_->failure().ok()) Refuse(log_->failure().error());
    return appended.error();
  }
  if (!appended->duplicated) {
    if (environment_->group_commit || log_->sync_due()) StartSync();
    AdvanceHighWatermark();
  }
  return AppendOutcome{appended->first_offset, appended->last_offset + 1};
}

rt::Task<Status> Replica::WaitCommitted(LogOffset next_offset, rt::MonotonicTime deadline) {
  const rt::Gate::Holder holder = gate_.TryEnter();
  if (!holder) {
    co_return MakeError(ErrorCode::kNotLeaderOrFollower, "{} is being stopped", bucket_.ToString());
  }
  Status reached = co_await committed_.WaitFor(next_offset, deadline);
  if (reached.code() == ErrorCode::kDeadlineExceeded) {
    co_return MakeError(ErrorCode::kRequestTimeOut, "{}: {}", bucket_.ToString(), reached.error().message);
  }
  co_return reached;
}

void Replica::AdvanceHighWatermark() {
  const LogOffset end = log_->log_end_offset();
  const LogOffset next = NextHighWatermark({.current = committed_.current(),
                                            .log_end = end,
                                            .synced_end = log_->flushed_offset(),
                                            .wait_for_sync = environment_->group_commit,
                                            .isr_size = state_.isr.size(),
                                            .min_isr = environment_->min_isr,
                                            .followers_end = end});
  if (next == committed_.current()) return;
  committed_.Advance(next);
  fetch_waiters_.NotifyAll();
}

}  // namespace strom::replica
