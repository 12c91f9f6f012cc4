#include "tablet/produce_log.h"

#include <algorithm>
#include <utility>

#include "rt/call.h"
#include "tablet/fan_out.h"
#include "tablet/tablet_shard.h"
#include "tablet/wire_error.h"

namespace strom::tablet {

namespace {

struct PendingAck {
  std::shared_ptr<replica::Replica> replica;
  size_t answer = 0;
  LogOffset next_offset;
};

rt::Task<std::vector<ProduceAnswer>> ProduceThere(uint32_t shard, TabletShard* owner, ProducePart part) {
  co_return co_await rt::CallOn(shard, [owner, &part] { return ProduceOnOwner(owner, std::move(part)); });
}

}  // namespace

rt::Task<std::vector<ProduceAnswer>> ProduceOnOwner(TabletShard* shard, ProducePart part) {
  std::vector<ProduceAnswer> answers;
  answers.reserve(part.items.size());
  std::vector<PendingAck> pending;
  for (ProduceItem& item : part.items) {
    auto replica = shard->FindReplica(item.bucket);
    if (!replica.ok()) {
      answers.push_back({item.index, replica.error()});
      continue;
    }
    auto appended = (*replica)->Append(std::move(item.records), part.acks);
    if (!appended.ok()) {
      answers.push_back({item.index, appended.error()});
      continue;
    }
    answers.push_back({item.index, appended->base_offset});
    if (part.acks == -1 && (*replica)->high_watermark() < appended->next_offset) {
      pending.push_back({*replica, answers.size() - 1, appended->next_offset});
    }
  }
  for (PendingAck& ack : pending) {
    Status committed = co_await ack.replica->WaitCommitted(ack.next_offset, part.deadline);
    if (!committed.ok()) answers[ack.answer].base_offset = committed.error();
  }
  co_return answers;
}

rt::Task<Result<rt::Pieces>> HandleProduceLog(TabletShard* shard, rpc::Request request) {
  STROM_CO_ASSIGN(const rpc::ProduceLogRequest message, rpc::DecodeRequest<rpc::ProduceLogRequest>(request));
  if (message.acks != -1 && message.acks != 0 && message.acks != 1) {
    co_return MakeError(ErrorCode::kInvalidRequiredAcks, "acks {} is none of -1 (all in-sync replicas), 0 and 1", message.acks);
  }
  const uint32_t shards = rt::ShardCount();
  std::vector<ProducePart> parts(shards);
  for (size_t i = 0; i < message.buckets_req.size(); ++i) {
    const rpc::PbProduceLogReqForBucket& each = message.buckets_req[i];
    const model::TableBucket bucket = MakeTableBucket(message.table_id, each.partition_id, each.bucket_id);
    parts[model::OwnerShard(bucket, shards)].items.push_back({i, bucket, request.body.SliceOf(AsBytes(each.records))});
  }
  const rt::MonotonicTime deadline =
      rt::Now() + std::chrono::milliseconds(std::max<int32_t>(0, message.timeout_ms));
  std::vector<rt::Task<std::vector<ProduceAnswer>>> calls;
  for (uint32_t owner = 0; owner < shards; ++owner) {
    if (parts[owner].items.empty()) continue;
    parts[owner].acks = message.acks;
    parts[owner].deadline = deadline;
    calls.push_back(ProduceThere(owner, shard->peer(owner), std::move(parts[owner])));
  }
  auto answered = co_await FanOut(std::move(calls));

  rpc::ProduceLogResponse response;
  response.buckets_resp.resize(message.buckets_req.size());
  for (std::vector<ProduceAnswer>& answers : answered) {
    for (ProduceAnswer& answer : answers) {
      const rpc::PbProduceLogReqForBucket& asked = message.buckets_req[answer.index];
      rpc::PbProduceLogRespForBucket& entry = response.buckets_resp[answer.index];
      entry.partition_id = asked.partition_id;
      entry.bucket_id = asked.bucket_id;
      entry.original_partition_name = asked.original_partition_name;
      if (answer.base_offset.ok()) {
        entry.base_offset = answer.base_offset->value();
      } else {
        SetWriteError(answer.base_offset.error(), &response.arena, &entry);
      }
    }
  }
  co_return rpc::EncodeAnswer(request, response);
}

}  // namespace strom::tablet
