#include "coordinator/commit_lane.h"

#include "base/log.h"
#include "meta/paths.h"

namespace strom::coordinator {
namespace {

/// What a client is told of a write that failed: whether another coordinator has taken over, or the disk.
Status Explain(const Status& failure) {
  switch (failure.code()) {
    case ErrorCode::kCancelled:
      return failure;
    case ErrorCode::kVersionConflict:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
      return MakeError(ErrorCode::kNotCoordinatorLeader, "this coordinator does not own the metadata any more: {}",
                       failure.error().message);
    default:
      return MakeError(ErrorCode::kStorageException, "the metadata store has failed and must be opened again: {}",
                       failure.error().message);
  }
}

}  // namespace

rt::Task<Status> CommitLane::Published(uint64_t number) {
  if (!running_ && published_ < number && failure_.ok()) {
    running_ = true;
    rt::Spawn(Run());
  }
  while (published_ < number && failure_.ok()) {
    co_await progress_.Wait();
  }
  co_return published_ >= number ? Status::OK() : failure_;
}

rt::Task<void> CommitLane::Run() {
  while (published_ < submitted_ && failure_.ok()) {
    std::vector<Outcome> group = std::exchange(queue_, {});
    const uint64_t last = submitted_;
    Status committed = co_await CommitGroup(std::move(group));
    if (committed.ok()) {
      published_ = last;
    } else {
      failure_ = Explain(committed);
      if (committed.code() != ErrorCode::kCancelled) STROM_LOG_ERROR("coordinator: {}", failure_.error().message);
    }
    progress_.NotifyAll();
  }
  running_ = false;
  progress_.NotifyAll();
}

rt::Task<Status> CommitLane::CommitGroup(std::vector<Outcome> group) {
  // The catalog of now: it holds what the group planned, and nothing else has been planned since.
  std::shared_ptr<const meta::Catalog> catalog = state_->BuildCatalog();
  meta::Transaction writes;
  std::vector<model::TableBucket> notify;
  bool any = false;
  writes.Check(meta::paths::kCoordinatorEpoch, epoch_version_);
  for (Outcome& outcome : group) {
    any = any || !outcome.writes.empty();
    writes.Append(std::move(outcome.writes));
    notify.insert(notify.end(), outcome.notify.begin(), outcome.notify.end());
  }
  if (any) {
    Status committed = co_await store_->Commit(std::move(writes));
    if (!committed.ok()) co_return committed;
  }
  Status published = co_await gateway_->PublishCatalog(catalog);
  if (!published.ok()) co_return published;
  published_catalog_ = std::move(catalog);
  on_published_(notify);
  co_return Status::OK();
}

rt::Task<void> CommitLane::Stop() {
  if (failure_.ok()) failure_ = MakeError(ErrorCode::kCancelled, "the coordinator is stopping");
  progress_.NotifyAll();
  while (running_) {
    co_await progress_.Wait();
  }
}

}  // namespace strom::coordinator
