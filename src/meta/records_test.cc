#include "meta/records.h"

#include <gtest/gtest.h>

#include <functional>

#include "meta/paths.h"

namespace strom::meta {
namespace {

/// Written as the reference does, read back, written again.
template <typename Record>
void ExpectJson(const Record& record, std::string_view json, Result<Record> (*parse)(std::string_view)) {
  EXPECT_EQ(ToJson(record), json);
  Result<Record> parsed = parse(json);
  ASSERT_TRUE(parsed.ok()) << parsed.ToString();
  EXPECT_EQ(ToJson(*parsed), json);
}

TEST(Records, DatabasesKeepKeysInTheReferencesOrder) {
  ExpectJson(DatabaseRecord{{"a note", {{"k", "v"}}}, TimestampMs(10), TimestampMs(20)},
             R"({"version":1,"comment":"a note","custom_properties":{"k":"v"},"created_time":10,"modified_time":20})",
             &ParseDatabaseRecord);
  ExpectJson(DatabaseRecord{{}, TimestampMs(10), TimestampMs(20)},
             R"({"version":1,"custom_properties":{},"created_time":10,"modified_time":20})", &ParseDatabaseRecord);
}

TEST(Records, TablesLeaveOutWhatIsEmpty) {
  TableRecord record;
  record.table_id = TableId(7);
  record.bucket_count = 3;
  record.created_time = record.modified_time = TimestampMs(5);
  ExpectJson(record,
             R"({"version":1,"table_id":7,"bucket_count":3,"properties":{},"custom_properties":{},"created_time":5,"modified_time":5})",
             &ParseTableRecord);
  record.comment = "c";
  record.partition_keys = {"dt"};
  record.bucket_keys = {"a", "b"};
  record.properties = {{"table.log.ttl", "1 d"}};
  record.custom_properties = {{"x", "y"}};
  record.remote_data_dir = "file:///r";
  ExpectJson(record,
             R"({"version":1,"table_id":7,"comment":"c","partition_key":["dt"],"bucket_key":["a","b"],"bucket_count":3,)"
             R"("properties":{"table.log.ttl":"1 d"},"custom_properties":{"x":"y"},"remote_data_dir":"file:///r",)"
             R"("created_time":5,"modified_time":5})",
             &ParseTableRecord);
}

TEST(Records, PartitionsAssignmentsAndLeaders) {
  ExpectJson(PartitionRecord{TableId(1), PartitionId(2), "file:///r"},
             R"({"version":1,"table_id":1,"partition_id":2,"remote_data_dir":"file:///r"})", &ParsePartitionRecord);
  ExpectJson(AssignmentRecord{{}, {{ServerId(0), ServerId(2)}, {ServerId(1)}}}, R"({"version":1,"buckets":{"0":[0,2],"1":[1]}})",
             &ParseAssignmentRecord);
  ExpectJson(AssignmentRecord{TableId(4), {{ServerId(0)}}}, R"({"version":1,"table_id":4,"buckets":{"0":[0]}})",
             &ParseAssignmentRecord);
  model::LeaderAndIsr leader{ServerId(3), LeaderEpoch(4), {ServerId(3), ServerId(1)}, CoordinatorEpoch(2), BucketEpoch(9), {ServerId(1)}};
  ExpectJson(leader,
             R"({"version":2,"leader":3,"leader_epoch":4,"isr":[3,1],"coordinator_epoch":2,"bucket_epoch":9,"standby_replicas":[1]})",
             &ParseLeaderAndIsr);
}

TEST(Records, ServersHaveListeners) {
  ExpectJson(CoordinatorRecord{"uuid", {{"CLIENT", "host", 1}, {"FLUSS", "::1", 2}}},
             R"({"version":2,"id":"uuid","listeners":"CLIENT://host:1,FLUSS://[::1]:2"})", &ParseCoordinatorRecord);
  ExpectJson(TabletServerRecord{{{"FLUSS", "host", 9124}}, TimestampMs(8), "r1"},
             R"({"version":4,"listeners":"FLUSS://host:9124","register_timestamp":8,"rack":"r1"})", &ParseTabletServerRecord);
}

TEST(Records, OlderVersionsAndUnknownKeysAreRead) {
  auto v1 = ParseLeaderAndIsr(R"({"version":1,"leader":-1,"leader_epoch":1,"isr":[0],"coordinator_epoch":0,"bucket_epoch":1,"new":{}})");
  ASSERT_TRUE(v1.ok());
  EXPECT_EQ(v1->leader, kNoLeader);
  EXPECT_TRUE(v1->standby_replicas.empty());
  auto coordinator = ParseCoordinatorRecord(R"({"version":1,"id":"x","host":"h","port":9})");
  ASSERT_TRUE(coordinator.ok());
  EXPECT_EQ(coordinator->endpoints, (std::vector<Endpoint>{{"CLIENT", "h", 9}}));
  auto server = ParseTabletServerRecord(R"({"version":1,"host":"h","port":9,"register_timestamp":1})");
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server->endpoints.front().listener, "FLUSS");
}

TEST(Records, ConfigurationKeepsNullsApart) {
  const ConfigMap config = {{"a", "1"}, {"b", std::nullopt}};
  EXPECT_EQ(ConfigToJson(config), R"({"version":1,"configs":{"a":"1","b":null}})");
  EXPECT_EQ(*ParseConfig(ConfigToJson(config)), config);
}

TEST(Records, DamagedOnesNameThePlace) {
  for (const char* json : {"", "[]", "{", R"({"leader":"x"})", R"({"leader":1,"leader_epoch":-4})"}) {
    EXPECT_EQ(ParseLeaderAndIsr(json).code(), ErrorCode::kCorruptData) << json;
  }
  EXPECT_NE(ParseAssignmentRecord(R"({"buckets":{"0":[1],"2":[1]}})").error().message.find("buckets"), std::string::npos);
  EXPECT_FALSE(ParseEndpoints("FLUSS://host").ok());
  EXPECT_FALSE(ParseEndpoints("FLUSS://host:99999").ok());
}

TEST(Paths, FollowTheReferencesTree) {
  const model::TablePath table{"db", "t"};
  EXPECT_EQ(paths::TableSchema(table, SchemaId(1)), "/metadata/databases/db/tables/t/schemas/1");
  EXPECT_EQ(paths::Partition(table, "2026$eu"), "/metadata/databases/db/tables/t/partitions/2026$eu");
  EXPECT_EQ(paths::LeaderAndIsr({TableId(3), std::nullopt, BucketId(1)}), "/tabletservers/tables/3/buckets/1/leader_isr");
  EXPECT_EQ(paths::LeaderAndIsr({TableId(3), PartitionId(5), BucketId(1)}), "/tabletservers/partitions/5/buckets/1/leader_isr");
  EXPECT_EQ(paths::Split("/a/b"), (std::vector<std::string_view>{"a", "b"}));
}

}  // namespace
}  // namespace strom::meta
