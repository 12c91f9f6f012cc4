#include <algorithm>

#include "base/log.h"
#include "log/offset_checkpoint.h"
#include "rt/call.h"
#include "tablet/tablet_server.h"

namespace strom::tablet {

namespace {

/// While the disk is too full for writes it is looked at this often, so that writes go on soon after there is room.
constexpr rt::Duration kLockedDiskCheckInterval = std::chrono::seconds(1);

rt::Task<BucketOffsets> CollectRecoveryPoints(uint32_t shard, TabletShard* there) {
  co_return co_await rt::CallOn(shard, [there] { return there->RecoveryPoints(); });
}

rt::Task<BucketOffsets> CollectHighWatermarks(uint32_t shard, TabletShard* there) {
  co_return co_await rt::CallOn(shard, [there] { return there->HighWatermarks(); });
}

}  // namespace

void TabletServer::StartBackground() {
  rt::Spawn(RunEvery(options_.recovery_checkpoint_interval, &TabletServer::CheckpointRecoveryPoints, gate_.TryEnter()));
  rt::Spawn(RunEvery(options_.high_watermark_checkpoint_interval, &TabletServer::CheckpointHighWatermarks, gate_.TryEnter()));
  rt::Spawn(RunEvery(options_.retention_check_interval, &TabletServer::RunRetention, gate_.TryEnter()));
  rt::Spawn(RunEvery(options_.writer_expiry_check_interval, &TabletServer::ExpireWriters, gate_.TryEnter()));
  rt::Spawn(WatchDisk(gate_.TryEnter()));
}

rt::Task<void> TabletServer::RunEvery(rt::Duration interval, rt::Task<void> (TabletServer::*work)(),
                                    [[maybe_unused]] rt::Gate::Holder holder) {
  while (!gate_.closing()) {
    const bool stopping = co_await stopping_.Wait(rt::Now() + interval);
    if (stopping || gate_.closing()) break;
    co_await (this->*work)();
  }
}

rt::Task<void> TabletServer::CheckpointRecoveryPoints() {
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    TabletShard* there = shards_[shard].get();
    co_await rt::CallOn(shard, [there] { return there->SyncLogs(); });
  }
  Status written = co_await WriteRecoveryPoints();
  if (!written.ok()) STROM_LOG_WARN("recovery points could not be written: {}", written.ToString());
}

rt::Task<void> TabletServer::CheckpointHighWatermarks() {
  Status written = co_await WriteHighWatermarks();
  if (!written.ok()) STROM_LOG_WARN("high watermarks could not be written: {}", written.ToString());
}

rt::Task<Status> TabletServer::WriteRecoveryPoints() {
  log::BucketOffsets offsets;
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    BucketOffsets part = co_await CollectRecoveryPoints(shard, shards_[shard].get());
    offsets.insert(offsets.end(), part.begin(), part.end());
  }
  rt::FileSystem* files = files_;
  const std::string* data_dir = &options_.data_dir;
  co_return co_await rt::Blocking([files, data_dir, &offsets] {
    return log::WriteOffsetCheckpoint(*files, *data_dir, log::kRecoveryPointCheckpoint, std::move(offsets));
  });
}

rt::Task<Status> TabletServer::WriteHighWatermarks() {
  BucketOffsets all;
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    BucketOffsets part = co_await CollectHighWatermarks(shard, shards_[shard].get());
    all.merge(std::move(part));
  }
  if (all == written_high_watermarks_) co_return Status::OK();
  rt::FileSystem* files = files_;
  const std::string* data_dir = &options_.data_dir;
  log::BucketOffsets offsets(all.begin(), all.end());
  Status written = co_await rt::Blocking([files, data_dir, &offsets] {
    return log::WriteOffsetCheckpoint(*files, *data_dir, log::kHighWatermarkCheckpoint, std::move(offsets));
  });
  if (written.ok()) written_high_watermarks_ = std::move(all);
  co_return written;
}

rt::Task<void> TabletServer::RunRetention() {
  const TimestampMs now = retention_clock_.Advance(rt::WallClockNow(), rt::Now());
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    TabletShard* there = shards_[shard].get();
    co_await rt::CallOn(shard, [there, now, roll = dynamic_.roll_active_segment] { there->RunRetention(now, roll); });
  }
}

rt::Task<void> TabletServer::ExpireWriters() {
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    TabletShard* there = shards_[shard].get();
    co_await rt::CallOn(shard, [there] { there->ExpireWriters(); });
  }
}

rt::Task<void> TabletServer::WatchDisk([[maybe_unused]] rt::Gate::Holder holder) {
  while (!gate_.closing()) {
    co_await CheckDisk();
    const rt::Duration interval =
        disk_write_locked_ ? std::min(kLockedDiskCheckInterval, options_.disk_check_interval) : options_.disk_check_interval;
    const bool stopping = co_await stopping_.Wait(rt::Now() + interval);
    if (stopping) break;
  }
}

rt::Task<void> TabletServer::CheckDisk() {
  rt::FileSystem* files = files_;
  const std::string* data_dir = &options_.data_dir;
  Result<rt::DiskUsage> usage = co_await rt::Blocking([files, data_dir] { return files->Usage(*data_dir); });
  if (!usage.ok()) {
    STROM_LOG_WARN("the use of the disk cannot be told: {}", usage.error().message);
    co_return;
  }
  if (usage->total_bytes == 0) co_return;
  const double used = 1.0 - static_cast<double>(usage->available_bytes) / static_cast<double>(usage->total_bytes);
  const double limit = disk_write_locked_ ? dynamic_.disk_write_recover_ratio : dynamic_.disk_write_limit_ratio;
  const bool locked = disk_write_locked_ ? used > limit : used >= limit;
  if (locked == disk_write_locked_) co_return;
  disk_write_locked_ = locked;
  if (locked) {
    STROM_LOG_ERROR("the disk of {} is {:.1f} % full, above the limit of {:.1f} %: writes are refused until it is below {:.1f} %, reads go on",
                    options_.data_dir, used * 100, limit * 100, dynamic_.disk_write_recover_ratio * 100);
  } else {
    STROM_LOG_INFO("the disk of {} is {:.1f} % full: writes are taken again", options_.data_dir, used * 100);
  }
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    TabletShard* there = shards_[shard].get();
    co_await rt::CallOn(shard, [there, locked] { there->SetDiskWriteLocked(locked); });
  }
}

}  // namespace strom::tablet
