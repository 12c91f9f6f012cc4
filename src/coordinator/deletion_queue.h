#pragma once

#include <deque>
#include <functional>

#include "coordinator/coordinator_state.h"
#include "coordinator/tablet_gateway.h"
#include "rt/sync.h"
#include "rt/task.h"

namespace strom::coordinator {

/// Deletes the data of dropped tables and partitions in the background, by id, at most 64 replicas at a time (spec/server.md 17, W22). When all
/// replicas of one are gone, `on_deleted` takes its node out of the metadata. What cannot be deleted is tried again, more and more seldom,
/// and is found again at the next start, since its node stays.
class DeletionQueue {
 public:
  using OnDeleted = std::function<rt::Task<Status>(std::string assignment_path)>;
  using IsAlive = std::function<bool(ServerId)>;

  DeletionQueue(TabletGateway* gateway, CoordinatorEpoch epoch, IsAlive is_alive, OnDeleted on_deleted)
      : gateway_(gateway), epoch_(epoch), is_alive_(std::move(is_alive)), on_deleted_(std::move(on_deleted)) {}

  void Add(std::vector<Deletion> deletions);
  /// A server has come: replicas on it can be deleted now.
  void Retry();
  size_t size() const { return queue_.size(); }
  rt::Task<void> Stop();

 private:
  struct Entry {
    Deletion deletion;
    int tries = 0;
    rt::MonotonicTime not_before;
  };

  rt::Task<void> Run(rt::Gate::Holder holder);
  rt::Task<bool> Delete(Deletion* deletion);
  rt::Task<void> DeleteOnServer(ServerId server, Deletion* deletion);

  TabletGateway* gateway_;
  const CoordinatorEpoch epoch_;
  IsAlive is_alive_;
  OnDeleted on_deleted_;
  std::deque<Entry> queue_;
  bool running_ = false;
  rt::Event changed_;
  rt::Gate gate_;
};

}  // namespace strom::coordinator
