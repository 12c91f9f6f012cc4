#pragma once

#include "base/result.h"
#include "model/ids.h"
#include "rt/pieces.h"
#include "rpc/request_handler.h"
#include "rt/task.h"

namespace strom::tablet {

/// What a tablet server asks of the coordinator. Implemented in server/ (in process now, by RPC later); called on any shard.
class CoordinatorLink {
 public:
  virtual ~CoordinatorLink() = default;
  /// A writer id that nobody has (spec/server.md 5.6).
  virtual rt::Task<Result<WriterId>> NewWriterId() = 0;
  /// Passes a request on that only the coordinator can answer (GetClusterHealth); the answer is the encoded body.
  virtual rt::Task<Result<rt::Pieces>> Forward(rpc::Request request) = 0;
};

}  // namespace strom::tablet
