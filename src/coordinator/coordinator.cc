#include "coordinator/coordinator.h"

#include <map>

#include "base/log.h"
#include "coordinator/cluster_health.h"
#include "coordinator/coordinator_impl.h"
#include "meta/paths.h"
#include "rt/time.h"

namespace strom::coordinator {
namespace {

/// Counts answers that are still to come. Shared by those who give them and the one who waits, whoever ends first.
struct Countdown {
  size_t left = 0;
  rt::Event done;
};

Error Stopping() { return MakeError(ErrorCode::kCancelled, "the coordinator is stopping"); }

rt::Task<void> StopOnServer(TabletGateway* gateway, ServerId server, CoordinatorEpoch epoch,
                            std::vector<model::StopReplicaNotice> notices, std::shared_ptr<Countdown> countdown,
                            [[maybe_unused]] rt::Gate::Holder holder) {
  BucketOutcomes outcomes = co_await gateway->StopReplica(server, epoch, std::move(notices));
  // A replica that does not stop now is deleted later, and the catalog that it finds does not have its table.
  if (!outcomes.ok()) STROM_LOG_WARN("coordinator: server {} does not stop replicas: {}", server, outcomes.error().message);
  --countdown->left;
  countdown->done.NotifyAll();
}

/// The notice about one bucket, from the catalog; nothing when the bucket is gone or has no leader.
std::optional<model::LeaderAndIsrNotice> MakeNotice(const meta::Catalog& catalog, const model::TableBucket& bucket) {
  const meta::TableEntry* table = catalog.FindTable(bucket.table_id);
  const meta::BucketState* state = catalog.FindBucket(bucket);
  if (table == nullptr || state == nullptr || state->state.leader == kNoLeader) return std::nullopt;
  model::PhysicalTablePath path{table->info->path, std::nullopt};
  if (bucket.partition_id) path.partition_name = table->FindPartition(*bucket.partition_id)->name;
  return model::LeaderAndIsrNotice{bucket, std::move(path), state->replicas, state->state, table->info};
}

}  // namespace

CoordinatorImpl::CoordinatorImpl(CoordinatorOptions options, meta::MetaStore* store, TabletGateway* gateway,
                                 CoordinatorEpoch epoch, int32_t epoch_version, LoadedContext loaded)
    : options_(std::move(options)),
      store_(store),
      gateway_(gateway),
      epoch_version_(epoch_version),
      config_(loaded.config),
      config_version_(loaded.config_version),
      state_(&options_, epoch, std::move(loaded), options_.seed),
      lane_(store, gateway, &state_, epoch_version, [this](const auto& buckets) { TellLeaders(buckets); }),
      deletions_(
          gateway, epoch, [this](ServerId server) { return lane_.published()->FindServer(server) != nullptr; },
          [this](std::string path) {
            Outcome outcome;
            outcome.writes.DeleteTree(std::move(path));
            return lane_.Submit(std::move(outcome));
          }) {}

rt::Task<Status> CoordinatorImpl::Begin(meta::Transaction fence, std::vector<Deletion> deletions) {
  if (fence.empty()) fence.Check(meta::paths::kCoordinatorEpoch, epoch_version_);
  // Tablet servers register below it, without a sync of their own.
  if (state_.epoch() == CoordinatorEpoch(0)) fence.Put(meta::paths::kTabletServerIds, "");
  Outcome first;
  if (state_.view().DatabaseNames().empty()) {
    Result<Outcome> made = state_.Apply(CreateDatabase{std::string(model::kDefaultDatabase), {}, true}, rt::WallClockNow());
    STROM_CO_ASSIGN(first, std::move(made));
  }
  auto [writer_id, reserved] = state_.ReserveWriterIds(kWriterIdsAtOnce);
  first.Merge(std::move(reserved));
  fence.Append(std::move(first.writes));
  // Beside the lane, whose fence stands only after this.
  Status committed = co_await store_->Commit(std::move(fence));
  if (!committed.ok()) co_return committed;
  next_writer_id_ = writer_id;
  end_writer_id_ = writer_id + kWriterIdsAtOnce;
  Status published = co_await lane_.PublishNow();
  if (!published.ok()) co_return published;
  if (options_.on_dynamic_config) options_.on_dynamic_config(config_);
  deletions_.Add(std::move(deletions));
  rt::Spawn(RunAutoPartitions(gate_.TryEnter()));
  co_return Status::OK();
}

rt::Task<void> CoordinatorImpl::Stop() {
  is_stopping_ = true;
  stopping_.NotifyAll();
  serving_.Stop();
  co_await lane_.Stop();
  co_await deletions_.Stop();
  co_await gate_.Close();
}

template <typename Command>
rt::Task<Status> CoordinatorImpl::Run(Command command) {
  rt::Gate::Holder hold = gate_.TryEnter();
  if (!hold) co_return Stopping();
  Result<Outcome> outcome = state_.Apply(command, rt::WallClockNow());
  if (!outcome.ok()) {
    // Nobody may hear of something that is not durable yet, not even by a refusal.
    Status flushed = co_await lane_.Flush();
    co_return flushed.ok() ? outcome.status() : flushed;
  }
  Status finished = co_await Finish(std::move(*outcome));
  co_return finished;
}

rt::Task<Status> CoordinatorImpl::Finish(Outcome outcome) {
  const rt::MonotonicTime deadline = rt::Now() + options_.serve_wait_max;
  std::vector<model::TableBucket> await = std::exchange(outcome.await, {});
  std::vector<StopRequest> stops = std::exchange(outcome.stops, {});
  std::vector<Deletion> deletions = std::exchange(outcome.deletions, {});
  for (const model::TableBucket& bucket : outcome.notify) {
    serving_.Tell(bucket, state_.view().FindBucket(bucket)->state.leader_epoch);
  }
  for (const StopRequest& stop : stops) serving_.Forget(stop.notice.bucket);
  rt::Task<Status> published = outcome.writes.empty() ? lane_.Flush() : lane_.Submit(std::move(outcome));
  Status durable = co_await std::move(published);
  if (!durable.ok()) co_return durable;
  if (!stops.empty()) co_await StopReplicas(std::move(stops), deadline);
  if (!deletions.empty()) deletions_.Add(std::move(deletions));
  co_await serving_.Wait(std::move(await), deadline);
  co_return Status::OK();
}

rt::Task<void> CoordinatorImpl::StopReplicas(std::vector<StopRequest> stops, rt::MonotonicTime deadline) {
  std::map<ServerId, std::vector<model::StopReplicaNotice>> by_server;
  for (StopRequest& stop : stops) {
    if (lane_.published()->FindServer(stop.server) != nullptr) by_server[stop.server].push_back(stop.notice);
  }
  auto countdown = std::make_shared<Countdown>();
  countdown->left = by_server.size();
  for (auto& [server, notices] : by_server) {
    rt::Gate::Holder holder = gate_.TryEnter();
    if (!holder) co_return;
    rt::Spawn(StopOnServer(gateway_, server, state_.epoch(), std::move(notices), countdown, std::move(holder)));
  }
  while (countdown->left > 0) {
    const bool woken = co_await countdown->done.Wait(deadline);
    if (!woken) co_return;
  }
}

void CoordinatorImpl::TellLeaders(const std::vector<model::TableBucket>& buckets) {
  const std::shared_ptr<const meta::Catalog> catalog = lane_.published();
  std::map<ServerId, std::vector<model::LeaderAndIsrNotice>> by_server;
  for (const model::TableBucket& bucket : buckets) {
    std::optional<model::LeaderAndIsrNotice> notice = MakeNotice(*catalog, bucket);
    if (!notice) {
      serving_.Forget(bucket);  // dropped in the same group
      continue;
    }
    for (ServerId replica : notice->replicas) {
      if (catalog->FindServer(replica) != nullptr) by_server[replica].push_back(*notice);
    }
  }
  for (auto& [server, notices] : by_server) {
    rt::Gate::Holder holder = gate_.TryEnter();
    if (!holder) return;
    rt::Spawn(Notify(server, std::move(notices), std::move(holder)));
  }
}

rt::Task<void> CoordinatorImpl::Notify(ServerId server, std::vector<model::LeaderAndIsrNotice> notices,
                                       [[maybe_unused]] rt::Gate::Holder holder) {
  std::map<model::TableBucket, LeaderEpoch> led;
  for (const model::LeaderAndIsrNotice& notice : notices) {
    if (notice.state.leader == server) led[notice.bucket] = notice.state.leader_epoch;
  }
  BucketOutcomes outcomes = co_await gateway_->NotifyLeaderAndIsr(server, std::move(notices));
  if (!outcomes.ok()) {
    STROM_LOG_ERROR("coordinator: server {} does not take leadership of {} buckets: {}", server, led.size(),
                    outcomes.error().message);
    for (const auto& [bucket, epoch] : led) serving_.Answer(bucket, epoch, false);
    co_return;
  }
  for (const BucketOutcome& outcome : *outcomes) {
    if (!outcome.status.ok()) {
      STROM_LOG_ERROR("coordinator: server {} does not serve {}: {}", server, outcome.bucket.ToString(),
                      outcome.status.ToString());
    }
    const auto found = led.find(outcome.bucket);
    if (found != led.end()) serving_.Answer(outcome.bucket, found->second, outcome.status.ok());
  }
}

rt::Task<Status> CoordinatorImpl::AddTabletServer(meta::ServerEntry server) {
  rt::Gate::Holder hold = gate_.TryEnter();
  if (!hold) co_return Stopping();
  const TimestampMs now = rt::WallClockNow();
  Outcome outcome = state_.AddTabletServer(server, now);
  outcome.Merge(state_.RunAutoPartitions(now, true));
  Status finished = co_await Finish(std::move(outcome));
  if (finished.ok()) deletions_.Retry();
  co_return finished;
}

rt::Task<void> CoordinatorImpl::RunAutoPartitions([[maybe_unused]] rt::Gate::Holder holder) {
  while (!is_stopping_) {
    const rt::MonotonicTime next = rt::Now() + options_.auto_partition_check_interval;
    co_await stopping_.Wait(next);
    if (is_stopping_) co_return;
    if (lane_.published()->tablet_servers().empty()) continue;
    Outcome outcome = state_.RunAutoPartitions(rt::WallClockNow(), false);
    if (outcome.writes.empty()) continue;
    Status finished = co_await Finish(std::move(outcome));
    if (!finished.ok()) co_return;
  }
}

ClusterHealth CoordinatorImpl::Health() const { return CountHealth(*lane_.published(), serving_.Inactive()); }

}  // namespace strom::coordinator
