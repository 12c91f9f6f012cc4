#include <algorithm>

#include "rt/call.h"
#include "tablet/fetch_log.h"
#include "tablet/tablet_shard.h"

namespace strom::tablet {

namespace {

constexpr int64_t kFetchFromEarliest = -2;  // CONST:FetchOffset

/// 12 and 21 come back with the rest: the client looks for the new leader anyway (spec/server.md 9.5).
bool EndsTheWait(ErrorCode code) {
  return code != ErrorCode::kNotLeaderOrFollower && code != ErrorCode::kUnknownTableOrBucket;
}

Result<replica::ReadOutcome> ReadBucket(TabletShard* shard, const FetchRound& round, const FetchItem& item,
                                        uint64_t max_bytes, bool min_one_batch) {
  STROM_ASSIGN(const std::shared_ptr<replica::Replica> replica, shard->FindReplica(item.bucket));
  const FetchTableWish& wish = round.tables[item.table];
  const std::shared_ptr<const meta::TableEntry> table = shard->catalog()->ShareTable(item.bucket.table_id);
  if (table == nullptr) {
    return MakeError(ErrorCode::kUnknownTableOrBucket, "{} is not known any more", item.bucket.ToString());
  }
  STROM_ASSIGN(const std::shared_ptr<replica::FetchView> view,
               shard->fetch_views().Get(table, {.projected_fields = wish.project ? &wish.projected_fields : nullptr,
                                                 .filter = wish.filter ? &*wish.filter : nullptr,
                                                 .filter_schema_id = wish.filter_schema_id,
                                                 .rewrite_statistics = round.rewrite_statistics}));
  LogOffset offset(item.offset);
  if (item.offset == kFetchFromEarliest) {
    STROM_ASSIGN(offset, replica->EarliestOffset());
  }
  return replica->Read({.offset = offset, .max_bytes = max_bytes, .min_one_batch = min_one_batch}, *view);
}

FetchPartAnswer ReadAll(TabletShard* shard, const FetchPart& part) {
  FetchPartAnswer answer;
  answer.buckets.reserve(part.items.size());
  uint64_t left = part.max_bytes;
  const size_t first = part.items.empty() ? 0 : shard->NextFetchRotation() % part.items.size();
  for (size_t i = 0; i < part.items.size(); ++i) {
    const FetchItem& item = part.items[(first + i) % part.items.size()];
    // The first bucket that has something is answered with at least one batch, whatever its size.
    Result<replica::ReadOutcome> read =
        ReadBucket(shard, *part.round, item, std::min(item.max_bytes, left), answer.bytes == 0);
    if (read.ok()) {
      const uint64_t bytes = read->records.size();
      answer.bytes += bytes;
      left -= std::min(left, bytes);
      // A filter that passed over batches has news, too, or the client would scan them again and again.
      if (read->filtered_end_offset) answer.satisfied = true;
    } else if (EndsTheWait(read.code())) {
      answer.satisfied = true;
    }
    answer.buckets.push_back({item.table, item.index, std::move(read)});
  }
  if (answer.bytes >= part.round->min_bytes) answer.satisfied = true;
  return answer;
}

}  // namespace

rt::Task<FetchPartAnswer> FetchOnOwner(TabletShard* shard, FetchPart part) {
  const FetchRound& round = *part.round;
  while (true) {
    FetchPartAnswer answer = ReadAll(shard, part);
    if (answer.satisfied || round.complete || shard->waits_ended() || rt::Now() >= round.deadline) co_return answer;

    replica::FetchWaiter waiter;
    bool watching = false;
    for (const FetchItem& item : part.items) {
      auto replica = shard->FindReplica(item.bucket);
      if (!replica.ok()) continue;
      waiter.Watch((*replica)->fetch_waiters());
      watching = true;
    }
    if (!watching) co_return answer;
    shard->waiting_fetches()[round.number] = &waiter;
    const bool news = co_await waiter.Wait(round.deadline);
    shard->waiting_fetches().erase(round.number);
    if (!news) co_return answer;
  }
}

}  // namespace strom::tablet
