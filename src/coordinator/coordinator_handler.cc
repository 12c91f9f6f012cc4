#include "coordinator/coordinator_handler.h"

#include "coordinator/ddl_requests.h"
#include "meta/catalog_requests.h"
#include "rt/call.h"

namespace strom::coordinator {
namespace {

/// Requests of which clients only want to know that they were carried out.
template <typename Request, typename Response>
rt::Task<Result<rt::Pieces>> Execute(Coordinator* coordinator, rpc::Request request) {
  STROM_CO_ASSIGN(const Request message, rpc::DecodeRequest<Request>(request));
  auto converted = ToCommand(message);
  STROM_CO_ASSIGN(auto command, std::move(converted));
  Status executed = co_await coordinator->Execute(std::move(command));
  if (!executed.ok()) co_return executed;
  co_return rpc::Encode(Response{});
}

rt::Task<Result<rt::Pieces>> AlterConfigs(Coordinator* coordinator, rpc::Request request) {
  STROM_CO_ASSIGN(const auto message, rpc::DecodeRequest<rpc::AlterClusterConfigsRequest>(request));
  STROM_CO_ASSIGN(auto changes, ToChanges(message.alter_configs, ErrorCode::kInvalidConfig));
  Status altered = co_await coordinator->AlterClusterConfigs(std::move(changes));
  if (!altered.ok()) co_return altered;
  co_return rpc::Encode(rpc::AlterClusterConfigsResponse{});
}

Result<rt::Pieces> Health(Coordinator* coordinator) {
  const ClusterHealth health = coordinator->Health();
  rpc::GetClusterHealthResponse response;
  response.num_replicas = health.replicas;
  response.in_sync_replicas = health.in_sync_replicas;
  response.num_leader_replicas = health.leader_replicas;
  response.active_leader_replicas = health.active_leader_replicas;
  response.status = static_cast<int32_t>(health.color);
  return rpc::Encode(response);
}

Error NotBuilt(rpc::ApiKey key, std::string_view what, int step) {
  return MakeError(ErrorCode::kUnsupportedVersion, "{} is not built yet: {} come with step {} of this server", rpc::ApiKeyName(key),
                   what, step);
}

/// What clients are told of requests of later steps (design: what clients are told).
Error Refuse(rpc::ApiKey key) {
  switch (key) {
    case rpc::ApiKey::kCreateAcls:
    case rpc::ApiKey::kDropAcls:
      return MakeError(ErrorCode::kSecurityDisabled, "no authorizer is configured, so there are no ACLs");
    case rpc::ApiKey::kAddServerTag:
    case rpc::ApiKey::kRemoveServerTag:
    case rpc::ApiKey::kAddServerTagByRack:
    case rpc::ApiKey::kRemoveServerTagByRack:
    case rpc::ApiKey::kRebalance:
    case rpc::ApiKey::kListRebalanceProgress:
    case rpc::ApiKey::kCancelRebalance:
    case rpc::ApiKey::kAdjustIsr:
    case rpc::ApiKey::kControlledShutdown:
      return NotBuilt(key, "clusters of several servers", 5);
    case rpc::ApiKey::kAcquireKvSnapshotLease:
    case rpc::ApiKey::kReleaseKvSnapshotLease:
    case rpc::ApiKey::kDropKvSnapshotLease:
    case rpc::ApiKey::kListKvSnapshots:
    case rpc::ApiKey::kCommitKvSnapshot:
      return NotBuilt(key, "snapshots of primary-key tables", 2);
    case rpc::ApiKey::kRegisterProducerOffsets:
    case rpc::ApiKey::kGetProducerOffsets:
    case rpc::ApiKey::kDeleteProducerOffsets:
    case rpc::ApiKey::kListRemoteLogManifests:
    case rpc::ApiKey::kCommitRemoteLogManifest:
      return NotBuilt(key, "files in remote storage", 7);
    case rpc::ApiKey::kLakeTieringHeartbeat:
    case rpc::ApiKey::kPrepareLakeTableSnapshot:
    case rpc::ApiKey::kCommitLakeTableSnapshot:
      return NotBuilt(key, "lake tables", 8);
    default:
      return MakeError(ErrorCode::kUnsupportedVersion, "{} is not served by a coordinator", rpc::ApiKeyName(key));
  }
}

rt::Task<Result<rt::Pieces>> Immediately(Result<rt::Pieces> answer) { co_return answer; }

}  // namespace

rt::Task<Result<rt::Pieces>> ServeOnCoordinator(Coordinator* coordinator, rpc::Request request) {
  switch (request.api_key) {
    case rpc::ApiKey::kCreateDatabase:
      return Execute<rpc::CreateDatabaseRequest, rpc::CreateDatabaseResponse>(coordinator, std::move(request));
    case rpc::ApiKey::kAlterDatabase:
      return Execute<rpc::AlterDatabaseRequest, rpc::AlterDatabaseResponse>(coordinator, std::move(request));
    case rpc::ApiKey::kDropDatabase:
      return Execute<rpc::DropDatabaseRequest, rpc::DropDatabaseResponse>(coordinator, std::move(request));
    case rpc::ApiKey::kCreateTable:
      return Execute<rpc::CreateTableRequest, rpc::CreateTableResponse>(coordinator, std::move(request));
    case rpc::ApiKey::kAlterTable:
      return Execute<rpc::AlterTableRequest, rpc::AlterTableResponse>(coordinator, std::move(request));
    case rpc::ApiKey::kDropTable:
      return Execute<rpc::DropTableRequest, rpc::DropTableResponse>(coordinator, std::move(request));
    case rpc::ApiKey::kCreatePartition:
      return Execute<rpc::CreatePartitionRequest, rpc::CreatePartitionResponse>(coordinator, std::move(request));
    case rpc::ApiKey::kDropPartition:
      return Execute<rpc::DropPartitionRequest, rpc::DropPartitionResponse>(coordinator, std::move(request));
    case rpc::ApiKey::kAlterClusterConfigs:
      return AlterConfigs(coordinator, std::move(request));
    case rpc::ApiKey::kGetClusterHealth:
      return Immediately(Health(coordinator));
    default:
      return Immediately(Refuse(request.api_key));
  }
}

rt::Task<Result<rt::Pieces>> CoordinatorHandler::Handle(rpc::Request request) {
  const std::shared_ptr<const meta::Catalog> catalog = shard_catalog_();
  std::optional<Result<rt::Pieces>> answer = meta::AnswerCatalogRequest(*catalog, request);
  if (answer) co_return std::move(*answer);
  Coordinator* coordinator = coordinator_;
  auto serve = [coordinator, &request] { return ServeOnCoordinator(coordinator, std::move(request)); };
  Result<rt::Pieces> served = co_await rt::CallOn(0, serve);
  co_return served;
}

}  // namespace strom::coordinator
