#include "rt/call.h"
#include "tablet/fan_out.h"
#include "tablet/tablet_handler.h"
#include "tablet/tablet_shard.h"
#include "tablet/wire_error.h"

namespace strom::tablet {

namespace {

Result<int64_t> CountOnOwner(TabletShard* shard, model::TableBucket bucket) {
  STROM_ASSIGN(const std::shared_ptr<replica::Replica> replica, shard->FindReplica(bucket));
  return replica->RowCount();
}

rt::Task<Result<int64_t>> AskOwner(TabletShard* shard, model::TableBucket bucket) {
  const uint32_t owner = model::OwnerShard(bucket, rt::ShardCount());
  TabletShard* there = shard->peer(owner);
  co_return co_await rt::CallOn(owner, [there, bucket] { return CountOnOwner(there, bucket); });
}

}  // namespace

rt::Task<Result<rt::Pieces>> HandleGetTableStats(TabletShard* shard, rpc::Request request) {
  STROM_CO_ASSIGN(const rpc::GetTableStatsRequest message, rpc::DecodeRequest<rpc::GetTableStatsRequest>(request));
  std::vector<rt::Task<Result<int64_t>>> questions;
  for (const rpc::PbTableStatsReqForBucket& each : message.buckets_req) {
    questions.push_back(AskOwner(shard, MakeTableBucket(message.table_id, each.partition_id, each.bucket_id)));
  }
  std::vector<Result<int64_t>> counts = co_await FanOut(std::move(questions));
  rpc::GetTableStatsResponse response;
  response.buckets_resp.resize(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    rpc::PbTableStatsRespForBucket& entry = response.buckets_resp[i];
    entry.partition_id = message.buckets_req[i].partition_id;
    entry.bucket_id = message.buckets_req[i].bucket_id;
    if (counts[i].ok()) {
      entry.row_count = *counts[i];
    } else {
      SetReadError(counts[i].error(), &response.arena, &entry);
    }
  }
  co_return rpc::EncodeAnswer(request, response);
}

}  // namespace strom::tablet
