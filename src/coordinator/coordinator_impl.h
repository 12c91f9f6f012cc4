#pragma once

#include <memory>
#include <string>

#include "coordinator/commit_lane.h"
#include "coordinator/coordinator.h"
#include "coordinator/coordinator_state.h"
#include "coordinator/deletion_queue.h"
#include "coordinator/serving.h"
#include "rt/sync.h"

namespace strom::coordinator {

/// The coroutines around the state machine: they store, publish, tell and answer.
class CoordinatorImpl final : public Coordinator {
 public:
  /// `loaded` belongs to `epoch`, whose node has `epoch_version`.
  CoordinatorImpl(CoordinatorOptions options, meta::MetaStore* store, TabletGateway* gateway, CoordinatorEpoch epoch,
                  int32_t epoch_version, LoadedContext loaded);

  /// Writes `fence` (empty when it stands already) with what every start writes, publishes the first catalog and starts background work.
  rt::Task<Status> Begin(meta::Transaction fence, std::vector<Deletion> deletions);

  rt::Task<void> Stop() override;
  rt::Task<Status> AddTabletServer(meta::ServerEntry server) override;
  rt::Task<Status> Execute(CreateDatabase command) override { return Run(std::move(command)); }
  rt::Task<Status> Execute(AlterDatabase command) override { return Run(std::move(command)); }
  rt::Task<Status> Execute(DropDatabase command) override { return Run(std::move(command)); }
  rt::Task<Status> Execute(CreateTable command) override { return Run(std::move(command)); }
  rt::Task<Status> Execute(AlterTable command) override { return Run(std::move(command)); }
  rt::Task<Status> Execute(DropTable command) override { return Run(std::move(command)); }
  rt::Task<Status> Execute(CreatePartition command) override { return Run(std::move(command)); }
  rt::Task<Status> Execute(DropPartition command) override { return Run(std::move(command)); }
  rt::Task<Status> AlterClusterConfigs(std::vector<model::PropertyChange> changes) override;
  rt::Task<Result<WriterId>> NewWriterId() override;
  ClusterHealth Health() const override;
  std::shared_ptr<const meta::Catalog> catalog() const override { return lane_.published(); }

 private:
  /// Ids of one durable write. What a stop leaves of a range is lost: ids are never given out twice (M6).
  static constexpr int64_t kWriterIdsAtOnce = 1000;

  template <typename Command>
  rt::Task<Status> Run(Command command);
  /// From the state's outcome to the answer.
  rt::Task<Status> Finish(Outcome outcome);
  rt::Task<void> StopReplicas(std::vector<StopRequest> stops, rt::MonotonicTime deadline);
  void TellLeaders(const std::vector<model::TableBucket>& buckets);
  rt::Task<void> Notify(ServerId server, std::vector<model::LeaderAndIsrNotice> notices, rt::Gate::Holder holder);
  rt::Task<void> RunAutoPartitions(rt::Gate::Holder holder);
  rt::Task<Status> ReserveWriterIds();
  rt::Task<Status> StoreConfig(meta::ConfigMap config);
  rt::Task<Status> ReloadConfig();
  rt::Task<Status> TellConfig();

  const CoordinatorOptions options_;
  meta::MetaStore* store_;
  TabletGateway* gateway_;
  const int32_t epoch_version_;
  meta::ConfigMap config_;
  std::optional<int32_t> config_version_;
  CoordinatorState state_;
  CommitLane lane_;
  Serving serving_;
  DeletionQueue deletions_;

  int64_t next_writer_id_ = 0;  // of the range that is reserved durably
  int64_t end_writer_id_ = 0;
  rt::Semaphore writer_ids_lane_{1};
  rt::Semaphore config_lane_{1};
  bool is_stopping_ = false;
  rt::Event stopping_;
  rt::Gate gate_;
};

}  // namespace strom::coordinator
