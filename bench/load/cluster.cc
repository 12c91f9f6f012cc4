#include "load/cluster.h"

#include <charconv>
#include <utility>

#include "format/log_batch.h"
#include "load/event_batches.h"
#include "model/table_descriptor.h"
#include "rt/sync.h"

namespace strom::bench {

namespace {

using namespace std::chrono_literals;
using rpc::ApiKey;
using rpc::ClientChannel;
using rpc::Received;

constexpr std::string_view kDatabase = "bench";
constexpr rt::Duration kLeadersWithin = 30s;
constexpr int32_t kResponseBytesMax = 16 << 20;

rt::Task<Status> MakeTable(ClientChannel* coordinator, const LoadTableOptions& options) {
  const rpc::CreateDatabaseRequest database{.database_name = kDatabase, .ignore_if_exists = true, .database_json = {}};
  auto make_database = coordinator->Call<rpc::CreateDatabaseResponse>(ApiKey::kCreateDatabase, 0, database);
  const auto database_made = co_await std::move(make_database);
  if (!database_made.ok()) co_return database_made.error();
  model::TableDescriptor descriptor;
  descriptor.schema = EventSchema();
  descriptor.has_distribution = true;
  descriptor.bucket_count = options.buckets;
  descriptor.properties.emplace("table.replication.factor", "1");
  const std::string json = model::ToJson(descriptor);
  const rpc::CreateTableRequest table{
      .table_path = {.database_name = kDatabase, .table_name = options.name}, .table_json = json, .ignore_if_exists = false};
  auto make_table = coordinator->Call<rpc::CreateTableResponse>(ApiKey::kCreateTable, 0, table);
  const auto table_made = co_await std::move(make_table);
  co_return table_made.status();
}

/// The table once all its buckets are led by one server; kLeaderNotAvailable before.
Result<LoadTable> FindLeader(const rpc::MetadataResponse& metadata, const LoadTableOptions& options) {
  const Error nobody = MakeError(ErrorCode::kLeaderNotAvailable, "not all {} buckets of {} have a leader", options.buckets, options.name);
  if (metadata.table_metadata.size() != 1) return nobody;
  const rpc::PbTableMetadata& table = metadata.table_metadata.front();
  if (static_cast<int32_t>(table.bucket_metadata.size()) != options.buckets) return nobody;
  const std::optional<int32_t> leader = table.bucket_metadata.front().leader_id;
  for (const rpc::PbBucketMetadata& bucket : table.bucket_metadata) {
    if (bucket.leader_id != leader) return nobody;
  }
  for (const rpc::PbServerNode& server : metadata.tablet_servers) {
    if (server.node_id != leader) continue;
    return LoadTable{TableId(table.table_id), options.buckets, {std::string(server.host), static_cast<uint16_t>(server.port)}};
  }
  return nobody;
}

rt::Task<Result<LoadTable>> AwaitLeaders(ClientChannel* coordinator, const LoadTableOptions& options) {
  rpc::MetadataRequest request;
  request.table_path.push_back({.database_name = kDatabase, .table_name = options.name});
  const rt::MonotonicTime deadline = rt::Now() + kLeadersWithin;
  while (true) {
    auto ask = coordinator->Call<rpc::MetadataResponse>(ApiKey::kGetMetadata, 0, request);
    const auto metadata = co_await std::move(ask);
    Result<LoadTable> table = metadata.ok() ? FindLeader(**metadata, options) : Result<LoadTable>(metadata.error());
    if (table.ok() || rt::Now() > deadline) co_return table;
    co_await rt::Sleep(1ms);
  }
}

/// True when each bucket says where it ends. A bucket that is announced and not there yet is false; any other error stands.
Result<bool> AllServe(const rpc::ListOffsetsResponse& answers, int32_t buckets) {
  for (const rpc::PbListOffsetsRespForBucket& answer : answers.buckets_resp) {
    const auto code = static_cast<ErrorCode>(answer.error_code.value_or(0));
    if (code == ErrorCode::kUnknownTableOrBucket || code == ErrorCode::kNotLeaderOrFollower) return false;
    if (code != ErrorCode::kNone) return MakeError(code, "end of bucket {}: {}", answer.bucket_id, answer.error_message.value_or(""));
  }
  return static_cast<int32_t>(answers.buckets_resp.size()) == buckets;
}

rt::Task<Status> AwaitBuckets(ClientChannel* tablet, const LoadTable& table, rt::MonotonicTime deadline) {
  rpc::ListOffsetsRequest request{.follower_server_id = -1, .offset_type = 1, .table_id = table.table_id.value(), .partition_id = {}, .bucket_id = {}, .start_timestamp = {}, .routing_bucket_count = {}};
  for (int32_t bucket = 0; bucket < table.buckets; ++bucket) request.bucket_id.push_back(bucket);
  while (true) {
    auto ask = tablet->Call<rpc::ListOffsetsResponse>(ApiKey::kListOffsets, 0, request);
    const auto ends = co_await std::move(ask);
    const bool not_yet = !ends.ok() && (ends.code() == ErrorCode::kUnknownTableOrBucket || ends.code() == ErrorCode::kNotLeaderOrFollower);
    if (!ends.ok() && !not_yet) co_return ends.error();
    const Result<bool> serve = not_yet ? Result<bool>(false) : AllServe(**ends, table.buckets);
    if (!serve.ok()) co_return serve.error();
    if (*serve) co_return Status::OK();
    if (rt::Now() > deadline) co_return MakeError(ErrorCode::kUnknownTableOrBucket, "not all {} buckets of the table serve", table.buckets);
    co_await rt::Sleep(1ms);
  }
}

/// A server may announce a table before its buckets are there: official clients retry, a load begins when all serve.
rt::Task<Status> AwaitServing(LoadTable table, rt::MonotonicTime deadline) {
  auto connect = ConnectUntil(table.tablet_server, deadline);
  auto tablet = co_await std::move(connect);
  if (!tablet.ok()) co_return tablet.error();
  rt::Task<Status> await = AwaitBuckets(tablet->get(), table, deadline);
  Status serving = co_await std::move(await);
  rt::Task<void> close = (*tablet)->Close();
  co_await std::move(close);
  co_return serving;
}

/// The table once it is announced and serves.
rt::Task<Result<LoadTable>> AwaitTable(ClientChannel* coordinator, LoadTableOptions options) {
  rt::Task<Result<LoadTable>> await = AwaitLeaders(coordinator, options);
  Result<LoadTable> table = co_await std::move(await);
  if (!table.ok()) co_return table;
  rt::Task<Status> wait = AwaitServing(*table, rt::Now() + kLeadersWithin);
  const Status serving = co_await std::move(wait);
  if (!serving.ok()) co_return serving.error();
  co_return table;
}

rt::Task<Result<LoadTable>> MakeAndAwait(ClientChannel* coordinator, LoadTableOptions options) {
  rt::Task<Status> make = MakeTable(coordinator, options);
  const Status made = co_await std::move(make);
  if (!made.ok()) co_return made.error();
  rt::Task<Result<LoadTable>> await = AwaitTable(coordinator, std::move(options));
  Result<LoadTable> table = co_await std::move(await);
  co_return table;
}

}  // namespace

Result<rt::Address> ParseBootstrap(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failed != std::errc() || end != digits.data() + digits.size() || port == 0) {
    return MakeError(ErrorCode::kInvalidConfig, "{}: HOST:PORT is expected", text);
  }
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return rt::Address(std::move(host), port);
}

