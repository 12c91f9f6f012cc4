#include "coordinator/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/random.h"
#include "coordinator/buckets.h"
#include "coordinator/testing/fake_gateway.h"
#include "meta/embedded_store.h"
#include "meta/memory_store.h"
#include "meta/paths.h"
#include "meta/testing/temp_directory.h"
#include "rt/manual_executor.h"

namespace strom::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ServerId kServer{0};

model::TableDescriptor LogTable(int32_t buckets) {
  model::TableDescriptor table;
  table.schema.columns.push_back({"a", model::DataType::Of(model::TypeRoot::kInteger), {}, {}, -1});
  table.has_distribution = true;
  table.bucket_count = buckets;
  return table;
}

model::TableDescriptor PartitionedTable() {
  model::TableDescriptor table = LogTable(2);
  table.schema.columns.push_back({"dt", model::DataType::Of(model::TypeRoot::kString), {}, {}, -1});
  table.partition_keys = {"dt"};
  return table;
}

model::TableDescriptor AutoPartitionedTable(const std::string& unit) {
  model::TableDescriptor table = PartitionedTable();
  table.properties["table.auto-partition.enabled"] = "true";
  table.properties["table.auto-partition.time-unit"] = unit;
  table.properties["table.auto-partition.time-zone"] = "UTC";
  table.properties["table.auto-partition.num-precreate"] = "2";
  table.properties["table.auto-partition.num-retention"] = "3";
  return table;
}

class CoordinatorTest : public ::testing::Test {
 protected:
  ~CoordinatorTest() override {
    if (coordinator_ != nullptr) Stop();
    EXPECT_THAT(gateway_.problems, IsEmpty());
  }

  void Start(meta::MetaStore* store, bool with_server = true) {
    CoordinatorOptions options;
    options.endpoints = {{"FLUSS", "localhost", 9123}};
    options.remote_data_dir = "file:///remote";
    options.seed = 42;
    options.max_partition_num = max_partition_num_;
    options.on_dynamic_config = [this](const meta::ConfigMap& config) { dynamic_config_ = config; };
    auto started = executor_.Run(Coordinator::Start(std::move(options), store, &gateway_));
    ASSERT_TRUE(started.ok()) << started.ToString();
    coordinator_ = std::move(*started);
    if (with_server) AddServer();
  }
  void Start() { Start(&memory_); }
  void AddServer() {
    Status added = executor_.Run(coordinator_->AddTabletServer({kServer, {{"FLUSS", "localhost", 9124}}, std::nullopt}));
    ASSERT_TRUE(added.ok()) << added.ToString();
  }
  void Stop() {
    executor_.Run(coordinator_->Stop());
    coordinator_.reset();
    ASSERT_TRUE(executor_.Run(memory_.Close()).ok());  // the process ends, and its ephemeral nodes with it
  }
  /// A new process over the same store: the old one is gone, the tablet servers know nothing.
  void Restart(bool with_server = true) {
    Stop();
    gateway_.catalog.reset();
    Start(&memory_, with_server);
  }

  template <typename Command>
  Status Do(Command command) {
    return executor_.Run(coordinator_->Execute(std::move(command)));
  }
  const meta::TableEntry* Find(const std::string& table) { return coordinator_->catalog()->FindTable(model::TablePath{"fluss", table}); }
  std::vector<std::string> Partitions(const std::string& table) {
    std::vector<std::string> names;
    const std::shared_ptr<const meta::Catalog> catalog = coordinator_->catalog();
    const meta::TableEntry* entry = catalog->FindTable(model::TablePath{"fluss", table});
    if (entry == nullptr) return names;
    for (const auto& [name, partition] : entry->partitions) names.push_back(name);
    return names;
  }
  std::vector<std::string> Nodes(const std::string& path) {
    auto entries = executor_.Run(memory_.Scan(path));
    std::vector<std::string> paths;
    for (const auto& entry : *entries) paths.push_back(entry.path);
    return paths;
  }
  std::string Data(const std::string& path) { return executor_.Run(memory_.Get(path))->value_or(meta::Node{"(nothing)"}).data; }

  rt::ManualExecutor executor_;
  meta::MemoryStore memory_;
  testing::FakeGateway gateway_;
  std::unique_ptr<Coordinator> coordinator_;
  meta::ConfigMap dynamic_config_;
  int32_t max_partition_num_ = 1000;
};

