#pragma once

#include <functional>
#include <memory>

#include "coordinator/coordinator.h"
#include "meta/catalog.h"
#include "rpc/request_handler.h"

namespace strom::coordinator {

/// Serves the coordinator's listeners, on any shard: reads from the shard's catalog, the rest by a call to shard 0. Thread of control:
/// one handler per shard, or one for all; it has no state of its own.
class CoordinatorHandler final : public rpc::RequestHandler {
 public:
  /// `shard_catalog` gives the newest catalog of the calling shard (TabletGateway::PublishCatalog has put it there). `coordinator` is used
  /// on shard 0 only and outlives the handler.
  CoordinatorHandler(Coordinator* coordinator, std::function<std::shared_ptr<const meta::Catalog>()> shard_catalog)
      : coordinator_(coordinator), shard_catalog_(std::move(shard_catalog)) {}

  rt::Task<Result<rt::Pieces>> Handle(rpc::Request request) override;

 private:
  Coordinator* coordinator_;
  std::function<std::shared_ptr<const meta::Catalog>()> shard_catalog_;
};

/// Carries out a request that changes something or asks the coordinator itself, on shard 0. For in-process forwards of a tablet server, too.
rt::Task<Result<rt::Pieces>> ServeOnCoordinator(Coordinator* coordinator, rpc::Request request);

}  // namespace strom::coordinator
