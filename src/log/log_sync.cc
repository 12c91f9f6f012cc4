#include <algorithm>

#include "log/log.h"

namespace strom::log {

bool Log::sync_due() const {
  return failure_.ok() && (rolled_unflushed_ || log_end_ - flushed_ >= options_.flush_interval_messages);
}

SyncPlan Log::PrepareSync() {
  SyncPlan plan;
  plan.file_system_ = environment_.files;
  plan.target_ = log_end_;
  plan.truncations_ = truncations_;
  plan.names_version_ = names_version_;
  plan.prepared_ = failure_;
  for (size_t i = SegmentIndexOf(flushed_); i < segments_.size() && plan.prepared_.ok(); ++i) {
    if (SegmentEnd(i) <= flushed_) continue;
    // Below the recovery point indexes are taken as they are, so those of a segment that is finished must last, too.
    const bool finished = i + 1 < segments_.size();
    plan.prepared_ = segments_[i]->CollectForSync(context(), finished, &plan.files_);
  }
  plan.paths_ = files_to_sync_;
  plan.directories_ = names_to_sync_;
  return plan;
}

void Log::FinishSync(const SyncPlan& plan, const Status& status) {
  if (!status.ok()) {
    Fail(MakeError(status.code(), "a sync failed, so nothing is known of what is on disk: {}", status.error().message));
    return;
  }
  if (!failure_.ok()) return;
  if (plan.names_version_ == names_version_) {
    names_to_sync_.clear();
    files_to_sync_.clear();
  }
  if (plan.truncations_ != truncations_) return;
  flushed_ = std::max(flushed_, plan.target_);
  // The active segment's base is the end of the last rolled one.
  if (flushed_ >= active_base_offset()) rolled_unflushed_ = false;
}

Status Log::Close() {
  STROM_TRY(failure_);
  for (const std::unique_ptr<Segment>& segment : segments_) {
    if (segment->loaded()) STROM_TRY(segment->FlushIndexes(context()));
  }
  STROM_TRY(TakeWriterSnapshot());
  const SyncPlan plan = PrepareSync();
  if (!plan.empty()) {
    const Status status = plan.Run();
    FinishSync(plan, status);
    STROM_TRY(status);
  }
  for (const std::unique_ptr<Segment>& segment : segments_) segment->CloseFiles();
  return Status::OK();
}

}  // namespace strom::log
