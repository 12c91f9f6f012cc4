#pragma once

#include <memory>

#include "coordinator/coordinator.h"
#include "coordinator/tablet_gateway.h"
#include "rpc/request_handler.h"
#include "tablet/coordinator_link.h"
#include "tablet/tablet_server.h"

namespace strom::server {

/// The coordinator and the tablet server of one process, joined without a network. Both are set before the first call.
class LocalGateway final : public coordinator::TabletGateway, public tablet::CoordinatorLink {
 public:
  void SetTablet(tablet::TabletServer* tablet) { tablet_ = tablet; }
  /// `handler` answers what tablet servers pass on; it is used on shard 0.
  void SetCoordinator(coordinator::Coordinator* coordinator, rpc::RequestHandler* handler) {
    coordinator_ = coordinator;
    coordinator_handler_ = handler;
  }

  // coordinator::TabletGateway, on shard 0
  rt::Task<Status> PublishCatalog(std::shared_ptr<const meta::Catalog> catalog) override;
  rt::Task<coordinator::BucketOutcomes> NotifyLeaderAndIsr(ServerId server,
                                                           std::vector<model::LeaderAndIsrNotice> notices) override;
  rt::Task<coordinator::BucketOutcomes> StopReplica(ServerId server, CoordinatorEpoch epoch,
                                                    std::vector<model::StopReplicaNotice> notices) override;

  // tablet::CoordinatorLink, on any shard
  rt::Task<Result<WriterId>> NewWriterId() override;
  rt::Task<Result<rt::Pieces>> Forward(rpc::Request request) override;

 private:
  tablet::TabletServer* tablet_ = nullptr;
  coordinator::Coordinator* coordinator_ = nullptr;
  rpc::RequestHandler* coordinator_handler_ = nullptr;
};

}  // namespace strom::server
