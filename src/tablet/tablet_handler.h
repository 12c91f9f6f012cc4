#pragma once

#include "rpc/request_handler.h"
#include "rt/task.h"

namespace strom::tablet {

class TabletShard;

/// Serves the connections of a tablet server's listener on one shard: a function of its own file for each kind of request.
class TabletHandler final : public rpc::RequestHandler {
 public:
  explicit TabletHandler(TabletShard* shard) : shard_(shard) {}
  rt::Task<Result<rt::Pieces>> Handle(rpc::Request request) override;

 private:
  rt::Task<Result<rt::Pieces>> AnswerFromCatalog(rpc::Request request);

  TabletShard* shard_;
};

// Each in a file of its name; they run on the connection's shard.
rt::Task<Result<rt::Pieces>> HandleListOffsets(TabletShard* shard, rpc::Request request);
rt::Task<Result<rt::Pieces>> HandleLimitScan(TabletShard* shard, rpc::Request request);
rt::Task<Result<rt::Pieces>> HandleGetTableStats(TabletShard* shard, rpc::Request request);
rt::Task<Result<rt::Pieces>> HandleInitWriter(TabletShard* shard, rpc::Request request);

}  // namespace strom::tablet
