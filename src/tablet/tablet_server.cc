#include "tablet/tablet_server.h"

#include <utility>

#include "base/log.h"
#include "log/offset_checkpoint.h"
#include "log/tablet_directories.h"
#include "model/layout.h"
#include "rt/call.h"
#include "tablet/fan_out.h"

namespace strom::tablet {

namespace {

struct DirectoryState {
  bool clean = false;
  std::shared_ptr<const LoadedCheckpoints> checkpoints;
};

/// A checkpoint that cannot be read counts as absent (spec/server.md 8.1): recovery scans more then.
BucketOffsets ReadCheckpoint(rt::FileSystem& files, const std::string& data_dir, const char* name) {
  auto read = log::ReadOffsetCheckpoint(files, data_dir, name);
  if (read.ok()) return std::move(read).value();
  STROM_LOG_WARN("{} is not used, recovery scans the logs instead: {}", name, read.error().message);
  return {};
}

Result<DirectoryState> LoadDirectory(rt::FileSystem* files, const std::string& data_dir) {
  STROM_TRY(files->CreateDirectories(data_dir));
  DirectoryState state;
  STROM_ASSIGN(state.clean, log::TakeCleanMark(*files, data_dir));
  auto checkpoints = std::make_shared<LoadedCheckpoints>();
  checkpoints->recovery_points = ReadCheckpoint(*files, data_dir, log::kRecoveryPointCheckpoint);
  checkpoints->high_watermarks = ReadCheckpoint(*files, data_dir, log::kHighWatermarkCheckpoint);
  state.checkpoints = std::move(checkpoints);
  return state;
}

rt::Task<std::vector<BucketOutcome>> NotifyShard(uint32_t shard, TabletShard* there,
                                                 std::vector<model::LeaderAndIsrNotice> notices) {
  co_return co_await rt::CallOn(shard, [there, &notices] { return there->ApplyNotices(std::move(notices)); });
}

rt::Task<std::vector<BucketOutcome>> StopOnShard(uint32_t shard, TabletShard* there,
                                                 std::vector<model::StopReplicaNotice> notices) {
  co_return co_await rt::CallOn(shard, [there, &notices] { return there->StopReplicas(std::move(notices)); });
}

std::vector<BucketOutcome> Join(std::vector<std::vector<BucketOutcome>> parts) {
  std::vector<BucketOutcome> all;
  for (std::vector<BucketOutcome>& part : parts) {
    for (BucketOutcome& outcome : part) all.push_back(std::move(outcome));
  }
  return all;
}

}  // namespace

TabletServer::TabletServer(TabletOptions options, rt::FileSystem* files, CoordinatorLink* coordinator)
    : options_(std::move(options)), files_(files), coordinator_(coordinator) {}

TabletServer::~TabletServer() = default;

rt::Task<Result<std::unique_ptr<TabletServer>>> TabletServer::Start(TabletOptions options, rt::FileSystem* files,
                                                                    CoordinatorLink* coordinator) {
  const std::string data_dir = options.data_dir;
  Result<DirectoryState> loaded = co_await rt::Blocking([files, &data_dir] { return LoadDirectory(files, data_dir); });
  if (!loaded.ok()) co_return loaded.error();
  options.clean_start = loaded->clean;
  std::unique_ptr<TabletServer> server(new TabletServer(std::move(options), files, coordinator));
  std::vector<TabletShard*> peers;
  for (uint32_t shard = 0; shard < rt::ShardCount(); ++shard) {
    server->shards_.push_back(
        std::make_unique<TabletShard>(&server->options_, files, coordinator, loaded->checkpoints));
    peers.push_back(server->shards_.back().get());
  }
  for (TabletShard* shard : peers) shard->SetPeers(peers);
  server->StartBackground();
  co_return server;
}

rt::Task<void> TabletServer::SetCatalog(std::shared_ptr<const meta::Catalog> catalog) {
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    TabletShard* there = shards_[shard].get();
    co_await rt::CallOn(shard, [there, &catalog] { there->SetCatalog(catalog); });
  }
}

rt::Task<std::vector<BucketOutcome>> TabletServer::ApplyNotices(std::vector<model::LeaderAndIsrNotice> notices) {
  const auto shards = static_cast<uint32_t>(shards_.size());
  std::vector<std::vector<model::LeaderAndIsrNotice>> parts(shards);
  for (model::LeaderAndIsrNotice& notice : notices) {
    parts[model::OwnerShard(notice.bucket, shards)].push_back(std::move(notice));
  }
  std::vector<rt::Task<std::vector<BucketOutcome>>> calls;
  for (uint32_t shard = 0; shard < shards; ++shard) {
    if (!parts[shard].empty()) calls.push_back(NotifyShard(shard, shards_[shard].get(), std::move(parts[shard])));
  }
  auto answers = co_await FanOut(std::move(calls));
  co_return Join(std::move(answers));
}