rt::Task<Result<LoadTable>> CreateLoadTable(rt::Address bootstrap, LoadTableOptions options) {
  auto connect = ConnectUntil(std::move(bootstrap), rt::Now());
  auto coordinator = co_await std::move(connect);
  if (!coordinator.ok()) co_return coordinator.error();
  rt::Task<Result<LoadTable>> make = MakeAndAwait(coordinator->get(), std::move(options));
  Result<LoadTable> table = co_await std::move(make);
  rt::Task<void> close = (*coordinator)->Close();
  co_await std::move(close);
  co_return table;
}

rt::Task<Result<LoadTable>> FindLoadTable(rt::Address bootstrap, LoadTableOptions options, rt::MonotonicTime deadline) {
  auto connect = ConnectUntil(std::move(bootstrap), deadline);
  auto coordinator = co_await std::move(connect);
  if (!coordinator.ok()) co_return coordinator.error();
  rt::Task<Result<LoadTable>> await = AwaitTable(coordinator->get(), std::move(options));
  Result<LoadTable> table = co_await std::move(await);
  rt::Task<void> close = (*coordinator)->Close();
  co_await std::move(close);
  co_return table;
}

rt::Task<Result<std::unique_ptr<ClientChannel>>> ConnectUntil(rt::Address address, rt::MonotonicTime deadline) {
  while (true) {
    auto connect = ClientChannel::Connect(&rt::SystemNetwork(), address, {.client_name = "strom-bench-load"});
    auto channel = co_await std::move(connect);
    if (channel.ok() || rt::Now() >= deadline) co_return channel;
    co_await rt::Sleep(500us);
  }
}

