#include "server/local_gateway.h"

#include <utility>

#include "rt/call.h"

namespace strom::server {

namespace {

std::vector<coordinator::BucketOutcome> ToOutcomes(std::vector<tablet::BucketOutcome> from) {
  std::vector<coordinator::BucketOutcome> outcomes;
  outcomes.reserve(from.size());
  for (tablet::BucketOutcome& each : from) outcomes.push_back({each.bucket, std::move(each.status)});
  return outcomes;
}

}  // namespace

rt::Task<Status> LocalGateway::PublishCatalog(std::shared_ptr<const meta::Catalog> catalog) {
  co_await tablet_->SetCatalog(std::move(catalog));
  co_return Status::OK();
}

rt::Task<coordinator::BucketOutcomes> LocalGateway::NotifyLeaderAndIsr(ServerId,
                                                                       std::vector<model::LeaderAndIsrNotice> notices) {
  std::vector<tablet::BucketOutcome> outcomes = co_await tablet_->ApplyNotices(std::move(notices));
  co_return ToOutcomes(std::move(outcomes));
}

rt::Task<coordinator::BucketOutcomes> LocalGateway::StopReplica(ServerId, CoordinatorEpoch,
                                                                std::vector<model::StopReplicaNotice> notices) {
  std::vector<tablet::BucketOutcome> outcomes = co_await tablet_->StopReplicas(std::move(notices));
  co_return ToOutcomes(std::move(outcomes));
}

rt::Task<Result<WriterId>> LocalGateway::NewWriterId() {
  coordinator::Coordinator* coordinator = coordinator_;
  co_return co_await rt::CallOn(0, [coordinator] { return coordinator->NewWriterId(); });
}

rt::Task<Result<rt::Pieces>> LocalGateway::Forward(rpc::Request request) {
  rpc::RequestHandler* handler = coordinator_handler_;
  co_return co_await rt::CallOn(0, [handler, &request] { return handler->Handle(std::move(request)); });
}

}  // namespace strom::server
