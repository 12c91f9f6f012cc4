#include "tablet/tablet_handler.h"

#include "meta/catalog_requests.h"
#include "rpc/api_versions.h"
#include "tablet/fetch_log.h"
#include "tablet/produce_log.h"
#include "tablet/tablet_shard.h"

namespace strom::tablet {

rt::Task<Result<rt::Pieces>> TabletHandler::Handle(rpc::Request request) {
  switch (request.api_key) {
    case rpc::ApiKey::kProduceLog: return HandleProduceLog(shard_, std::move(request));
    case rpc::ApiKey::kFetchLog: return HandleFetchLog(shard_, std::move(request));
    case rpc::ApiKey::kListOffsets: return HandleListOffsets(shard_, std::move(request));
    case rpc::ApiKey::kLimitScan: return HandleLimitScan(shard_, std::move(request));
    case rpc::ApiKey::kGetTableStats: return HandleGetTableStats(shard_, std::move(request));
    case rpc::ApiKey::kInitWriter: return HandleInitWriter(shard_, std::move(request));
    case rpc::ApiKey::kGetClusterHealth: return shard_->coordinator().Forward(std::move(request));
    default: return AnswerFromCatalog(std::move(request));
  }
}

rt::Task<Result<rt::Pieces>> TabletHandler::AnswerFromCatalog(rpc::Request request) {
  auto answer = meta::AnswerCatalogRequest(*shard_->catalog(), request);
  if (answer) co_return std::move(*answer);
  co_return MakeError(ErrorCode::kUnsupportedVersion, "a tablet server does not serve {}", rpc::ApiKeyName(request.api_key));
}

}  // namespace strom::tablet
