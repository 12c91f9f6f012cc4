#include <gtest/gtest.h>

#include "format/log_batch.h"
#include "replica/testing/replica_fixture.h"
#include "rpc/messages.h"
#include "rt/call.h"
#include "rt/manual_executor.h"
#include "rt/testing/simulated_disk.h"
#include "tablet/predicate_message.h"
#include "tablet/tablet_handler.h"
#include "tablet/tablet_server.h"

namespace strom::tablet {
namespace {

using replica::testing::MakeBatch;
using replica::testing::MakeNotice;
using replica::testing::MakeTable;

class NoCoordinator final : public CoordinatorLink {
 public:
  rt::Task<Result<WriterId>> NewWriterId() override { co_return WriterId(++last_); }
  rt::Task<Result<rt::Pieces>> Forward(rpc::Request) override {
    co_return MakeError(ErrorCode::kNotCoordinatorLeader, "no coordinator in this test");
  }

 private:
  int64_t last_ = 0;
};

constexpr int32_t kBuckets = 4;

/// A tablet server of two shards on a simulated disk, with one table of four buckets.
class TabletTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(disk_.CreateDirectories("/d").ok());
    Start();
  }
  void TearDown() override {
    if (server_) executor_.Run(server_->Stop(true));
  }

  void Start() {
    TabletOptions options;
    options.server_id = replica::testing::kServer;
    options.data_dir = "/d/tablet";
    auto started = executor_.Run(TabletServer::Start(options, &disk_, &coordinator_));
    ASSERT_TRUE(started.ok()) << started.ToString();
    server_ = std::move(started).value();
    executor_.Run(server_->SetCatalog(MakeCatalog()));
    std::vector<model::LeaderAndIsrNotice> notices;
    for (int32_t bucket = 0; bucket < kBuckets; ++bucket) {
      notices.push_back(MakeNotice(table_, ++epoch_, {table_->table_id, std::nullopt, BucketId(bucket)}));
    }
    for (const BucketOutcome& outcome : executor_.Run(server_->ApplyNotices(std::move(notices)))) {
      EXPECT_TRUE(outcome.status.ok()) << outcome.status.ToString();
    }
  }

  std::shared_ptr<const meta::Catalog> MakeCatalog() {
    meta::CatalogEditor editor;
    editor.PutDatabase("db", {}, TimestampMs(1), TimestampMs(1));
    auto entry = std::make_shared<meta::TableEntry>();
    entry->info = table_;
    auto schema = std::make_shared<meta::SchemaEntry>();
    schema->schema = table_->descriptor.schema;
    entry->schemas.emplace(SchemaId(1), schema);
    entry->buckets.resize(kBuckets);
    editor.PutTable(entry);
    return editor.Build();
  }

  template <typename M>
  rpc::Request MakeRequest(rpc::ApiKey key, const M& message, std::string client = "fluss") {
    rpc::Request request;
    request.api_key = key;
    auto body = rt::Flatten(rpc::Encode(message));
    EXPECT_TRUE(body.ok());
    request.body = std::move(body).value();
    auto connection = std::make_shared<rpc::ConnectionInfo>();
    connection->client_name = std::move(client);
    request.connection = std::move(connection);
    return request;
  }

  rt::Task<Result<rt::Pieces>> Ask(rpc::Request request) { return handler_for(0).Handle(std::move(request)); }
  TabletHandler& handler_for(uint32_t shard) {
    handlers_.push_back(std::make_unique<TabletHandler>(server_->shard(shard)));
    return *handlers_.back();
  }

  /// The answer's message, kept alive by `body_`.
  template <typename R>
  R Decoded(Result<rt::Pieces> answer) {
    EXPECT_TRUE(answer.ok()) << answer.ToString();
    R response;
    if (!answer.ok()) return response;
    auto bytes = rt::Flatten(*answer);
    EXPECT_TRUE(bytes.ok());
    bodies_.push_back(std::move(bytes).value());
    EXPECT_TRUE(rpc::Decode(bodies_.back(), &response).ok());
    return response;
  }

