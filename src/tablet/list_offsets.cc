#include "rt/call.h"
#include "tablet/fan_out.h"
#include "tablet/tablet_handler.h"
#include "tablet/tablet_shard.h"
#include "tablet/wire_error.h"

namespace strom::tablet {

namespace {

struct OffsetQuestion {
  model::TableBucket bucket;
  rpc::ListOffsetsType type = rpc::ListOffsetsType::kEarliest;
  std::optional<int64_t> timestamp;
};

Result<LogOffset> AnswerOnOwner(TabletShard* shard, const OffsetQuestion& question) {
  STROM_ASSIGN(const std::shared_ptr<replica::Replica> replica, shard->FindReplica(question.bucket));
  switch (question.type) {
    case rpc::ListOffsetsType::kEarliest: return replica->EarliestOffset();
    case rpc::ListOffsetsType::kLatest: return replica->LatestOffset();
    case rpc::ListOffsetsType::kTimestamp:
      if (!question.timestamp) {
        return MakeError(ErrorCode::kInvalidTimestamp, "a search for the offset of a time needs the time");
      }
      return replica->OffsetForTimestamp(TimestampMs(*question.timestamp));
    default:
      return MakeError(ErrorCode::kUnsupportedVersion,
                       "offset type {} is for followers: replication comes with step 5",
                       static_cast<int32_t>(question.type));
  }
}

rt::Task<Result<LogOffset>> AskOwner(TabletShard* shard, uint32_t owner, OffsetQuestion question) {
  TabletShard* there = shard->peer(owner);
  co_return co_await rt::CallOn(owner, [there, &question] { return AnswerOnOwner(there, question); });
}

}  // namespace

rt::Task<Result<rt::Pieces>> HandleListOffsets(TabletShard* shard, rpc::Request request) {
  STROM_CO_ASSIGN(const rpc::ListOffsetsRequest message, rpc::DecodeRequest<rpc::ListOffsetsRequest>(request));
  const uint32_t shards = rt::ShardCount();
  std::vector<rt::Task<Result<LogOffset>>> questions;
  questions.reserve(message.bucket_id.size());
  for (const int32_t bucket_id : message.bucket_id) {
    const model::TableBucket bucket = MakeTableBucket(message.table_id, message.partition_id, bucket_id);
    questions.push_back(AskOwner(shard, model::OwnerShard(bucket, shards),
                                 {bucket, static_cast<rpc::ListOffsetsType>(message.offset_type), message.start_timestamp}));
  }
  std::vector<Result<LogOffset>> answers = co_await FanOut(std::move(questions));
  rpc::ListOffsetsResponse response;
  response.buckets_resp.resize(answers.size());
  for (size_t i = 0; i < answers.size(); ++i) {
    rpc::PbListOffsetsRespForBucket& entry = response.buckets_resp[i];
    entry.bucket_id = message.bucket_id[i];
    if (answers[i].ok()) {
      entry.offset = answers[i]->value();
    } else {
      SetReadError(answers[i].error(), &response.arena, &entry);
    }
  }
  co_return rpc::EncodeAnswer(request, response);
}

}  // namespace strom::tablet