rt::Task<std::vector<BucketOutcome>> TabletServer::StopReplicas(std::vector<model::StopReplicaNotice> notices) {
  const auto shards = static_cast<uint32_t>(shards_.size());
  std::vector<std::vector<model::StopReplicaNotice>> parts(shards);
  for (const model::StopReplicaNotice& notice : notices) {
    parts[model::OwnerShard(notice.bucket, shards)].push_back(notice);
  }
  std::vector<rt::Task<std::vector<BucketOutcome>>> calls;
  for (uint32_t shard = 0; shard < shards; ++shard) {
    if (!parts[shard].empty()) calls.push_back(StopOnShard(shard, shards_[shard].get(), std::move(parts[shard])));
  }
  auto answers = co_await FanOut(std::move(calls));
  co_return Join(std::move(answers));
}

namespace {

/// What a sweep deletes. The directory of a table may hold buckets that are being made this moment, so a directory is judged by
/// its id alone: ids are never used twice, and a catalog that is older than a directory of its own table does not exist.
Status SweepDirectory(rt::FileSystem* files, const std::string& data_dir, const meta::Catalog& catalog) {
  STROM_ASSIGN(const std::vector<rt::DirectoryEntry> databases, files->List(data_dir));
  for (const rt::DirectoryEntry& database : databases) {
    if (!database.is_directory || database.name.starts_with(".") || database.name == "remote-log-index-cache") continue;
    const std::string database_dir = data_dir + "/" + database.name;
    STROM_ASSIGN(const std::vector<rt::DirectoryEntry> tables, files->List(database_dir));
    size_t left = tables.size();
    for (const rt::DirectoryEntry& entry : tables) {
      const auto table = model::ParseTableDirectoryName(entry.name);
      if (!entry.is_directory || !table) continue;
      const std::string table_dir = database_dir + "/" + entry.name;
      const meta::TableEntry* known = catalog.FindTable(table->id);
      if (known == nullptr) {
        STROM_LOG_INFO("deleting {}/{}: its table was dropped", database.name, entry.name);
        STROM_TRY(files->RemoveTree(table_dir));
        --left;
        continue;
      }
      if (!known->info->descriptor.is_partitioned()) continue;
      STROM_ASSIGN(const std::vector<rt::DirectoryEntry> partitions, files->List(table_dir));
      for (const rt::DirectoryEntry& each : partitions) {
        const auto partition = model::ParsePartitionDirectoryName(each.name);
        if (!each.is_directory || !partition || known->FindPartition(partition->id) != nullptr) continue;
        STROM_LOG_INFO("deleting {}/{}/{}: its partition was dropped", database.name, entry.name, each.name);
        STROM_TRY(files->RemoveTree(table_dir + "/" + each.name));
      }
    }
    if (left == 0 && catalog.FindDatabase(database.name) == nullptr) STROM_TRY(files->RemoveTree(database_dir));
  }
  return Status::OK();
}

}  // namespace

rt::Task<void> TabletServer::SweepOrphans(std::shared_ptr<const meta::Catalog> catalog) {
  rt::FileSystem* files = files_;
  const std::string* data_dir = &options_.data_dir;
  Status swept = co_await rt::Blocking([files, data_dir, &catalog] { return SweepDirectory(files, *data_dir, *catalog); });
  if (!swept.ok()) STROM_LOG_WARN("directories of dropped tables could not be deleted: {}", swept.ToString());
}

rt::Task<void> TabletServer::SetDynamicOptions(DynamicOptions dynamic) {
  dynamic_ = dynamic;
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    TabletShard* there = shards_[shard].get();
    co_await rt::CallOn(shard, [there, min_isr = dynamic.min_isr] { there->SetMinIsr(min_isr); });
  }
}

namespace {

rt::Task<bool> StopShard(uint32_t shard, TabletShard* there, bool clean) {
  co_return co_await rt::CallOn(shard, [there, clean] { return there->Stop(clean); });
}

}  // namespace

rt::Task<void> TabletServer::EndWaits() {
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    TabletShard* there = shards_[shard].get();
    co_await rt::CallOn(shard, [there] { there->EndWaits(); });
  }
}

rt::Task<void> TabletServer::Stop(bool clean) {
  stopping_.NotifyAll();
  co_await gate_.Close();
  bool all_clean = clean;
  std::vector<rt::Task<bool>> stops;
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) stops.push_back(StopShard(shard, shards_[shard].get(), clean));
  std::vector<bool> stopped = co_await FanOut(std::move(stops));
  for (const bool each : stopped) all_clean = all_clean && each;
  if (clean) {
    Status written = co_await WriteRecoveryPoints();
    if (written.ok()) written = co_await WriteHighWatermarks();
    if (written.ok() && all_clean) {
      rt::FileSystem* files = files_;
      const std::string* data_dir = &options_.data_dir;
      written = co_await rt::Blocking([files, data_dir] { return log::WriteCleanMark(*files, *data_dir); });
    }
    if (!written.ok()) STROM_LOG_ERROR("the stop is not clean, the next start scans the logs: {}", written.ToString());
  }
  // Each on its own shard: what it owns was made for that shard.
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    std::unique_ptr<TabletShard>* there = &shards_[shard];
    co_await rt::CallOn(shard, [there] { there->reset(); });
  }
}

}  // namespace strom::tablet
