#include "coordinator/coordinator_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/testing/fake_gateway.h"
#include "meta/memory_store.h"
#include "rt/manual_executor.h"

namespace strom::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Requests as bytes, on a shard that is not the coordinator's.
class CoordinatorHandlerTest : public ::testing::Test {
 protected:
  CoordinatorHandlerTest() {
    CoordinatorOptions options;
    options.seed = 1;
    options.endpoints = {{"FLUSS", "localhost", 9123}};
    (void)options.configuration.Set("bind.listeners", "FLUSS://localhost:9123");
    coordinator_ = std::move(executor_.Run(Coordinator::Start(std::move(options), &store_, &gateway_))).value();
    Status added = executor_.Run(coordinator_->AddTabletServer({ServerId(0), {{"FLUSS", "localhost", 9124}}, std::nullopt}));
    EXPECT_TRUE(added.ok());
    handler_ = std::make_unique<CoordinatorHandler>(coordinator_.get(), [this] { return gateway_.catalog; });
  }
  ~CoordinatorHandlerTest() override { executor_.Run(coordinator_->Stop()); }

  template <typename Message>
  Result<rt::Pieces> Send(rpc::ApiKey key, const Message& message) {
    rpc::Request request;
    request.api_key = key;
    request.body = *rt::Flatten(rpc::Encode(message));
    auto connection = std::make_shared<rpc::ConnectionInfo>();
    connection->listener_name = "FLUSS";
    request.connection = std::move(connection);
    return executor_.Run(handler_->Handle(std::move(request)), 1);
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
  Result<rt::Pieces> CreateTable(std::string_view name, std::string_view json) {
    rpc::CreateTableRequest request;
    request.table_path = {"fluss", name};
    request.table_json = json;
    return Send(rpc::ApiKey::kCreateTable, request);
  }

  rt::ManualExecutor executor_{{.shards = 2}};
  meta::MemoryStore store_;
  testing::FakeGateway gateway_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<CoordinatorHandler> handler_;
  Buffer buffer_;
};

constexpr std::string_view kPartitioned =
    R"({"version":1,"schema":{"version":1,"columns":[{"name":"a","data_type":{"type":"INTEGER"},"id":0},)"
    R"({"name":"dt","data_type":{"type":"STRING"},"id":1}],"highest_field_id":1},"partition_key":["dt"],"bucket_key":[],)"
    R"("bucket_count":2,"properties":{},"custom_properties":{}})";

TEST_F(CoordinatorHandlerTest, CarriesOutDdlAndAnswersReadsFromTheCatalog) {
  EXPECT_TRUE(CreateTable("t", kPartitioned).ok());
  rpc::CreatePartitionRequest partition;
  partition.table_path = {"fluss", "t"};
  partition.partition_spec.partition_key_values = {{"dt", "x"}};
  EXPECT_TRUE(Send(rpc::ApiKey::kCreatePartition, partition).ok());
  EXPECT_EQ(Send(rpc::ApiKey::kCreatePartition, partition).code(), ErrorCode::kPartitionAlreadyExists);
  rpc::ListTablesRequest list;
  list.database_name = "fluss";
  EXPECT_THAT(Decoded<rpc::ListTablesResponse>(Send(rpc::ApiKey::kListTables, list)).table_name, ElementsAre("t"));
  rpc::GetTableInfoRequest info;
  info.table_path = {"fluss", "t"};
  EXPECT_THAT(std::string(Decoded<rpc::GetTableInfoResponse>(Send(rpc::ApiKey::kGetTableInfo, info)).table_json),
              HasSubstr(R"("table.replication.factor":"1")"));
  const auto health = Decoded<rpc::GetClusterHealthResponse>(Send(rpc::ApiKey::kGetClusterHealth, rpc::GetClusterHealthRequest{}));
  EXPECT_EQ(health.num_replicas, 2);
  EXPECT_EQ(health.status, 0);
  rpc::DropTableRequest drop;
  drop.table_path = {"fluss", "t"};
  EXPECT_TRUE(Send(rpc::ApiKey::kDropTable, drop).ok());
  EXPECT_EQ(Send(rpc::ApiKey::kDropTable, drop).code(), ErrorCode::kTableNotExist);
}

TEST_F(CoordinatorHandlerTest, AltersTablesAndDatabases) {
  ASSERT_TRUE(CreateTable("t", kPartitioned).ok());
  rpc::AlterTableRequest add;
  add.table_path = {"fluss", "t"};
  add.add_columns.emplace_back();
  add.add_columns[0].column_name = "c";
  add.add_columns[0].data_type_json = R"({"type":"BIGINT"})";
  EXPECT_TRUE(Send(rpc::ApiKey::kAlterTable, add).ok());
  add.config_changes.push_back({"k", "v", 0});
  EXPECT_EQ(Send(rpc::ApiKey::kAlterTable, add).code(), ErrorCode::kInvalidAlterTable);
  add.config_changes.clear();
  add.add_columns[0].data_type_json = "nonsense";
  EXPECT_EQ(Send(rpc::ApiKey::kAlterTable, add).code(), ErrorCode::kInvalidAlterTable);
  rpc::AlterTableRequest odd;
  odd.table_path = {"fluss", "t"};
  odd.config_changes.push_back({"k", "v", 9});
  EXPECT_EQ(Send(rpc::ApiKey::kAlterTable, odd).code(), ErrorCode::kInvalidAlterTable);
  rpc::GetTableSchemaRequest schema;
  schema.table_path = {"fluss", "t"};
  EXPECT_EQ(Decoded<rpc::GetTableSchemaResponse>(Send(rpc::ApiKey::kGetTableSchema, schema)).schema_id, 2);
}

TEST_F(CoordinatorHandlerTest, DescribesAndAltersOptions) {
  rpc::AlterClusterConfigsRequest alter;
  alter.alter_configs.push_back({"log.replica.min-in-sync-replicas-number", "1", 0});
  EXPECT_TRUE(Send(rpc::ApiKey::kAlterClusterConfigs, alter).ok());
  const auto described =
      Decoded<rpc::DescribeClusterConfigsResponse>(Send(rpc::ApiKey::kDescribeClusterConfigs, rpc::DescribeClusterConfigsRequest{}));
  int found = 0;
  for (const rpc::PbDescribeConfig& each : described.configs) {
    if (each.config_key == "bind.listeners") found += each.config_source == "INITIAL_SERVER_CONFIG";
    if (each.config_key == "log.replica.min-in-sync-replicas-number") found += each.config_source == "DYNAMIC_SERVER_CONFIG";
  }
  EXPECT_EQ(found, 2);
}

TEST_F(CoordinatorHandlerTest, SaysOfWhatIsNotBuiltWhatItIsAndWhenItComes) {
  const Result<rt::Pieces> rebalance = Send(rpc::ApiKey::kRebalance, rpc::RebalanceRequest{});
  EXPECT_EQ(rebalance.code(), ErrorCode::kUnsupportedVersion);
  EXPECT_THAT(rebalance.error().message, HasSubstr("REBALANCE is not built yet"));
  EXPECT_EQ(Send(rpc::ApiKey::kCreateAcls, rpc::CreateAclsRequest{}).code(), ErrorCode::kSecurityDisabled);
  EXPECT_EQ(Send(rpc::ApiKey::kProduceLog, rpc::RebalanceRequest{}).code(), ErrorCode::kUnsupportedVersion);
  rpc::Request broken;
  broken.api_key = rpc::ApiKey::kCreateTable;
  broken.body = Buffer::CopyOf("\xFF\xFF\xFF");
  broken.connection = std::make_shared<rpc::ConnectionInfo>();
  EXPECT_EQ(executor_.Run(handler_->Handle(std::move(broken))).code(), ErrorCode::kUnsupportedVersion);
}

}  // namespace
}  // namespace strom::coordinator
