#include "meta/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "meta/catalog_requests.h"
#include "meta/cow_map.h"

namespace strom::meta {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(CowMap, IsAMapOfWhichOldCopiesStayAsTheyWere) {
  const uint64_t seed = 5;
  SCOPED_TRACE(seed);
  Random random(seed);
  CowMap<std::string, int> map;
  std::map<std::string, int> twin;
  std::vector<std::pair<CowMap<std::string, int>, std::map<std::string, int>>> copies;
  for (int step = 0; step < 5000; ++step) {
    const std::string key = std::to_string(random.Below(700));
    if (random.OneIn(3)) {
      EXPECT_EQ(map.Erase(key), twin.erase(key) > 0);
    } else {
      map.Set(key, step);
      twin[key] = step;
    }
    ASSERT_EQ(map.size(), twin.size());
    if (step % 1000 == 0) copies.emplace_back(map, twin);
  }
  copies.emplace_back(map, twin);
  for (const auto& [copy, expected] : copies) {
    std::map<std::string, int> content;
    copy.ForEach([&](const std::string& key, int value) { content[key] = value; });
    EXPECT_EQ(content, expected);
    for (const auto& [key, value] : expected) EXPECT_EQ(*copy.Find(key), value);
  }
}

std::shared_ptr<const TableEntry> Table(int64_t id, const std::string& name, std::vector<std::string> partitions = {}) {
  auto info = std::make_shared<model::TableInfo>();
  info->path = {"db", name};
  info->table_id = TableId(id);
  info->schema_id = SchemaId(1);
  info->descriptor.bucket_count = 2;
  info->descriptor_json = "{\"id\":" + std::to_string(id) + "}";
  if (!partitions.empty()) info->descriptor.partition_keys = {"dt", "region"};
  auto table = std::make_shared<TableEntry>();
  auto schema = std::make_shared<SchemaEntry>();
  schema->json = "{schema}";
  table->schemas[SchemaId(1)] = schema;
  BucketState bucket{{ServerId(0)}, {ServerId(0), LeaderEpoch(1), {ServerId(0)}, CoordinatorEpoch(0), BucketEpoch(1), {}}};
  if (partitions.empty()) table->buckets.assign(2, bucket);
  for (size_t i = 0; i < partitions.size(); ++i) {
    auto partition = std::make_shared<PartitionEntry>();
    partition->id = PartitionId(id * 100 + static_cast<int64_t>(i));
    partition->name = partitions[i];
    partition->values = {partitions[i].substr(0, partitions[i].find('$')), partitions[i].substr(partitions[i].find('$') + 1)};
    partition->buckets.assign(2, bucket);
    table->partitions[partitions[i]] = partition;
  }
  table->info = info;
  return table;
}

class CatalogTest : public ::testing::Test {
 protected:
  CatalogTest() {
    editor_.SetCoordinator(CoordinatorEpoch(0), {{"FLUSS", "inside", 1}, {"CLIENT", "outside", 2}});
    editor_.SetRemoteDataDir("s3://bucket/path");
    editor_.PutServer({ServerId(1), {{"FLUSS", "one", 11}}, "r"});
    editor_.PutServer({ServerId(0), {{"FLUSS", "zero", 10}, {"CLIENT", "zero.out", 20}}, std::nullopt});
    editor_.PutDatabase("db", {"c", {}}, TimestampMs(1), TimestampMs(2));
    editor_.PutTable(Table(1, "plain"));
    editor_.PutTable(Table(2, "parts", {"d1$eu", "d1$us", "__historical__$eu"}));
    catalog_ = editor_.Build();
  }
  template <typename Response>
  Response Decoded(const Result<rt::Pieces>& answer) {
    EXPECT_TRUE(answer.ok()) << answer.ToString();
    Response response;
    if (!answer.ok()) return response;
    buffer_ = *rt::Flatten(*answer);
    EXPECT_TRUE(rpc::Decode(buffer_, &response).ok());
    return response;
  }
  rpc::ConnectionInfo On(const std::string& listener) {
    rpc::ConnectionInfo info;
    info.listener_name = listener;
    return info;
  }

