#include "tablet/tablet_shard.h"

#include <utility>

#include "base/log.h"
#include "model/layout.h"
#include "rt/call.h"
#include "tablet/fan_out.h"

namespace strom::tablet {

TabletShard::TabletShard(const TabletOptions* options, rt::FileSystem* files, CoordinatorLink* coordinator,
                         std::shared_ptr<const LoadedCheckpoints> checkpoints)
    : options_(options),
      files_(files),
      coordinator_(coordinator),
      checkpoints_(std::move(checkpoints)),
      file_cache_(files, options->open_files_max),
      environment_{.server_id = options->server_id,
                   .group_commit = options->log.flush_interval_messages == 1,
                   .min_isr = options->min_isr,
                   .disk_write_locked = false},
      catalog_(std::make_shared<meta::Catalog>()) {}

TabletShard::~TabletShard() = default;

void TabletShard::SetCatalog(std::shared_ptr<const meta::Catalog> catalog) {
  catalog_ = std::move(catalog);
  for (auto& [bucket, replica] : replicas_) {
    const meta::TableEntry* table = catalog_->FindTable(bucket.table_id);
    if (table != nullptr && table->info.get() != &replica->table()) replica->UpdateTable(table->info);
  }
}

Result<std::shared_ptr<replica::Replica>> TabletShard::FindReplica(const model::TableBucket& bucket) const {
  const auto found = replicas_.find(bucket);
  if (found != replicas_.end()) return found->second;
  if (catalog_->FindBucket(bucket) != nullptr) {
    return MakeError(ErrorCode::kNotLeaderOrFollower, "server {} has no replica of {} (yet)", options_->server_id,
                     bucket.ToString());
  }
  return MakeError(ErrorCode::kUnknownTableOrBucket, "{} is not known: it was dropped, or has just been made",
                   bucket.ToString());
}

std::shared_ptr<TabletShard::Lane> TabletShard::LaneOf(const model::TableBucket& bucket) {
  std::weak_ptr<Lane>& known = lanes_[bucket];
  std::shared_ptr<Lane> lane = known.lock();
  if (!lane) {
    lane = std::make_shared<Lane>(1);
    known = lane;
  }
  return lane;
}

rt::Task<std::vector<BucketOutcome>> TabletShard::ApplyNotices(std::vector<model::LeaderAndIsrNotice> notices) {
  std::vector<rt::Task<BucketOutcome>> tasks;
  tasks.reserve(notices.size());
  for (model::LeaderAndIsrNotice& notice : notices) tasks.push_back(ApplyNotice(std::move(notice)));
  return FanOut(std::move(tasks));
}

rt::Task<std::vector<BucketOutcome>> TabletShard::StopReplicas(std::vector<model::StopReplicaNotice> notices) {
  std::vector<rt::Task<BucketOutcome>> tasks;
  tasks.reserve(notices.size());
  for (model::StopReplicaNotice& notice : notices) tasks.push_back(StopOne(notice));
  return FanOut(std::move(tasks));
}

rt::Task<BucketOutcome> TabletShard::ApplyNotice(model::LeaderAndIsrNotice notice) {
  const std::shared_ptr<Lane> lane = LaneOf(notice.bucket);
  co_await lane->Acquire();
  auto found = replicas_.find(notice.bucket);
  if (found == replicas_.end()) {
    std::shared_ptr<replica::Replica> opened = co_await OpenReplica(notice);
    found = replicas_.emplace(notice.bucket, std::move(opened)).first;
  }
  Status applied = found->second->ApplyNotice(notice);
  lane->Release();
  if (lane.use_count() == 1) lanes_.erase(notice.bucket);
  co_return BucketOutcome{notice.bucket, std::move(applied)};
}

rt::Task<std::shared_ptr<replica::Replica>> TabletShard::OpenReplica(const model::LeaderAndIsrNotice& notice) {
  const auto recovery = checkpoints_->recovery_points.find(notice.bucket);
  const auto watermark = checkpoints_->high_watermarks.find(notice.bucket);
  const log::OpenMode mode{
      .clean = options_->clean_start,
      .recovery_point = recovery == checkpoints_->recovery_points.end() ? LogOffset(0) : recovery->second,
      .power_loss_possible = options_->power_loss_possible};
  log::LogEnvironment environment;
  environment.files = files_;
  environment.file_cache = &file_cache_;
  const std::string directory = model::LogTabletDirectory(options_->data_dir, notice.path, notice.bucket);
  const model::TableBucket bucket = notice.bucket;
  // Row formats are always magic 0 (spec/formats.md 2). The CRC does not cover the magic, so a flipped bit of it would move the rows.
  log::LogOptions log_options = options_->log;
  if (notice.table->config.log_format != model::LogFormat::kArrow) log_options.magic_max = 0;
  const log::LogOptions* opened_with = &log_options;
  auto opened = co_await rt::Blocking([&environment, &directory, bucket, opened_with, mode] {
    return log::Log::Open(environment, directory, bucket, *opened_with, mode);
  });
  if (!opened.ok()) {
    STROM_LOG_ERROR("{} of {} is refused, the other buckets serve: {}", bucket.ToString(), notice.path.ToString(),
                    opened.error().message);
    co_return std::make_shared<replica::Replica>(&environment_, bucket, notice.path, notice.table, opened.error());
  }
  const LogOffset high_watermark =
      watermark == checkpoints_->high_watermarks.end() ? LogOffset(0) : watermark->second;
  co_return std::make_shared<replica::Replica>(&environment_, bucket, notice.path, notice.table,
                                               std::move(opened).value(), high_watermark);
}

rt::Task<BucketOutcome> TabletShard::StopOne(model::StopReplicaNotice notice) {
  const std::shared_ptr<Lane> lane = LaneOf(notice.bucket);
  co_await lane->Acquire();
  Status status;
  const auto found = replicas_.find(notice.bucket);
  if (found != replicas_.end()) {
    const std::shared_ptr<replica::Replica> replica = found->second;
    if (!replica->refused() && notice.leader_epoch < replica->state().leader_epoch) {
      status = MakeError(ErrorCode::kFencedLeaderEpoch, "{}: leader epoch {} is older than {}", notice.bucket.ToString(),
                         notice.leader_epoch, replica->state().leader_epoch);
    } else {
      replicas_.erase(found);
      status = co_await replica->Stop(!notice.delete_local);
      if (notice.delete_local) {
        const std::string directory = model::LogTabletDirectory(options_->data_dir, replica->path(), notice.bucket);
        rt::FileSystem* files = files_;
        status = co_await rt::Blocking([files, &directory] { return files->RemoveTree(directory); });
      }
    }
  }
  lane->Release();
  if (lane.use_count() == 1) lanes_.erase(notice.bucket);
  co_return BucketOutcome{notice.bucket, std::move(status)};
}

BucketOffsets TabletShard::RecoveryPoints() const {
  BucketOffsets offsets;
  for (const auto& [bucket, replica] : replicas_) {
    if (log::Log* log = replica->log()) {
      offsets.emplace(bucket, log->recovery_point());
    } else if (const auto known = checkpoints_->recovery_points.find(bucket); known != checkpoints_->recovery_points.end()) {
      offsets.insert(*known);  // a refused bucket keeps what is known of it
    }
  }
  return offsets;
}

BucketOffsets TabletShard::HighWatermarks() const {
  BucketOffsets offsets;
  for (const auto& [bucket, replica] : replicas_) {
    if (replica->log() != nullptr) offsets.emplace(bucket, replica->high_watermark());
  }
  return offsets;
}

rt::Task<void> TabletShard::SyncLogs() {
  std::vector<std::shared_ptr<replica::Replica>> dirty;
  for (const auto& [bucket, replica] : replicas_) {
    log::Log* log = replica->log();
    if (log != nullptr && !replica->refused() && log->flushed_offset() < log->log_end_offset()) dirty.push_back(replica);
  }
  for (const std::shared_ptr<replica::Replica>& replica : dirty) {
    co_await replica->Sync();
  }
}

void TabletShard::RunRetention(TimestampMs now, bool roll_active_segment) {
  for (const auto& [bucket, replica] : replicas_) {
    const Status deleted = replica->DeleteExpired(now, roll_active_segment);
    if (!deleted.ok()) STROM_LOG_WARN("{}: expired segments could not be deleted: {}", bucket.ToString(), deleted.ToString());
  }
}

void TabletShard::ExpireWriters() {
  for (const auto& [bucket, replica] : replicas_) replica->ExpireWriters();
}

void TabletShard::EndWaits() {
  waits_ended_ = true;
  for (auto& [round, waiter] : waiting_fetches_) waiter->Notify();
}

rt::Task<bool> TabletShard::Stop(bool clean) {
  EndWaits();
  bool all_clean = true;
  std::vector<rt::Task<Status>> stops;
  std::vector<std::shared_ptr<replica::Replica>> replicas;
  for (const auto& [bucket, replica] : replicas_) replicas.push_back(replica);
  for (const std::shared_ptr<replica::Replica>& replica : replicas) stops.push_back(replica->Stop(clean));
  std::vector<Status> stopped = co_await FanOut(std::move(stops));
  for (size_t i = 0; i < stopped.size(); ++i) {
    if (stopped[i].ok()) continue;
    all_clean = false;
    STROM_LOG_ERROR("{} could not be closed cleanly: {}", replicas[i]->bucket().ToString(), stopped[i].ToString());
  }
  co_return all_clean;
}

uint64_t TabletShard::NextFetchRound() { return (static_cast<uint64_t>(rt::ThisShard()) << 48) | ++fetch_rounds_; }

}  // namespace strom::tablet
