#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "format/predicate.h"
#include "model/table_bucket.h"
#include "replica/replica.h"
#include "rpc/request_handler.h"
#include "rt/task.h"

namespace strom::tablet {

class TabletShard;

/// One bucket of a fetch. `table` and `index` are its place in the request.
struct FetchItem {
  size_t table = 0;
  size_t index = 0;
  model::TableBucket bucket;
  int64_t offset = 0;  // kFetchFromEarliest or >= 0
  uint64_t max_bytes = 0;
};

/// How a fetch wants the batches of one table. Shared by its parts on all shards.
struct FetchTableWish {
  TableId table_id;
  bool project = false;
  std::vector<int32_t> projected_fields;  // positions in the latest schema
  std::optional<format::Predicate> filter;
  SchemaId filter_schema_id;
};

/// What all parts of one fetch share across shards.
struct FetchRound {
  uint64_t number = 0;
  bool rewrite_statistics = false;       // for clients that read magic 0 only (design.md 3)
  uint64_t min_bytes = 0;
  rt::MonotonicTime deadline;            // of the long poll; in the past: answer at once
  std::vector<FetchTableWish> tables;
  std::atomic<bool> complete{false};     // some shard has the answer: the others answer with what they have
};

struct FetchPart {
  std::shared_ptr<FetchRound> round;
  uint64_t max_bytes = 0;
  std::vector<FetchItem> items;
};

struct FetchAnswer {
  size_t table = 0;
  size_t index = 0;
  Result<replica::ReadOutcome> read;
};

struct FetchPartAnswer {
  std::vector<FetchAnswer> buckets;
  uint64_t bytes = 0;
  bool satisfied = false;  // enough bytes, or an error that the client must see at once
};

/// Runs on the shard that owns the buckets: reads, and while there is too little waits for the append that changes that.
rt::Task<FetchPartAnswer> FetchOnOwner(TabletShard* shard, FetchPart part);

/// FetchLog as it comes from a connection (spec/wire-protocol.md 6.7), on the connection's shard.
rt::Task<Result<rt::Pieces>> HandleFetchLog(TabletShard* shard, rpc::Request request);

}  // namespace strom::tablet