  rpc::ProduceLogResponse Produce(std::vector<std::pair<int32_t, Buffer>> batches, int32_t acks = -1) {
    rpc::ProduceLogRequest message;
    message.acks = acks;
    message.table_id = table_->table_id.value();
    message.timeout_ms = 30'000;
    for (const auto& [bucket, records] : batches) {
      rpc::PbProduceLogReqForBucket each;
      each.bucket_id = bucket;
      each.records = records.text();
      message.buckets_req.push_back(each);
    }
    return Decoded<rpc::ProduceLogResponse>(executor_.Run(Ask(MakeRequest(rpc::ApiKey::kProduceLog, message))));
  }

  rpc::FetchLogRequest FetchAll(int64_t offset, int32_t wait_ms) {
    rpc::FetchLogRequest message;
    message.follower_server_id = -1;
    message.max_bytes = 16 << 20;
    message.min_bytes = 1;
    message.max_wait_ms = wait_ms;
    rpc::PbFetchLogReqForTable table;
    table.table_id = table_->table_id.value();
    for (int32_t bucket = 0; bucket < kBuckets; ++bucket) {
      rpc::PbFetchLogReqForBucket each;
      each.bucket_id = bucket;
      each.fetch_offset = offset;
      each.max_fetch_bytes = 1 << 20;
      table.buckets_req.push_back(each);
    }
    message.tables_req.push_back(std::move(table));
    return message;
  }

  rt::ManualExecutor executor_{{.shards = 2}};
  rt::testing::SimulatedDisk disk_{1};
  NoCoordinator coordinator_;
  std::shared_ptr<const model::TableInfo> table_ = MakeTable();
  std::unique_ptr<TabletServer> server_;
  std::vector<std::unique_ptr<TabletHandler>> handlers_;
  std::deque<Buffer> bodies_;
  int32_t epoch_ = 0;
};

rt::Task<void> Collect(rt::Task<Result<rt::Pieces>> task, std::optional<Result<rt::Pieces>>* into) {
  Result<rt::Pieces> answer = co_await std::move(task);
  into->emplace(std::move(answer));
}

TEST_F(TabletTest, BucketsOfAllShardsAreAppendedToAndReadInOneRequest) {
  const rpc::ProduceLogResponse produced = Produce({{0, MakeBatch(1)}, {1, MakeBatch(2)}, {2, MakeBatch(3)}, {3, MakeBatch(4)}});
  ASSERT_EQ(produced.buckets_resp.size(), 4U);
  for (const rpc::PbProduceLogRespForBucket& bucket : produced.buckets_resp) {
    EXPECT_FALSE(bucket.error_code.has_value());
    EXPECT_EQ(bucket.base_offset, 0);
  }
  const auto fetched = Decoded<rpc::FetchLogResponse>(
      executor_.Run(Ask(MakeRequest(rpc::ApiKey::kFetchLog, FetchAll(-2, 0)))));
  ASSERT_EQ(fetched.tables_resp.size(), 1U);
  ASSERT_EQ(fetched.tables_resp[0].buckets_resp.size(), 4U);
  for (const rpc::PbFetchLogRespForBucket& bucket : fetched.tables_resp[0].buckets_resp) {
    EXPECT_EQ(bucket.high_watermark, bucket.bucket_id + 1);
    ASSERT_TRUE(bucket.records.has_value());
    EXPECT_GT(bucket.records->size(), 0U);
  }
}

TEST_F(TabletTest, AWaitingFetchIsAnsweredByTheAppendOnWhicheverShardItIs) {
  for (int32_t bucket = 0; bucket < kBuckets; ++bucket) {
    std::optional<Result<rt::Pieces>> answer;
    const int64_t offset = 0;
    const rt::MonotonicTime before = executor_.Now();
    // Offsets are all 0 at first, later rounds wait behind what the earlier ones wrote.
    rpc::FetchLogRequest message = FetchAll(offset, 500);
    for (auto& each : message.tables_req[0].buckets_req) each.fetch_offset = each.bucket_id < bucket ? 1 : 0;
    rt::Spawn(Collect(Ask(MakeRequest(rpc::ApiKey::kFetchLog, message)), &answer));
    executor_.RunUntilIdle();
    ASSERT_FALSE(answer.has_value());
    Produce({{bucket, MakeBatch(1)}});
    executor_.RunUntilIdle();
    ASSERT_TRUE(answer.has_value()) << "bucket " << bucket;
    EXPECT_EQ(executor_.Now(), before) << "the fetch waited for time, not for the append";
    const auto fetched = Decoded<rpc::FetchLogResponse>(std::move(*answer));
    for (const auto& each : fetched.tables_resp[0].buckets_resp) {
      EXPECT_EQ(each.records && !each.records->empty(), each.bucket_id == bucket);
    }
  }
}