CreateTable Create(const std::string& name, model::TableDescriptor table = LogTable(3), bool ignore = false) {
  return {{"fluss", name}, std::move(table), ignore};
}
DropTable Drop(const std::string& name, bool ignore = false) { return {{"fluss", name}, ignore}; }

TEST_F(CoordinatorTest, FirstStartMakesTheDefaultDatabaseAndEpochZero) {
  Start();
  EXPECT_THAT(coordinator_->catalog()->DatabaseNames(), ElementsAre("fluss"));
  EXPECT_EQ(Data(meta::paths::kCoordinatorEpoch), "0");
  EXPECT_EQ(Data("/tabletservers/ids/0").substr(0, 50), R"({"version":4,"listeners":"FLUSS://localhost:9124",)");
  EXPECT_EQ(coordinator_->catalog()->coordinator_epoch(), CoordinatorEpoch(0));
}

TEST_F(CoordinatorTest, EveryStartHasAHigherEpochAndNewLeaderEpochs) {
  Start();
  ASSERT_TRUE(Do(Create("t")).ok());
  EXPECT_EQ(Find("t")->buckets[0].state.leader_epoch, LeaderEpoch(0));
  for (int start = 1; start <= 3; ++start) {
    Restart();
    EXPECT_EQ(Data(meta::paths::kCoordinatorEpoch), std::to_string(start));
    const model::LeaderAndIsr& state = Find("t")->buckets[0].state;
    EXPECT_EQ(state.leader, kServer);
    EXPECT_EQ(state.leader_epoch, LeaderEpoch(start));
    EXPECT_EQ(state.bucket_epoch, BucketEpoch(start));
    EXPECT_EQ(state.coordinator_epoch, CoordinatorEpoch(start));
    EXPECT_EQ(gateway_.replicas[kServer].size(), 3u);
  }
}

TEST_F(CoordinatorTest, WorksTheSameOnAStoreThatOthersShare) {
  memory_.SetShared();
  Start();
  ASSERT_TRUE(Do(Create("t")).ok());
  Restart();
  EXPECT_NE(Find("t"), nullptr);
  EXPECT_EQ(Data(meta::paths::kCoordinatorEpoch), "1");
}

TEST_F(CoordinatorTest, ADeposedCoordinatorRefusesEverything) {
  Start();
  ASSERT_TRUE(executor_.Run(memory_.Commit(meta::Transaction().Set(meta::paths::kCoordinatorEpoch, "9"))).ok());
  EXPECT_EQ(Do(Create("t")).code(), ErrorCode::kNotCoordinatorLeader);
  EXPECT_EQ(Do(CreateDatabase{"db", {}, false}).code(), ErrorCode::kNotCoordinatorLeader);
  EXPECT_EQ(Data("/metadata/databases/fluss/tables/t"), "(nothing)");
}

TEST_F(CoordinatorTest, DatabasesComeAndGo) {
  Start();
  ASSERT_TRUE(Do(CreateDatabase{"db", {"a note", {{"k", "v"}}}, false}).ok());
  EXPECT_EQ(Do(CreateDatabase{"db", {}, false}).code(), ErrorCode::kDatabaseAlreadyExist);
  EXPECT_TRUE(Do(CreateDatabase{"db", {}, true}).ok());
  EXPECT_EQ(coordinator_->catalog()->FindDatabase("db")->descriptor.comment, "a note");
  for (const char* bad : {"", "a.b", "ü", "__x"}) {
    EXPECT_EQ(Do(CreateDatabase{bad, {}, false}).code(), ErrorCode::kInvalidDatabase) << bad;
  }
  ASSERT_TRUE(Do(AlterDatabase{"db", {{"k", std::nullopt, model::ConfigOp::kDelete}, {"x", "1"}}, "new", false}).ok());
  EXPECT_EQ(coordinator_->catalog()->FindDatabase("db")->descriptor.custom_properties, (model::Properties{{"x", "1"}}));
  ASSERT_TRUE(Do(CreateTable{{"db", "t"}, LogTable(1), false}).ok());
  EXPECT_EQ(Do(DropDatabase{"db", false, false}).code(), ErrorCode::kDatabaseNotEmpty);
  ASSERT_TRUE(Do(DropDatabase{"db", false, true}).ok());
  EXPECT_EQ(Do(DropDatabase{"db", false, true}).code(), ErrorCode::kDatabaseNotExist);
  EXPECT_TRUE(Do(DropDatabase{"db", true, true}).ok());
  EXPECT_EQ(Do(DropDatabase{"fluss", false, true}).code(), ErrorCode::kInvalidDatabase);
  executor_.RunUntilIdle();
  EXPECT_THAT(Nodes("/metadata/databases/db"), IsEmpty());
  EXPECT_THAT(Nodes("/tabletservers/tables/0"), IsEmpty());
  EXPECT_THAT(gateway_.replicas[kServer], IsEmpty());
}

TEST_F(CoordinatorTest, ACreatedTableServesWhenTheAnswerComes) {
  Start();
  ASSERT_TRUE(Do(Create("t")).ok());
  EXPECT_EQ(gateway_.replicas[kServer].size(), 3u);
  EXPECT_EQ(gateway_.replicas[kServer].begin()->second.path, "fluss.t");
  EXPECT_EQ(Data("/tabletservers/tables/0"), R"({"version":1,"buckets":{"0":[0],"1":[0],"2":[0]}})");
  EXPECT_EQ(Data("/tabletservers/tables/0/buckets/1/leader_isr"),
            R"({"version":2,"leader":0,"leader_epoch":0,"isr":[0],"coordinator_epoch":0,"bucket_epoch":0,"standby_replicas":[]})");
  EXPECT_THAT(Data("/metadata/databases/fluss/tables/t"), HasSubstr(R"("table_id":0,"bucket_count":3,)"));
  EXPECT_THAT(Data("/metadata/databases/fluss/tables/t/schemas/1"), HasSubstr(R"("columns":[{"name":"a")"));
  EXPECT_EQ(coordinator_->Health().color, ClusterHealth::Color::kGreen);
}

TEST_F(CoordinatorTest, ACreationWaitsForItsBucketsButNotForEver) {
  Start();
  gateway_.holding = true;
  const rt::MonotonicTime before = rt::Now();
  ASSERT_TRUE(Do(Create("t")).ok());
  EXPECT_EQ(rt::Now() - before, std::chrono::seconds(5));
  EXPECT_EQ(coordinator_->Health().active_leader_replicas, 0);
  EXPECT_EQ(coordinator_->Health().color, ClusterHealth::Color::kRed);
  gateway_.Release();
  executor_.RunUntilIdle();
  EXPECT_EQ(coordinator_->Health().color, ClusterHealth::Color::kGreen);
}

TEST_F(CoordinatorTest, ABucketThatIsRefusedIsCountedAndKeepsItsLeader) {
  Start();
  gateway_.refused.insert({TableId(0), std::nullopt, BucketId(1)});
  ASSERT_TRUE(Do(Create("t")).ok());
  EXPECT_EQ(coordinator_->Health().active_leader_replicas, 2);
  EXPECT_EQ(Find("t")->buckets[1].state.leader, kServer);
}

TEST_F(CoordinatorTest, BadTablesAreRefusedWithTheCodesThatClientsExpect) {
  Start();
  EXPECT_EQ(Do(Create("a.b")).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Do(Create("__internal")).code(), ErrorCode::kInvalidTable);
  EXPECT_EQ(Do(CreateTable{{"nowhere", "t"}, LogTable(1), false}).code(), ErrorCode::kDatabaseNotExist);
  EXPECT_EQ(Do(Create("t", LogTable(1'000'000))).code(), ErrorCode::kBucketMaxNum);
  model::TableDescriptor table = LogTable(1);
  table.properties["table.no-such-option"] = "1";
  EXPECT_EQ(Do(Create("t", table)).code(), ErrorCode::kInvalidConfig);
  table = LogTable(1);
  table.properties["table.replication.factor"] = "2";
  EXPECT_EQ(Do(Create("t", table)).code(), ErrorCode::kInvalidReplicationFactor);
  table = LogTable(1);
  table.schema.primary_key = {"a"};
  Status keyed = Do(Create("t", table));
  EXPECT_EQ(keyed.code(), ErrorCode::kInvalidTable);
  table = LogTable(1);
  table.properties["table.datalake.enabled"] = "true";
  EXPECT_EQ(Do(Create("t", table)).code(), ErrorCode::kLakeStorageNotConfigured);
  ASSERT_TRUE(Do(Create("t")).ok());
  EXPECT_EQ(Do(Create("t")).code(), ErrorCode::kTableAlreadyExist);
  EXPECT_TRUE(Do(Create("t", LogTable(9), true)).ok());
  EXPECT_EQ(Find("t")->buckets.size(), 3u);
  EXPECT_EQ(Find("t")->info->table_id, TableId(0));
}

TEST_F(CoordinatorTest, WithoutATabletServerNoTableCanBeMade) {
  Start(&memory_, false);
  EXPECT_EQ(Do(Create("t")).code(), ErrorCode::kInvalidReplicationFactor);
}

TEST_F(CoordinatorTest, ADroppedTableIsStoppedAtOnceDeletedLaterAndItsIdNeverComesAgain) {
  Start();
  ASSERT_TRUE(Do(Create("t")).ok());
  gateway_.failing_deletions = 4;
  ASSERT_TRUE(Do(Drop("t")).ok());
  for (const auto& [bucket, replica] : gateway_.replicas[kServer]) EXPECT_TRUE(replica.stopped);
  EXPECT_EQ(Find("t"), nullptr);
  EXPECT_EQ(Do(Drop("t")).code(), ErrorCode::kTableNotExist);
  EXPECT_TRUE(Do(Drop("t", true)).ok());
  EXPECT_THAT(Nodes("/tabletservers/tables/0"), ::testing::SizeIs(8)) << "as long as the data is there";
  ASSERT_TRUE(Do(Create("t", LogTable(1))).ok());
  EXPECT_EQ(Find("t")->info->table_id, TableId(1));
  executor_.Advance(std::chrono::minutes(1));
  EXPECT_THAT(Nodes("/tabletservers/tables/0"), IsEmpty());
  EXPECT_EQ(gateway_.replicas[kServer].size(), 1u);
  EXPECT_EQ(gateway_.deleted_count, 3);
}

TEST_F(CoordinatorTest, ADropThatAProcessDidNotEndIsEndedByTheNext) {
  Start();
  ASSERT_TRUE(Do(Create("t")).ok());
  ASSERT_TRUE(Do(Create("p", PartitionedTable())).ok());
  ASSERT_TRUE(Do(CreatePartition{{"fluss", "p"}, {{"dt", "x"}}, false}).ok());
  gateway_.failing_deletions = 1000;
  ASSERT_TRUE(Do(Drop("t")).ok());
  ASSERT_TRUE(Do(Drop("p")).ok());
  executor_.RunUntilIdle();
  Restart(false);
  gateway_.failing_deletions = 0;
  ASSERT_EQ(Nodes("/tabletservers/tables/0").size(), 8u);
  AddServer();
  executor_.Advance(std::chrono::minutes(10));
  EXPECT_THAT(Nodes("/tabletservers/tables/0"), IsEmpty());
  EXPECT_THAT(Nodes("/tabletservers/partitions/0"), IsEmpty());
  EXPECT_THAT(gateway_.replicas[kServer], IsEmpty());
  ASSERT_TRUE(Do(Create("again")).ok());
  EXPECT_EQ(Find("again")->info->table_id, TableId(2));
}

TEST_F(CoordinatorTest, WhatAnotherServerLeftHalfMadeIsNoTableAndDoesNotStandInTheWay) {
  Start();
  Stop();
  meta::Transaction half;
  half.Create("/metadata/databases/fluss/tables/t/schemas/1", "{\"version\":1,\"columns\":[],\"highest_field_id\":-1}");
  half.Create("/tabletservers/tables/5", R"({"version":1,"buckets":{"0":[0]}})");
  ASSERT_TRUE(executor_.Run(memory_.Commit(std::move(half))).ok());
  gateway_.catalog.reset();
  Start();
  EXPECT_EQ(Find("t"), nullptr);
  ASSERT_TRUE(Do(Create("t")).ok());
  EXPECT_EQ(Find("t")->info->table_id, TableId(6)) << "an id that something was made with is used up";
  executor_.RunUntilIdle();
  EXPECT_THAT(Nodes("/tabletservers/tables/5"), IsEmpty());
  Restart();
  EXPECT_NE(Find("t"), nullptr);
}

TEST_F(CoordinatorTest, AFailedWriteIsToldAndLeavesNothingForTheNextStart) {
  Start();
  memory_.FailCommits(MakeError(ErrorCode::kNoSpace, "the disk is full"));
  Status failed = Do(Create("t"));
  EXPECT_EQ(failed.code(), ErrorCode::kStorageException);
  EXPECT_EQ(Find("t"), nullptr);
  EXPECT_EQ(Do(Create("u")).code(), ErrorCode::kStorageException);
  memory_.FailCommits(Status::OK());
  Restart();
  EXPECT_EQ(Find("t"), nullptr);
  EXPECT_TRUE(Do(Create("t")).ok());
}

TEST_F(CoordinatorTest, PropertiesAndColumnsChange) {
  Start();
  ASSERT_TRUE(Do(Create("t")).ok());
  const model::TablePath path{"fluss", "t"};
  ASSERT_TRUE(Do(AlterTable{path, {{"table.log.tiered.local-segments", "5"}, {"mine", "x"}}, {}, false}).ok());
  EXPECT_EQ(Find("t")->info->descriptor.properties.at("table.log.tiered.local-segments"), "5");
  EXPECT_EQ(Find("t")->info->descriptor.custom_properties.at("mine"), "x");
  EXPECT_EQ(Do(AlterTable{path, {{"table.log.format", "indexed"}}, {}, false}).code(), ErrorCode::kInvalidAlterTable);
  EXPECT_EQ(Do(AlterTable{path, {{"table.log.ttl", "soon"}}, {}, false}).code(), ErrorCode::kInvalidConfig);
  EXPECT_EQ(Do(AlterTable{{"fluss", "no"}, {{"a", "b"}}, {}, false}).code(), ErrorCode::kTableNotExist);
  EXPECT_TRUE(Do(AlterTable{{"fluss", "no"}, {{"a", "b"}}, {}, true}).ok());
  model::AddColumn column{"c", model::DataType::Of(model::TypeRoot::kBigInt), {}, 0, {}};
  ASSERT_TRUE(Do(AlterTable{path, {}, {column}, false}).ok());
  EXPECT_EQ(Do(AlterTable{path, {}, {column}, false}).code(), ErrorCode::kInvalidAlterTable);
  for (int look = 0; look < 2; ++look) {
    const meta::TableEntry* table = Find("t");
    EXPECT_EQ(table->info->schema_id, SchemaId(2));
    EXPECT_EQ(table->schemas.size(), 2u);
    EXPECT_EQ(table->schemas.at(SchemaId(1))->schema.columns.size(), 1u);
    EXPECT_EQ(table->info->descriptor.schema.columns.size(), 2u);
    EXPECT_EQ(table->info->descriptor.schema.columns[1].id, 1);
    EXPECT_EQ(table->info->descriptor.custom_properties.at("mine"), "x");
    EXPECT_EQ(table->buckets.size(), 3u);
    Restart();
  }
}

TEST_F(CoordinatorTest, PartitionsComeAndGo) {
  Start();
  ASSERT_TRUE(Do(Create("t", PartitionedTable())).ok());
  ASSERT_TRUE(Do(Create("plain")).ok());
  const model::TablePath path{"fluss", "t"};
  ASSERT_TRUE(Do(CreatePartition{path, {{"dt", "a"}}, false}).ok());
  EXPECT_EQ(Do(CreatePartition{path, {{"dt", "a"}}, false}).code(), ErrorCode::kPartitionAlreadyExists);
  EXPECT_TRUE(Do(CreatePartition{path, {{"dt", "a"}}, true}).ok());
  EXPECT_EQ(Do(CreatePartition{path, {{"other", "a"}}, false}).code(), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(Do(CreatePartition{path, {{"dt", "not valid!"}}, false}).code(), ErrorCode::kPartitionSpecInvalid);
  EXPECT_EQ(Do(CreatePartition{{"fluss", "plain"}, {{"dt", "a"}}, false}).code(), ErrorCode::kTableNotPartitioned);
  EXPECT_EQ(Do(CreatePartition{{"fluss", "no"}, {{"dt", "a"}}, false}).code(), ErrorCode::kTableNotExist);
  EXPECT_EQ(Do(DropPartition{path, {{"dt", "zz"}}, false}).code(), ErrorCode::kPartitionNotExists);
  EXPECT_TRUE(Do(DropPartition{path, {{"dt", "zz"}}, true}).ok());
  EXPECT_EQ(Data("/tabletservers/partitions/0"), R"({"version":1,"table_id":0,"buckets":{"0":[0],"1":[0]}})");
  Restart();
  EXPECT_THAT(Partitions("t"), ElementsAre("a"));
  EXPECT_EQ(Find("t")->FindPartition("a")->buckets[0].state.leader_epoch, LeaderEpoch(1));
  ASSERT_TRUE(Do(DropPartition{path, {{"dt", "a"}}, false}).ok());
  ASSERT_TRUE(Do(CreatePartition{path, {{"dt", "a"}}, false}).ok());
  EXPECT_EQ(Find("t")->FindPartition("a")->id, PartitionId(1));
  executor_.RunUntilIdle();
  EXPECT_THAT(Nodes("/tabletservers/partitions/0"), IsEmpty());
  EXPECT_EQ(gateway_.replicas[kServer].size(), 5u);
}

TEST_F(CoordinatorTest, PartitionsHaveALimit) {
  max_partition_num_ = 2;
  Start();
  ASSERT_TRUE(Do(Create("t", PartitionedTable())).ok());
  const model::TablePath path{"fluss", "t"};
  ASSERT_TRUE(Do(CreatePartition{path, {{"dt", "a"}}, false}).ok());
  ASSERT_TRUE(Do(CreatePartition{path, {{"dt", "b"}}, false}).ok());
  EXPECT_EQ(Do(CreatePartition{path, {{"dt", "c"}}, false}).code(), ErrorCode::kPartitionMaxNum);
}

TEST_F(CoordinatorTest, AutoPartitionsAreThereWhenTheTableIsAndMoveWithTheClock) {
  executor_.SetWallClock(TimestampMs(1'767'225'600'000));  // 2026-01-01 00:00 UTC
  Start();
  ASSERT_TRUE(Do(Create("t", AutoPartitionedTable("hour"))).ok());
  EXPECT_THAT(Partitions("t"), ElementsAre("2026010100", "2026010101"));
  EXPECT_EQ(Do(CreatePartition{{"fluss", "t"}, {{"dt", "nonsense"}}, false}).code(), ErrorCode::kPartitionSpecInvalid);
  executor_.Advance(std::chrono::hours(2));
  EXPECT_THAT(Partitions("t"), ElementsAre("2026010100", "2026010101", "2026010102", "2026010103"));
  // The wall clock jumps ahead: what is expired goes, what is due comes.
  executor_.SetWallClock(TimestampMs(1'767'225'600'000 + 20 * 3'600'000LL));
  executor_.Advance(std::chrono::minutes(10));
  EXPECT_THAT(Partitions("t"), ElementsAre("2026010120", "2026010121"));
  // And back: nothing that exists is dropped for being in the future.
  executor_.SetWallClock(TimestampMs(1'767'225'600'000 + 19 * 3'600'000LL));
  executor_.Advance(std::chrono::minutes(10));
  EXPECT_THAT(Partitions("t"), ElementsAre("2026010119", "2026010120", "2026010121"));
  executor_.RunUntilIdle();
  EXPECT_EQ(gateway_.replicas[kServer].size(), 6u);
}

TEST_F(CoordinatorTest, AutoPartitionedTablesMadeAgainUnderOneNameHavePartitionsOfTheirOwn) {
  Start();
  std::set<PartitionId> ids;
  for (int round = 0; round < 6; ++round) {
    ASSERT_TRUE(Do(Create("t", AutoPartitionedTable("year"))).ok());
    ASSERT_EQ(Partitions("t").size(), 2u);
    for (const auto& [name, partition] : Find("t")->partitions) EXPECT_TRUE(ids.insert(partition->id).second);
    ASSERT_TRUE(Do(Drop("t")).ok());
  }
  executor_.Advance(std::chrono::hours(1));
  EXPECT_THAT(gateway_.replicas[kServer], IsEmpty());
  EXPECT_THAT(Nodes("/tabletservers/partitions"), ElementsAre("/tabletservers/partitions"));
}

TEST_F(CoordinatorTest, AutoPartitionsThatBecameDueWhileTheServerWasDownAreMadeAtItsStart) {
  executor_.SetWallClock(TimestampMs(1'767'225'600'000));
  Start();
  ASSERT_TRUE(Do(Create("t", AutoPartitionedTable("day"))).ok());
  EXPECT_THAT(Partitions("t"), ElementsAre("20260101", "20260102"));
  Stop();
  executor_.SetWallClock(TimestampMs(1'767'225'600'000 + 2 * 86'400'000LL));
  gateway_.catalog.reset();
  Start();
  EXPECT_THAT(Partitions("t"), ElementsAre("20260101", "20260102", "20260103", "20260104"));
}

TEST_F(CoordinatorTest, WriterIdsAreNeverGivenOutTwice) {
  Start();
  std::set<int64_t> seen;
  for (int start = 0; start < 3; ++start) {
    for (int i = 0; i < 1500; ++i) {
      auto id = executor_.Run(coordinator_->NewWriterId());
      ASSERT_TRUE(id.ok());
      ASSERT_TRUE(seen.insert(id->value()).second) << id->value();
    }
    Restart();
  }
}

TEST_F(CoordinatorTest, ClusterOptionsAreStoredBeforeTheyHold) {
  Start();
  const std::string key = "log.replica.min-in-sync-replicas-number";
  for (const auto& [bad_key, value] : std::map<std::string, std::string>{
           {"kv.rocksdb.shared-rate-limiter.bytes-per-sec", "much"}, {"no.such.option", "1"}, {"bind.listeners", "X://a:1"}}) {
    Status refused = executor_.Run(coordinator_->AlterClusterConfigs({{key, "1"}, {bad_key, value}}));
    EXPECT_EQ(refused.code(), ErrorCode::kConfigException) << bad_key;
    EXPECT_GT(refused.error().message.size(), 10u);
  }
  EXPECT_THAT(dynamic_config_, IsEmpty());
  ASSERT_TRUE(executor_.Run(coordinator_->AlterClusterConfigs({{key, "1"}})).ok());
  EXPECT_EQ(Data("/config/server/global"), R"({"version":1,"configs":{"log.replica.min-in-sync-replicas-number":"1"}})");
  EXPECT_EQ(dynamic_config_.at(key), "1");
  Restart();
  EXPECT_EQ(dynamic_config_.at(key), "1");
  memory_.FailCommits(MakeError(ErrorCode::kIoError, "no"));
  EXPECT_FALSE(executor_.Run(coordinator_->AlterClusterConfigs({{key, std::nullopt, model::ConfigOp::kDelete}})).ok());
  EXPECT_EQ(dynamic_config_.at(key), "1");
  memory_.FailCommits(Status::OK());
  // Somebody wrote in between: the change is made on top of what is there.
  ASSERT_TRUE(executor_.Run(memory_.Commit(meta::Transaction().Set(
      "/config/server/global", R"({"version":1,"configs":{"kv.snapshot.interval":"5 min"}})"))).ok());
  ASSERT_TRUE(executor_.Run(coordinator_->AlterClusterConfigs({{key, "2"}})).ok());
  EXPECT_EQ(dynamic_config_, (meta::ConfigMap{{key, "2"}, {"kv.snapshot.interval", "5 min"}}));
  EXPECT_THAT(Data("/config/server/global"), HasSubstr("5 min"));
}

rt::Task<void> CreateAndCount(Coordinator* coordinator, CreateTable command, int* done) {
  Status status = co_await coordinator->Execute(std::move(command));
  EXPECT_TRUE(status.ok()) << status.ToString();
  ++*done;
}

TEST_F(CoordinatorTest, TablesMadeAtOnceShareTheirCommits) {
  Start();
  const int64_t commits = memory_.commit_count();
  int done = 0;
  for (int i = 0; i < 200; ++i) rt::Spawn(CreateAndCount(coordinator_.get(), Create("t" + std::to_string(i), LogTable(4)), &done));
  executor_.RunUntilIdle();
  EXPECT_EQ(done, 200);
  EXPECT_LE(memory_.commit_count() - commits, 3);
  EXPECT_EQ(gateway_.replicas[kServer].size(), 800u);
  EXPECT_EQ(coordinator_->catalog()->table_count(), 200u);
}

CreatePartition MakePartition(const std::string& table, const std::string& value) {
  return {{"fluss", table}, {{"dt", value}}, true};
}

/// One client that makes and drops tables of its own and of others', as clients of one server do.
rt::Task<void> Client(Coordinator* coordinator, uint64_t seed, int* running) {
  Random random(seed);
  for (int step = 0; step < 60; ++step) {
    const std::string name = "t" + std::to_string(random.Below(4));
    Status status;
    switch (random.Below(6)) {
      case 0: case 1:
        status = co_await coordinator->Execute(Create(name, LogTable(2), random.OneIn(2)));
        EXPECT_TRUE(status.ok() || status.code() == ErrorCode::kTableAlreadyExist) << status.ToString();
        break;
      case 2:
        status = co_await coordinator->Execute(Drop(name, random.OneIn(2)));
        EXPECT_TRUE(status.ok() || status.code() == ErrorCode::kTableNotExist) << status.ToString();
        break;
      case 3:
        status = co_await coordinator->Execute(Create(name + "p", PartitionedTable(), true));
        EXPECT_TRUE(status.ok()) << status.ToString();
        break;
      case 4:
        status = co_await coordinator->Execute(MakePartition(name + "p", std::to_string(random.Below(3))));
        EXPECT_TRUE(status.ok() || status.code() == ErrorCode::kTableNotExist) << status.ToString();
        break;
      default:
        status = co_await coordinator->Execute(Drop(name + "p", true));
        EXPECT_TRUE(status.ok()) << status.ToString();
    }
    if (random.OneIn(3)) co_await rt::Sleep(std::chrono::milliseconds(random.Below(3)));
  }
  --*running;
}

TEST(CoordinatorRaces, ManyClientsLeaveExactlyTheTablesOfTheCatalog) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    rt::ManualExecutor executor({.seed = seed});
    meta::MemoryStore store;
    testing::FakeGateway gateway;
    CoordinatorOptions options;
    options.seed = seed;
    auto started = executor.Run(Coordinator::Start(options, &store, &gateway));
    ASSERT_TRUE(started.ok());
    Coordinator* coordinator = started->get();
    ASSERT_TRUE(executor.Run(coordinator->AddTabletServer({kServer, {{"FLUSS", "localhost", 1}}, std::nullopt})).ok());
    int running = 6;
    for (int client = 0; client < 6; ++client) rt::Spawn(Client(coordinator, seed * 100 + static_cast<uint64_t>(client), &running));
    executor.RunUntil([&] { return running == 0; });
    executor.RunUntilIdle();
    // Servers hold the buckets of the catalog and no others, and so does the store.
    std::set<model::TableBucket> wanted;
    size_t assignments = 0;
    coordinator->catalog()->ForEachTable([&](const meta::TableEntry& table) {
      ForEachBucket(table, [&](const model::TableBucket& id, const meta::BucketState&) { wanted.insert(id); });
      assignments += table.info->descriptor.is_partitioned() ? table.partitions.size() : 1;
    });
    std::set<model::TableBucket> held;
    for (const auto& [bucket, replica] : gateway.replicas[kServer]) {
      EXPECT_FALSE(replica.stopped);
      held.insert(bucket);
    }
    EXPECT_EQ(held, wanted);
    EXPECT_EQ(executor.Run(store.Children("/tabletservers/tables"))->size() +
                  executor.Run(store.Children("/tabletservers/partitions"))->size(),
              assignments);
    EXPECT_THAT(gateway.problems, IsEmpty());
    executor.Run(coordinator->Stop());
  }
}

