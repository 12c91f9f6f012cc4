#include "tablet/tablet_handler.h"
#include "tablet/tablet_shard.h"

namespace strom::tablet {

rt::Task<Result<rt::Pieces>> HandleInitWriter(TabletShard* shard, rpc::Request request) {
  STROM_CO_TRY(rpc::DecodeRequest<rpc::InitWriterRequest>(request));
  Result<WriterId> id = co_await shard->coordinator().NewWriterId();
  if (!id.ok()) co_return id.error();
  rpc::InitWriterResponse response;
  response.writer_id = id->value();
  co_return rpc::EncodeAnswer(request, response);
}

}  // namespace strom::tablet
