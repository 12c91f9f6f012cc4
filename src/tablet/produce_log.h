#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/table_bucket.h"
#include "rpc/request_handler.h"
#include "rt/task.h"

namespace strom::tablet {

class TabletShard;

/// The records of one bucket. `index` is the bucket's place in the request.
struct ProduceItem {
  size_t index = 0;
  model::TableBucket bucket;
  Buffer records;
};

/// What one shard has to append of a request.
struct ProducePart {
  int32_t acks = -1;
  rt::MonotonicTime deadline;  // of the wait of acks = -1
  std::vector<ProduceItem> items;
};

struct ProduceAnswer {
  size_t index = 0;
  Result<LogOffset> base_offset;
};

/// Runs on the shard that owns the buckets. The appends are done, in order, before the first suspension.
rt::Task<std::vector<ProduceAnswer>> ProduceOnOwner(TabletShard* shard, ProducePart part);

/// ProduceLog as it comes from a connection (spec/wire-protocol.md 6.5), on the connection's shard.
rt::Task<Result<rt::Pieces>> HandleProduceLog(TabletShard* shard, rpc::Request request);

}  // namespace strom::tablet