rt::Task<Result<LogOffset>> AppendBatch(ClientChannel* channel, TableId table, int32_t bucket, Buffer batch) {
  rpc::ProduceLogRequest request{.acks = -1, .table_id = table.value(), .timeout_ms = 30'000, .buckets_req = {}};
  request.buckets_req.push_back({.partition_id = {}, .bucket_id = bucket, .records = batch.text(), .original_partition_name = {}, .routing_bucket_count = {}});
  auto call = channel->Call<rpc::ProduceLogResponse>(ApiKey::kProduceLog, 0, request);
  const auto response = co_await std::move(call);
  if (!response.ok()) co_return response.error();
  const rpc::ProduceLogResponse& message = **response;
  if (message.buckets_resp.size() != 1) {
    co_return MakeError(ErrorCode::kCorruptMessage, "{} buckets in the answer to an append to one", message.buckets_resp.size());
  }
  const rpc::PbProduceLogRespForBucket& answer = message.buckets_resp.front();
  if (answer.error_code.value_or(0) != 0) {
    co_return MakeError(static_cast<ErrorCode>(*answer.error_code), "append to bucket {}: {}", bucket, answer.error_message.value_or(""));
  }
  co_return LogOffset(answer.base_offset.value_or(-1));
}

rt::Task<Result<TableReader::Fetched>> TableReader::Next(ClientChannel* channel, std::vector<int32_t> columns) {
  rpc::FetchLogRequest request{.follower_server_id = -1, .max_bytes = kResponseBytesMax, .tables_req = {}, .max_wait_ms = 500, .min_bytes = 1, .read_preference = {}};
  rpc::PbFetchLogReqForTable& table = request.tables_req.emplace_back();
  table.table_id = table_.table_id.value();
  table.projection_pushdown_enabled = !columns.empty();
  table.projected_fields = std::move(columns);
  for (int32_t bucket = 0; bucket < table_.buckets; ++bucket) {
    table.buckets_req.push_back({.partition_id = {}, .bucket_id = bucket, .fetch_offset = offset(bucket), .max_fetch_bytes = max_bytes_, .routing_bucket_count = {}});
  }
  auto call = channel->Call<rpc::FetchLogResponse>(ApiKey::kFetchLog, 0, request);
  const auto response = co_await std::move(call);
  if (!response.ok()) co_return response.error();
  Fetched fetched{.rows = 0, .bytes = static_cast<int64_t>(response->bytes.size())};
  for (const rpc::PbFetchLogRespForTable& answered : (**response).tables_resp) {
    for (const rpc::PbFetchLogRespForBucket& answer : answered.buckets_resp) {
      const Result<int64_t> rows = Advance(answer);
      if (!rows.ok()) co_return rows.error();
      fetched.rows += *rows;
    }
  }
  co_return fetched;
}

Result<int64_t> TableReader::Advance(const rpc::PbFetchLogRespForBucket& answer) {
  if (answer.error_code.value_or(0) != 0) {
    return MakeError(static_cast<ErrorCode>(*answer.error_code), "fetch of bucket {}: {}", answer.bucket_id, answer.error_message.value_or(""));
  }
  if (answer.bucket_id < 0 || answer.bucket_id >= table_.buckets) {
    return MakeError(ErrorCode::kCorruptMessage, "bucket {} was not asked for", answer.bucket_id);
  }
  if (!answer.records) return 0;
  // Records of a response are one slice of its frame, so this copies nothing but pointers.
  STROM_ASSIGN(const Buffer records, rt::Flatten(*answer.records));
  int64_t& offset = offsets_[static_cast<size_t>(answer.bucket_id)];
  int64_t rows = 0;
  ByteView rest = records.view();
  while (rest.size() >= format::kBatchHeaderSizeMax) {
    STROM_ASSIGN(const format::LogBatchHeader header, format::DecodeLogBatchHeader(rest));
    if (header.total_size > rest.size()) break;  // the Java server cuts at the byte limit
    rows += header.record_count;
    offset = header.next_offset().value();
    rest = rest.subspan(header.total_size);
  }
  return rows;
}

}  // namespace strom::bench
