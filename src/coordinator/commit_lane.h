#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "coordinator/coordinator_state.h"
#include "meta/meta_store.h"
#include "rt/sync.h"
#include "rt/task.h"

namespace strom::coordinator {

/// Makes outcomes durable and public, in the order in which they were planned: what is planned while one group is being written and
/// published goes together in the next, with one sync and one new catalog.
///
/// The state runs ahead of the store, so a failed write is final: nothing that was planned on top of it may stand. Every later
/// submission gets that error; only a new start, which reads the store again, helps.
class CommitLane {
 public:
  /// A group has been published: tell the tablet servers. Must not wait.
  using OnPublished = std::function<void(const std::vector<model::TableBucket>& notify)>;

  CommitLane(meta::MetaStore* store, TabletGateway* gateway, CoordinatorState* state, int32_t epoch_version,
             OnPublished on_published)
      : store_(store), gateway_(gateway), state_(state), epoch_version_(epoch_version), on_published_(std::move(on_published)) {}

  /// Takes writes and notices of `outcome` in, at once (the caller has not waited since the state made it), and answers when they
  /// are durable, public and told.
  rt::Task<Status> Submit(Outcome outcome) {
    queue_.push_back(std::move(outcome));
    return Published(++submitted_);
  }
  /// Everything that is planned so far: for answers that depend on it and change nothing.
  rt::Task<Status> Flush() { return Published(submitted_); }

  std::shared_ptr<const meta::Catalog> published() const { return published_catalog_; }
  /// Publishes what the state says now even if nothing is to be written.
  rt::Task<Status> PublishNow() { return Submit(Outcome()); }

  /// Ends once the group that is being written is done; nothing more is written.
  rt::Task<void> Stop();

 private:
  rt::Task<Status> Published(uint64_t number);
  rt::Task<void> Run();
  rt::Task<Status> CommitGroup(std::vector<Outcome> group);

  meta::MetaStore* store_;
  TabletGateway* gateway_;
  CoordinatorState* state_;
  const int32_t epoch_version_;  // of /coordinators/epoch: the fence (spec/server.md 3.3)
  OnPublished on_published_;

  std::vector<Outcome> queue_;
  uint64_t submitted_ = 0;
  uint64_t published_ = 0;
  std::shared_ptr<const meta::Catalog> published_catalog_;
  Status failure_;
  bool running_ = false;
  rt::Event progress_;
};

}  // namespace strom::coordinator
