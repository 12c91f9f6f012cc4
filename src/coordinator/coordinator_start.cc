#include <charconv>

#include "base/log.h"
#include "base/random.h"
#include "coordinator/context_load.h"
#include "coordinator/coordinator_impl.h"
#include "meta/paths.h"
#include "meta/records.h"
#include "rt/time.h"

namespace strom::coordinator {
namespace {

struct Fence {
  CoordinatorEpoch epoch;
  int32_t node_version = 0;
};

Result<int32_t> ParseEpoch(const std::string& data) {
  int32_t epoch = -1;
  const auto parsed = std::from_chars(data.data(), data.data() + data.size(), epoch);
  if (parsed.ec != std::errc() || parsed.ptr != data.data() + data.size() || epoch < -1) {
    return MakeError(ErrorCode::kCorruptData, "metadata node {} holds '{}' instead of an epoch", meta::paths::kCoordinatorEpoch,
                     data);
  }
  return epoch;
}

/// A random UUID (version 4) as text.
std::string MakeUuid(Random& random) {
  const uint64_t high = (random.Next() & ~0xF000ULL) | 0x4000ULL;
  const uint64_t low = (random.Next() & ~(3ULL << 62)) | (2ULL << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF, high & 0xFFFF, low >> 48,
                     low & 0xFFFF'FFFF'FFFFULL);
}

/// The next epoch, for us and for nobody else (spec/server.md 3.3), and our address. `node`: that of the epoch, or nothing.
Result<std::pair<Fence, meta::Transaction>> NextEpoch(const meta::Node* node, const std::string& uuid,
                                                      const std::vector<meta::Endpoint>& endpoints) {
  int32_t before = -1;
  meta::Transaction fence;
  if (node != nullptr) {
    STROM_ASSIGN(before, ParseEpoch(node->data));
  } else {
    fence.Create(meta::paths::kCoordinatorEpoch, "-1");
  }
  const int32_t version = node != nullptr ? node->version : 0;
  fence.Set(meta::paths::kCoordinatorEpoch, std::to_string(before + 1), version);
  const std::string address = meta::ToJson(meta::CoordinatorRecord{uuid, endpoints});
  fence.Create(meta::paths::CoordinatorId(uuid), address, true);
  fence.DeleteTree(meta::paths::kActiveCoordinator);
  fence.Create(meta::paths::kActiveCoordinator, address, true);
  return std::pair(Fence{CoordinatorEpoch(before + 1), version + 1}, std::move(fence));
}

Status ExplainFence(const Status& failed) {
  return MakeError(failed.code() == ErrorCode::kVersionConflict ? ErrorCode::kNotCoordinatorLeader : failed.code(),
                   "this coordinator cannot take over the metadata: {}", failed.error().message);
}

const meta::Node* FindEpochNode(const std::vector<meta::NodeEntry>& nodes) {
  for (const meta::NodeEntry& entry : nodes) {
    if (entry.path == meta::paths::kCoordinatorEpoch) return &entry.node;
  }
  return nullptr;
}

}  // namespace

rt::Task<Result<std::unique_ptr<Coordinator>>> Coordinator::Start(CoordinatorOptions options, meta::MetaStore* store,
                                                                  TabletGateway* gateway) {
  if (options.seed == 0) {
    options.seed = static_cast<uint64_t>(rt::WallClockNow().value()) * 1'000'003 + static_cast<uint64_t>(rt::Now().nanoseconds);
  }
  Random random(options.seed);
  const std::string uuid = MakeUuid(random);
  Result<std::vector<meta::NodeEntry>> scanned = co_await store->Scan("/");
  STROM_CO_ASSIGN(std::vector<meta::NodeEntry> nodes, std::move(scanned));
  STROM_CO_ASSIGN(auto next, NextEpoch(FindEpochNode(nodes), uuid, options.endpoints));
  const Fence fence = next.first;
  meta::Transaction first = std::move(next.second);
  if (!store->is_exclusive()) {
    // An earlier coordinator may write until the fence stands; what it wrote must be read after that.
    Status fenced = co_await store->Commit(std::exchange(first, {}));
    if (!fenced.ok()) co_return ExplainFence(fenced);
    scanned = co_await store->Scan("/");
    STROM_CO_ASSIGN(nodes, std::move(scanned));
  }
  STROM_CO_ASSIGN(LoadedContext loaded, LoadContext(nodes, options.remote_data_dir));
  nodes = {};
  std::vector<Deletion> deletions = std::move(loaded.deletions);
  auto coordinator = std::make_unique<CoordinatorImpl>(std::move(options), store, gateway, fence.epoch, fence.node_version,
                                                       std::move(loaded));
  Status begun = co_await coordinator->Begin(std::move(first), std::move(deletions));
  if (!begun.ok()) {
    co_await coordinator->Stop();
    co_return ExplainFence(begun);
  }
  const std::shared_ptr<const meta::Catalog> catalog = coordinator->catalog();
  STROM_LOG_INFO("coordinator: epoch {}, {} databases, {} tables", fence.epoch, catalog->DatabaseNames().size(),
                 catalog->table_count());
  co_return std::unique_ptr<Coordinator>(std::move(coordinator));
}

}  // namespace strom::coordinator