TEST_F(TabletTest, AFetchWithoutNewsEndsAtItsTime) {
  std::optional<Result<rt::Pieces>> answer;
  rt::Spawn(Collect(Ask(MakeRequest(rpc::ApiKey::kFetchLog, FetchAll(0, 500))), &answer));
  executor_.RunUntilIdle();
  executor_.Advance(std::chrono::milliseconds(499));
  EXPECT_FALSE(answer.has_value());
  executor_.Advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(answer.has_value());
  const auto fetched = Decoded<rpc::FetchLogResponse>(std::move(*answer));
  for (const auto& each : fetched.tables_resp[0].buckets_resp) {
    EXPECT_TRUE(each.high_watermark.has_value());
    EXPECT_TRUE(each.records.has_value());  // clients read it without asking whether it is there
  }
}

TEST_F(TabletTest, AStopEndsTheLongPollsAtOnce) {
  std::optional<Result<rt::Pieces>> answer;
  rt::Spawn(Collect(Ask(MakeRequest(rpc::ApiKey::kFetchLog, FetchAll(0, 2'000'000'000))), &answer));
  executor_.RunUntilIdle();
  ASSERT_FALSE(answer.has_value());
  const rt::MonotonicTime before = executor_.Now();
  executor_.Run(server_->EndWaits());
  executor_.RunUntilIdle();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(executor_.Now(), before);
}

TEST_F(TabletTest, UnknownBucketsAndOffsetsFailAlone) {
  Produce({{0, MakeBatch(1)}});
  const auto produced = Produce({{0, MakeBatch(1)}, {9, MakeBatch(1)}});
  EXPECT_FALSE(produced.buckets_resp[0].error_code.has_value());
  EXPECT_EQ(produced.buckets_resp[1].error_code, static_cast<int32_t>(ErrorCode::kUnknownTableOrBucket));
  rpc::FetchLogRequest message = FetchAll(0, 500);
  message.tables_req[0].buckets_req[1].fetch_offset = 77;
  const auto fetched = Decoded<rpc::FetchLogResponse>(executor_.Run(Ask(MakeRequest(rpc::ApiKey::kFetchLog, message))));
  EXPECT_EQ(fetched.tables_resp[0].buckets_resp[1].error_code, static_cast<int32_t>(ErrorCode::kLogOffsetOutOfRange));
  EXPECT_FALSE(fetched.tables_resp[0].buckets_resp[0].error_code.has_value());
}

TEST_F(TabletTest, BadAcksFailTheRequestAndACorruptBatchItsBucket) {
  rpc::ProduceLogRequest message;
  message.acks = 7;
  EXPECT_EQ(executor_.Run(Ask(MakeRequest(rpc::ApiKey::kProduceLog, message))).code(), ErrorCode::kInvalidRequiredAcks);
  MutableBuffer damaged;
  damaged.Append(MakeBatch(3).view());
  damaged.data()[damaged.size() - 1] ^= 1;
  const auto produced = Produce({{0, damaged.Freeze()}, {1, MakeBatch(1)}});
  EXPECT_EQ(produced.buckets_resp[0].error_code, static_cast<int32_t>(ErrorCode::kCorruptRecord));
  EXPECT_FALSE(produced.buckets_resp[1].error_code.has_value());
}

TEST_F(TabletTest, ARestartKeepsEveryRowAndARowFormatCannotBeProjected) {
  Produce({{2, MakeBatch(5)}});
  executor_.Run(server_->Stop(true));
  server_.reset();
  Start();
  rpc::FetchLogRequest message = FetchAll(0, 0);
  auto fetched = Decoded<rpc::FetchLogResponse>(executor_.Run(Ask(MakeRequest(rpc::ApiKey::kFetchLog, message))));
  EXPECT_EQ(fetched.tables_resp[0].buckets_resp[2].high_watermark, 5);
  message.tables_req[0].projection_pushdown_enabled = true;
  message.tables_req[0].projected_fields = {0};
  fetched = Decoded<rpc::FetchLogResponse>(executor_.Run(Ask(MakeRequest(rpc::ApiKey::kFetchLog, message))));
  EXPECT_EQ(fetched.tables_resp[0].buckets_resp[2].error_code, static_cast<int32_t>(ErrorCode::kInvalidColumnProjection));
}

TEST_F(TabletTest, AStoppedReplicaIsGoneWithItsFilesAndAStaleStopIsFenced) {
  Produce({{1, MakeBatch(1)}});
  const model::TableBucket bucket{table_->table_id, std::nullopt, BucketId(1)};
  auto outcomes = executor_.Run(server_->StopReplicas({{bucket, LeaderEpoch(0), true}}));
  EXPECT_EQ(outcomes[0].status.code(), ErrorCode::kFencedLeaderEpoch);
  outcomes = executor_.Run(server_->StopReplicas({{bucket, LeaderEpoch(100), true}}));
  EXPECT_TRUE(outcomes[0].status.ok());
  EXPECT_FALSE(*disk_.Exists("/d/tablet/db/t-7/log-1"));
  EXPECT_TRUE(*disk_.Exists("/d/tablet/db/t-7/log-2"));
  EXPECT_EQ(Produce({{1, MakeBatch(1)}}).buckets_resp[0].error_code, static_cast<int32_t>(ErrorCode::kNotLeaderOrFollower));
}

TEST_F(TabletTest, ASweepDeletesWhatTheCatalogDoesNotKnow) {
  ASSERT_TRUE(disk_.CreateDirectories("/d/tablet/db/gone-99/log-0").ok());
  ASSERT_TRUE(disk_.CreateDirectories("/d/tablet/old/gone-98/log-0").ok());
  executor_.Run(server_->SweepOrphans(MakeCatalog()));
  EXPECT_FALSE(*disk_.Exists("/d/tablet/db/gone-99"));
  EXPECT_FALSE(*disk_.Exists("/d/tablet/old"));
  EXPECT_TRUE(*disk_.Exists("/d/tablet/db/t-7/log-0"));
}

TEST_F(TabletTest, OffsetsStatsAndWriterIdsAreAnswered) {
  Produce({{0, MakeBatch(6)}});
  rpc::ListOffsetsRequest offsets;
  offsets.follower_server_id = -1;
  offsets.offset_type = static_cast<int32_t>(rpc::ListOffsetsType::kLatest);
  offsets.table_id = table_->table_id.value();
  offsets.bucket_id = {0, 1, 50};
  const auto listed = Decoded<rpc::ListOffsetsResponse>(executor_.Run(Ask(MakeRequest(rpc::ApiKey::kListOffsets, offsets))));
  EXPECT_EQ(listed.buckets_resp[0].offset, 6);
  EXPECT_EQ(listed.buckets_resp[1].offset, 0);
  EXPECT_EQ(listed.buckets_resp[2].error_code, static_cast<int32_t>(ErrorCode::kUnknownTableOrBucket));
  rpc::GetTableStatsRequest stats;
  stats.table_id = table_->table_id.value();
  stats.buckets_req.resize(1);
  EXPECT_EQ(Decoded<rpc::GetTableStatsResponse>(executor_.Run(Ask(MakeRequest(rpc::ApiKey::kGetTableStats, stats)))).buckets_resp[0].row_count, 6);
  EXPECT_EQ(Decoded<rpc::InitWriterResponse>(executor_.Run(Ask(MakeRequest(rpc::ApiKey::kInitWriter, rpc::InitWriterRequest{})))).writer_id, 1);
}

TEST(PredicateMessage, RefusesWhatNobodyKnowsAndReadsDecimals) {
  rpc::PbPredicate message;
  message.type = 9;
  EXPECT_EQ(ParsePredicate(message).code(), ErrorCode::kUnsupportedVersion);
  message.type = 0;
  message.leaf.emplace();
  message.leaf->function = 55;
  EXPECT_FALSE(ParsePredicate(message).ok());
  message.leaf->function = 0;
  rpc::PbLiteralValue literal;
  literal.literal_type = static_cast<int32_t>(rpc::LiteralType::kDecimal);
  const std::string minus_two = "\xff\xfe";
  literal.decimal_bytes = minus_two;
  message.leaf->literals.push_back(literal);
  const auto parsed = ParsePredicate(message);
  ASSERT_TRUE(parsed.ok()) << parsed.ToString();
  EXPECT_EQ(parsed->literals[0].decimal(), -2);
}

}  // namespace
}  // namespace strom::tablet