  CatalogEditor editor_;
  std::shared_ptr<const Catalog> catalog_;
  Buffer buffer_;
};

TEST_F(CatalogTest, FindsTablesPartitionsAndBucketsByNameAndId) {
  EXPECT_EQ(catalog_->FindTable(model::TablePath{"db", "plain"})->info->table_id, TableId(1));
  EXPECT_EQ(catalog_->FindTable(TableId(2))->info->path.table, "parts");
  EXPECT_EQ(catalog_->FindTableOfPartition(PartitionId(201))->info->table_id, TableId(2));
  EXPECT_NE(catalog_->FindBucket({TableId(1), std::nullopt, BucketId(1)}), nullptr);
  EXPECT_NE(catalog_->FindBucket({TableId(2), PartitionId(200), BucketId(1)}), nullptr);
  for (const model::TableBucket& bucket : std::vector<model::TableBucket>{{TableId(1), std::nullopt, BucketId(2)},
                                                                          {TableId(1), std::nullopt, BucketId(-1)},
                                                                          {TableId(2), std::nullopt, BucketId(0)},
                                                                          {TableId(2), PartitionId(9), BucketId(0)},
                                                                          {TableId(9), std::nullopt, BucketId(0)}}) {
    EXPECT_EQ(catalog_->FindBucket(bucket), nullptr) << bucket.ToString();
  }
  EXPECT_THAT(catalog_->tablet_servers(), SizeIs(2));
  EXPECT_EQ(catalog_->tablet_servers()[0].id, ServerId(0));
}

TEST_F(CatalogTest, ATableMadeAgainUnderItsNameDoesNotDisturbTheOldOnesEnd) {
  editor_.PutTable(Table(3, "plain"));
  editor_.RemoveTable(TableId(1));
  const auto next = editor_.Build();
  EXPECT_EQ(next->FindTable(model::TablePath{"db", "plain"})->info->table_id, TableId(3));
  EXPECT_EQ(next->FindTable(TableId(1)), nullptr);
  EXPECT_EQ(catalog_->FindTable(model::TablePath{"db", "plain"})->info->table_id, TableId(1)) << "the old catalog stays";
  EXPECT_GT(next->version(), catalog_->version());
}

TEST_F(CatalogTest, PartitionsThatGoAreNotFoundByTheirIdsAnyMore) {
  auto table = std::make_shared<TableEntry>(*catalog_->FindTable(TableId(2)));
  table->partitions.erase("d1$us");
  editor_.PutTable(table);
  auto next = editor_.Build();
  EXPECT_EQ(next->FindTableOfPartition(PartitionId(201)), nullptr);
  EXPECT_NE(next->FindTableOfPartition(PartitionId(200)), nullptr);
  editor_.RemoveDatabase("db");
  next = editor_.Build();
  EXPECT_EQ(next->FindTableOfPartition(PartitionId(200)), nullptr);
  EXPECT_EQ(next->table_count(), 0u);
  EXPECT_THAT(next->DatabaseNames(), IsEmpty());
}

TEST_F(CatalogTest, MetadataNamesServersByTheListenerOfTheRequest) {
  const auto inside = Decoded<rpc::MetadataResponse>(AnswerMetadata(*catalog_, On("FLUSS"), {}));
  ASSERT_THAT(inside.tablet_servers, SizeIs(2));
  EXPECT_EQ(inside.tablet_servers[1].host, "one");
  EXPECT_EQ(inside.tablet_servers[1].rack, "r");
  EXPECT_EQ(inside.coordinator_server->host, "inside");
  EXPECT_THAT(inside.table_metadata, IsEmpty());
  const auto outside = Decoded<rpc::MetadataResponse>(AnswerMetadata(*catalog_, On("CLIENT"), {}));
  ASSERT_THAT(outside.tablet_servers, SizeIs(1));
  EXPECT_EQ(outside.tablet_servers[0].port, 20);
}

TEST_F(CatalogTest, MetadataHasAllBucketsAndOnlyThePartitionsThatWereAskedFor) {
  rpc::MetadataRequest request;
  request.table_path = {{"db", "plain"}, {"db", "parts"}};
  request.partitions_path.push_back({"db", "parts", "d1$eu"});
  request.partitions_id = {201};
  const auto response = Decoded<rpc::MetadataResponse>(AnswerMetadata(*catalog_, On("FLUSS"), request));
  ASSERT_THAT(response.table_metadata, SizeIs(2));
  EXPECT_THAT(response.table_metadata[0].bucket_metadata, SizeIs(2));
  EXPECT_EQ(response.table_metadata[0].bucket_metadata[1].leader_id, 0);
  EXPECT_THAT(response.table_metadata[0].bucket_metadata[1].replica_id, ElementsAre(0));
  EXPECT_EQ(response.table_metadata[0].table_json, "{\"id\":1}");
  EXPECT_THAT(response.table_metadata[1].bucket_metadata, IsEmpty());
  ASSERT_THAT(response.partition_metadata, SizeIs(2));
  EXPECT_EQ(response.partition_metadata[0].partition_name, "d1$eu");
  EXPECT_EQ(response.partition_metadata[1].partition_id, 201);
}

TEST_F(CatalogTest, OneUnknownTableOrPartitionFailsTheWholeMetadataRequest) {
  rpc::MetadataRequest request;
  request.table_path = {{"db", "plain"}, {"db", "no"}};
  EXPECT_EQ(AnswerMetadata(*catalog_, On("FLUSS"), request).code(), ErrorCode::kTableNotExist);
  rpc::MetadataRequest by_name;
  by_name.partitions_path.push_back({"db", "parts", "no"});
  EXPECT_EQ(AnswerMetadata(*catalog_, On("FLUSS"), by_name).code(), ErrorCode::kPartitionNotExists);
  rpc::MetadataRequest by_id;
  by_id.partitions_id = {7};
  EXPECT_EQ(AnswerMetadata(*catalog_, On("FLUSS"), by_id).code(), ErrorCode::kPartitionNotExists);
}

TEST_F(CatalogTest, ABucketWithoutLeaderHasNoLeaderIdAtAll) {
  auto table = std::make_shared<TableEntry>(*catalog_->FindTable(TableId(1)));
  table->buckets[0].state.leader = kNoLeader;
  editor_.PutTable(table);
  rpc::MetadataRequest request;
  request.table_path = {{"db", "plain"}};
  const auto catalog = editor_.Build();
  const auto response = Decoded<rpc::MetadataResponse>(AnswerMetadata(*catalog, On("FLUSS"), request));
  EXPECT_FALSE(response.table_metadata[0].bucket_metadata[0].leader_id.has_value());
  EXPECT_TRUE(response.table_metadata[0].bucket_metadata[1].leader_id.has_value());
}

TEST_F(CatalogTest, ListsDatabasesEitherByNameOrWithSummaries) {
  auto names = Decoded<rpc::ListDatabasesResponse>(AnswerListDatabases(*catalog_, {}));
  EXPECT_THAT(names.database_name, ElementsAre("db"));
  EXPECT_THAT(names.database_summary, IsEmpty());
  rpc::ListDatabasesRequest request;
  request.include_summary = true;
  auto summaries = Decoded<rpc::ListDatabasesResponse>(AnswerListDatabases(*catalog_, request));
  EXPECT_THAT(summaries.database_name, IsEmpty());
  EXPECT_EQ(summaries.database_summary.at(0).table_count, 2);
  EXPECT_EQ(AnswerListTables(*catalog_, {"no"}).code(), ErrorCode::kDatabaseNotExist);
}

TEST_F(CatalogTest, ListsPartitionsByAPartOfTheirSpecAndHidesTheSystems) {
  rpc::ListPartitionInfosRequest request;
  request.table_path = {"db", "parts"};
  EXPECT_THAT(Decoded<rpc::ListPartitionInfosResponse>(AnswerListPartitionInfos(*catalog_, request)).partitions_info, SizeIs(2));
  request.include_system_partitions = true;
  auto all = Decoded<rpc::ListPartitionInfosResponse>(AnswerListPartitionInfos(*catalog_, request));
  EXPECT_THAT(all.partitions_info, SizeIs(3));
  EXPECT_EQ(all.system_partitions_included, true);
  request.include_system_partitions.reset();
  request.partial_partition_spec.emplace().partition_key_values.push_back({"region", "us"});
  auto us = Decoded<rpc::ListPartitionInfosResponse>(AnswerListPartitionInfos(*catalog_, request));
  ASSERT_THAT(us.partitions_info, SizeIs(1));
  EXPECT_EQ(us.partitions_info[0].bucket_count, 2);
  EXPECT_EQ(us.partitions_info[0].partition_spec.partition_key_values[0].key, "dt");
  request.partial_partition_spec->partition_key_values[0].key = "nope";
  EXPECT_EQ(AnswerListPartitionInfos(*catalog_, request).code(), ErrorCode::kPartitionSpecInvalid);
  request.table_path = {"db", "plain"};
  EXPECT_EQ(AnswerListPartitionInfos(*catalog_, request).code(), ErrorCode::kTableNotPartitioned);
}

TEST_F(CatalogTest, ServesSchemasByIdAndRefusesWhatIsNotThere) {
  rpc::GetTableSchemaRequest request;
  request.table_path = {"db", "plain"};
  EXPECT_EQ(Decoded<rpc::GetTableSchemaResponse>(AnswerGetTableSchema(*catalog_, request)).schema_id, 1);
  request.schema_id = 2;
  EXPECT_EQ(AnswerGetTableSchema(*catalog_, request).code(), ErrorCode::kSchemaNotExist);
  EXPECT_EQ(AnswerGetLakeSnapshot(*catalog_, {{"db", "plain"}, {}, {}}).code(), ErrorCode::kLakeSnapshotNotExist);
  EXPECT_EQ(AnswerGetLatestKvSnapshots(*catalog_, {{"db", "plain"}, {}}).code(), ErrorCode::kNonPrimaryKeyTable);
  EXPECT_EQ(Decoded<rpc::GetFileSystemSecurityTokenResponse>(AnswerGetFileSystemSecurityToken(*catalog_)).schema, "s3");
}

TEST_F(CatalogTest, DispatchesItsRequestsAndLeavesTheOthers) {
  rpc::Request request;
  request.connection = std::make_shared<rpc::ConnectionInfo>(On("FLUSS"));
  request.api_key = rpc::ApiKey::kGetMetadata;
  EXPECT_TRUE(AnswerCatalogRequest(*catalog_, request)->ok());
  request.api_key = rpc::ApiKey::kListAcls;
  EXPECT_EQ(AnswerCatalogRequest(*catalog_, request)->code(), ErrorCode::kSecurityDisabled);
  request.api_key = rpc::ApiKey::kGetTableInfo;
  EXPECT_EQ(AnswerCatalogRequest(*catalog_, request)->code(), ErrorCode::kUnsupportedVersion) << "the path is missing";
  request.api_key = rpc::ApiKey::kProduceLog;
  EXPECT_FALSE(AnswerCatalogRequest(*catalog_, request).has_value());
}

}  // namespace
}  // namespace strom::meta
