#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "log/retention_clock.h"
#include "rt/file.h"
#include "rt/sync.h"
#include "rt/task.h"
#include "tablet/tablet_shard.h"

namespace strom::tablet {

/// The tablet server of this process: the tablet shards of all shards, their checkpoint files, and the work that runs by the clock. Made, called
/// and stopped on shard 0.
class TabletServer {
 public:
  /// Reads the checkpoints and the clean mark of `options.data_dir` (and removes the mark, durably, before anything is written), then makes a
  /// TabletShard on every shard. `options.clean_start` is set here.
  static rt::Task<Result<std::unique_ptr<TabletServer>>> Start(TabletOptions options, rt::FileSystem* files,
                                                               CoordinatorLink* coordinator);
  ~TabletServer();

  /// Any thread may ask; what it points to belongs to that shard.
  TabletShard* shard(uint32_t index) { return shards_[index].get(); }

  rt::Task<void> SetCatalog(std::shared_ptr<const meta::Catalog> catalog);
  rt::Task<std::vector<BucketOutcome>> ApplyNotices(std::vector<model::LeaderAndIsrNotice> notices);
  /// Also sweeps directories of tables and partitions that are empty afterwards.
  rt::Task<std::vector<BucketOutcome>> StopReplicas(std::vector<model::StopReplicaNotice> notices);

  /// Deletes directories of tables and partitions that the catalog does not know: what a crash left behind between a drop and its
  /// end. Called once all notices of the start are carried out.
  rt::Task<void> SweepOrphans(std::shared_ptr<const meta::Catalog> catalog);

  /// Dynamic options (spec/server.md 15.3).
  struct DynamicOptions {
    bool roll_active_segment = false;   // log.retention.roll-active-segment.enabled
    size_t min_isr = 1;
    double disk_write_limit_ratio = 0.85;
    double disk_write_recover_ratio = 0.80;
  };
  rt::Task<void> SetDynamicOptions(DynamicOptions dynamic);

  /// Ends the long polls of all shards, so that the listeners can be drained. Nothing waits from then on.
  rt::Task<void> EndWaits();
  /// Stops background work and all replicas; `clean` syncs and closes the logs, writes the checkpoints, and then the clean mark.
  rt::Task<void> Stop(bool clean);

 private:
  TabletServer(TabletOptions options, rt::FileSystem* files, CoordinatorLink* coordinator);

  // background.cc
  void StartBackground();
  rt::Task<void> RunEvery(rt::Duration interval, rt::Task<void> (TabletServer::*work)(), rt::Gate::Holder holder);
  rt::Task<void> CheckpointRecoveryPoints();
  rt::Task<void> CheckpointHighWatermarks();
  rt::Task<void> RunRetention();
  rt::Task<void> ExpireWriters();
  rt::Task<void> WatchDisk(rt::Gate::Holder holder);
  rt::Task<void> CheckDisk();
  // checkpoints.cc
  rt::Task<Status> WriteRecoveryPoints();
  rt::Task<Status> WriteHighWatermarks();

  TabletOptions options_;
  DynamicOptions dynamic_;
  rt::FileSystem* files_;
  CoordinatorLink* coordinator_;
  std::vector<std::unique_ptr<TabletShard>> shards_;
  BucketOffsets written_high_watermarks_;
  log::RetentionClock retention_clock_;
  bool disk_write_locked_ = false;
  rt::Gate gate_;
  rt::Event stopping_;
};

}  // namespace strom::tablet
