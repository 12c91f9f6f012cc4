#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "log/file_cache.h"
#include "log/log.h"
#include "meta/catalog.h"
#include "model/leader_and_isr.h"
#include "replica/fetch_waiter.h"
#include "replica/replica.h"
#include "rt/file.h"
#include "rt/sync.h"
#include "tablet/coordinator_link.h"

namespace strom::tablet {

/// What the tablet server is set to (config.tsv). The same for all shards; outlives them.
struct TabletOptions {
  ServerId server_id;
  std::string data_dir;               // data.dir: only the reference's layout is in here
  bool clean_start = false;           // the clean mark was there
  bool power_loss_possible = true;    // the machine has been started since the last stop
  log::LogOptions log;
  size_t min_isr = 1;
  size_t open_files_max = 1024;       // descriptors of log files, of one shard
  rt::Duration recovery_checkpoint_interval = std::chrono::seconds(60);  // log.flush.offset.checkpoint-interval
  rt::Duration high_watermark_checkpoint_interval = std::chrono::seconds(5);
  rt::Duration retention_check_interval = std::chrono::minutes(5);
  rt::Duration writer_expiry_check_interval = std::chrono::minutes(10);
  rt::Duration disk_check_interval = std::chrono::seconds(30);
};

using BucketOffsets = std::unordered_map<model::TableBucket, LogOffset>;

/// What earlier runs left in the checkpoint files. Immutable.
struct LoadedCheckpoints {
  BucketOffsets recovery_points;
  BucketOffsets high_watermarks;
};

struct BucketOutcome {
  model::TableBucket bucket;
  Status status;
};

/// The buckets of one shard, and what their requests need. All members are called on that shard, unless they say otherwise.
class TabletShard {
 public:
  TabletShard(const TabletOptions* options, rt::FileSystem* files, CoordinatorLink* coordinator,
              std::shared_ptr<const LoadedCheckpoints> checkpoints);
  ~TabletShard();
  TabletShard(const TabletShard&) = delete;
  TabletShard& operator=(const TabletShard&) = delete;

  /// The tablet shards of all shards, by shard index; set once, before the first request.
  void SetPeers(std::vector<TabletShard*> peers) { peers_ = std::move(peers); }
  TabletShard* peer(uint32_t shard) const { return peers_[shard]; }

  const std::shared_ptr<const meta::Catalog>& catalog() const { return catalog_; }
  /// Replaces the catalog and hands changed tables to the replicas.
  void SetCatalog(std::shared_ptr<const meta::Catalog> catalog);

  /// The replica that serves a bucket: kUnknownTableOrBucket when nobody knows the bucket, kNotLeaderOrFollower when it is
  /// not here (spec/server.md 7.4).
  Result<std::shared_ptr<replica::Replica>> FindReplica(const model::TableBucket& bucket) const;

  /// Carries out what the coordinator says of buckets of this shard. Logs are opened off the shard; requests for one bucket are
  /// taken in order. Answers when they serve or are refused.
  rt::Task<std::vector<BucketOutcome>> ApplyNotices(std::vector<model::LeaderAndIsrNotice> notices);
  rt::Task<std::vector<BucketOutcome>> StopReplicas(std::vector<model::StopReplicaNotice> notices);

  /// Offsets for the checkpoint files.
  BucketOffsets RecoveryPoints() const;
  BucketOffsets HighWatermarks() const;
  /// Starts a sync of every log with unsynced batches and waits for their end: bounds what a crash has to scan (W16).
  rt::Task<void> SyncLogs();
  /// `now` is the retention clock's: a jump of the wall clock does not expire everything at once.
  void RunRetention(TimestampMs now, bool roll_active_segment);
  void ExpireWriters();
  void SetDiskWriteLocked(bool locked) { environment_.disk_write_locked = locked; }
  void SetMinIsr(size_t min_isr) { environment_.min_isr = min_isr; }

  /// Fetches that wait, and those to come, are answered at once with what there is: a stop does not wait for their time.
  void EndWaits();
  bool waits_ended() const { return waits_ended_; }
  /// Stops all replicas. False when a log could not be closed cleanly: then no clean mark is written.
  rt::Task<bool> Stop(bool clean);

  CoordinatorLink& coordinator() { return *coordinator_; }
  replica::FetchViewCache& fetch_views() { return fetch_views_; }
  size_t replicas_count() const { return replicas_.size(); }

  /// Fetches that wait here for a round that other shards may complete, by round number.
  std::unordered_map<uint64_t, replica::FetchWaiter*>& waiting_fetches() { return waiting_fetches_; }
  /// A number for a fetch round, unique in the process.
  uint64_t NextFetchRound();
  /// Rotates the order in which the buckets of a fetch take from its byte budget.
  size_t NextFetchRotation() { return fetch_rotation_++; }

 private:
  using Lane = rt::Semaphore;
  std::shared_ptr<Lane> LaneOf(const model::TableBucket& bucket);
  rt::Task<BucketOutcome> ApplyNotice(model::LeaderAndIsrNotice notice);
  rt::Task<BucketOutcome> StopOne(model::StopReplicaNotice notice);
  rt::Task<std::shared_ptr<replica::Replica>> OpenReplica(const model::LeaderAndIsrNotice& notice);

  const TabletOptions* options_;
  rt::FileSystem* files_;
  CoordinatorLink* coordinator_;
  std::shared_ptr<const LoadedCheckpoints> checkpoints_;
  log::FileCache file_cache_;
  replica::ReplicaEnvironment environment_;
  replica::FetchViewCache fetch_views_;
  std::vector<TabletShard*> peers_;
  std::shared_ptr<const meta::Catalog> catalog_;
  std::unordered_map<model::TableBucket, std::shared_ptr<replica::Replica>> replicas_;
  std::unordered_map<model::TableBucket, std::weak_ptr<Lane>> lanes_;
  std::unordered_map<uint64_t, replica::FetchWaiter*> waiting_fetches_;
  uint64_t fetch_rounds_ = 0;
  size_t fetch_rotation_ = 0;
  bool waits_ended_ = false;
};

}  // namespace strom::tablet
