#include "rt/call.h"
#include "tablet/tablet_handler.h"
#include "tablet/tablet_shard.h"
#include "tablet/wire_error.h"

namespace strom::tablet {

namespace {

Result<rt::Pieces> ScanOnOwner(TabletShard* shard, model::TableBucket bucket, int64_t limit, bool rewrite_statistics) {
  STROM_ASSIGN(const std::shared_ptr<replica::Replica> replica, shard->FindReplica(bucket));
  const std::shared_ptr<const meta::TableEntry> table = shard->catalog()->ShareTable(bucket.table_id);
  if (table == nullptr) {
    return MakeError(ErrorCode::kUnknownTableOrBucket, "{} is not known any more", bucket.ToString());
  }
  STROM_ASSIGN(const std::shared_ptr<replica::FetchView> view,
               shard->fetch_views().Get(table, {.rewrite_statistics = rewrite_statistics}));
  return replica->ReadLast(limit, *view);
}

}  // namespace

rt::Task<Result<rt::Pieces>> HandleLimitScan(TabletShard* shard, rpc::Request request) {
  STROM_CO_ASSIGN(const rpc::LimitScanRequest message, rpc::DecodeRequest<rpc::LimitScanRequest>(request));
  const model::TableBucket bucket = MakeTableBucket(message.table_id, message.partition_id, message.bucket_id);
  const uint32_t owner = model::OwnerShard(bucket, rt::ShardCount());
  TabletShard* there = shard->peer(owner);
  const bool rewrite = request.connection->client_name == "fluss-rust";
  Result<rt::Pieces> scanned = co_await rt::CallOn(
      owner, [there, bucket, limit = message.limit, rewrite] { return ScanOnOwner(there, bucket, limit, rewrite); });
  // The Java client never looks at the error fields of this response and would show an empty table: so a failure is an
  // error of the whole request (spec/wire-protocol.md 6.11).
  if (!scanned.ok()) co_return scanned.error();
  rpc::LimitScanResponse response;
  response.is_log_table = true;
  if (!scanned->empty()) response.records = std::move(scanned).value();
  co_return rpc::EncodeAnswer(request, response);
}

}  // namespace strom::tablet