TEST(CoordinatorOverTheEmbeddedStore, KeepsEverythingOverAKillAndAStop) {
  meta::testing::TempDirectory directory;
  rt::ManualExecutor executor;
  int epoch = 0;
  for (int round = 0; round < 4; ++round) {
    auto store = meta::EmbeddedStore::Open({.directory = directory.path() + "/meta"});
    ASSERT_TRUE(store.ok()) << store.ToString();
    testing::FakeGateway gateway;
    auto started = executor.Run(Coordinator::Start(CoordinatorOptions(), store->get(), &gateway));
    ASSERT_TRUE(started.ok()) << started.ToString();
    Coordinator* coordinator = started->get();
    ASSERT_TRUE(executor.Run(coordinator->AddTabletServer({kServer, {{"FLUSS", "localhost", 1}}, std::nullopt})).ok());
    EXPECT_EQ(coordinator->catalog()->coordinator_epoch(), CoordinatorEpoch(epoch++));
    EXPECT_EQ(coordinator->catalog()->table_count(), static_cast<size_t>(round));
    ASSERT_TRUE(executor.Run(coordinator->Execute(Create("t" + std::to_string(round)))).ok());
    executor.Run(coordinator->Stop());
    // Every second time as a process that is killed: nothing is closed.
    if (round % 2 == 0) {
      Status closed = executor.Run((*store)->Close());
      EXPECT_TRUE(closed.ok()) << closed.ToString();
    }
    EXPECT_THAT(gateway.problems, IsEmpty());
  }
}

}  // namespace
}  // namespace strom::coordinator
