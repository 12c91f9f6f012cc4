#include "tablet/fetch_log.h"

#include <algorithm>
#include <utility>

#include "rt/call.h"
#include "tablet/fan_out.h"
#include "tablet/predicate_message.h"
#include "tablet/tablet_shard.h"
#include "tablet/wire_error.h"

namespace strom::tablet {

namespace {

/// Wait of a request that names a minimum of bytes and no time (spec/server.md 9.5).
constexpr std::chrono::milliseconds kWaitWithoutMaximum{100};

std::chrono::milliseconds LongPollTime(const rpc::FetchLogRequest& message) {
  if (message.max_wait_ms) return std::chrono::milliseconds(std::max(0, *message.max_wait_ms));
  return message.min_bytes ? kWaitWithoutMaximum : std::chrono::milliseconds(0);
}

Result<std::shared_ptr<FetchRound>> MakeRound(TabletShard* shard, const rpc::Request& request,
                                              const rpc::FetchLogRequest& message) {
  auto round = std::make_shared<FetchRound>();
  round->number = shard->NextFetchRound();
  round->rewrite_statistics = request.connection->client_name == "fluss-rust";
  round->min_bytes = static_cast<uint64_t>(std::max(0, message.min_bytes.value_or(0)));
  round->deadline = rt::Now() + LongPollTime(message);
  round->tables.reserve(message.tables_req.size());
  for (const rpc::PbFetchLogReqForTable& table : message.tables_req) {
    FetchTableWish wish;
    wish.table_id = TableId(table.table_id);
    wish.project = table.projection_pushdown_enabled;
    wish.projected_fields = table.projected_fields;
    if (table.filter_predicate.has_value() != table.filter_schema_id.has_value()) {
      return MakeError(ErrorCode::kUnknownServerError,
                       "a fetch names filter_predicate and filter_schema_id together, or neither of them");
    }
    if (table.filter_predicate) {
      STROM_ASSIGN(wish.filter, ParsePredicate(*table.filter_predicate));
      wish.filter_schema_id = SchemaId(*table.filter_schema_id);
    }
    round->tables.push_back(std::move(wish));
  }
  return round;
}

/// Fetches one part and, once it has an answer, ends the wait of the other parts.
rt::Task<FetchPartAnswer> FetchThere(TabletShard* shard, uint32_t owner, FetchPart part, std::vector<uint32_t> others) {
  const std::shared_ptr<FetchRound> round = part.round;
  TabletShard* there = shard->peer(owner);
  FetchPartAnswer answer =
      co_await rt::CallOn(owner, [there, &part] { return FetchOnOwner(there, std::move(part)); });
  if (answer.satisfied && !round->complete.exchange(true)) {
    for (const uint32_t other : others) {
      if (other == owner) continue;
      TabletShard* waiting = shard->peer(other);
      co_await rt::CallOn(other, [waiting, number = round->number] {
        const auto found = waiting->waiting_fetches().find(number);
        if (found != waiting->waiting_fetches().end()) found->second->Notify();
      });
    }
  }
  co_return answer;
}

void FillBucket(const FetchAnswer& answer, rpc::StringArena* arena, rpc::PbFetchLogRespForBucket* entry) {
  if (!answer.read.ok()) {
    SetReadError(answer.read.error(), arena, entry);
    return;
  }
  entry->high_watermark = answer.read->high_watermark.value();
  entry->log_start_offset = answer.read->log_start_offset.value();
  entry->records = answer.read->records;
  if (answer.read->filtered_end_offset) entry->filtered_end_offset = answer.read->filtered_end_offset->value();
}

}  // namespace

rt::Task<Result<rt::Pieces>> HandleFetchLog(TabletShard* shard, rpc::Request request) {
  STROM_CO_ASSIGN(const rpc::FetchLogRequest message, rpc::DecodeRequest<rpc::FetchLogRequest>(request));
  if (message.follower_server_id >= 0) {
    co_return MakeError(ErrorCode::kNotLeaderOrFollower,
                        "server {} is no follower here: replication comes with step 5", message.follower_server_id);
  }
  STROM_CO_ASSIGN(const std::shared_ptr<FetchRound> round, MakeRound(shard, request, message));

  const uint32_t shards = rt::ShardCount();
  std::vector<FetchPart> parts(shards);
  std::vector<uint32_t> owners;
  rpc::FetchLogResponse response;
  response.tables_resp.resize(message.tables_req.size());
  for (size_t t = 0; t < message.tables_req.size(); ++t) {
    const rpc::PbFetchLogReqForTable& table = message.tables_req[t];
    response.tables_resp[t].table_id = table.table_id;
    response.tables_resp[t].buckets_resp.resize(table.buckets_req.size());
    for (size_t b = 0; b < table.buckets_req.size(); ++b) {
      const rpc::PbFetchLogReqForBucket& each = table.buckets_req[b];
      rpc::PbFetchLogRespForBucket& entry = response.tables_resp[t].buckets_resp[b];
      entry.partition_id = each.partition_id;
      entry.bucket_id = each.bucket_id;
      const model::TableBucket bucket = MakeTableBucket(table.table_id, each.partition_id, each.bucket_id);
      const uint32_t owner = model::OwnerShard(bucket, shards);
      if (parts[owner].items.empty()) owners.push_back(owner);
      parts[owner].items.push_back(
          {t, b, bucket, each.fetch_offset, static_cast<uint64_t>(std::max(0, each.max_fetch_bytes))});
    }
  }
  std::vector<rt::Task<FetchPartAnswer>> calls;
  for (const uint32_t owner : owners) {
    parts[owner].round = round;
    parts[owner].max_bytes = static_cast<uint64_t>(std::max(0, message.max_bytes)) / owners.size();
    calls.push_back(FetchThere(shard, owner, std::move(parts[owner]), owners));
  }
  std::vector<FetchPartAnswer> answers = co_await FanOut(std::move(calls));
  for (const FetchPartAnswer& part : answers) {
    for (const FetchAnswer& answer : part.buckets) {
      FillBucket(answer, &response.arena, &response.tables_resp[answer.table].buckets_resp[answer.index]);
    }
  }
  co_return rpc::EncodeAnswer(request, response);
}

}  // namespace strom::tablet
