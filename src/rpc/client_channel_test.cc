#include "rpc/client_channel.h"

#include <gtest/gtest.h>

#include <string>

#include "base/endian.h"
#include "rpc/api_versions.h"
#include "rpc/testing/memory_connection.h"
#include "rt/manual_executor.h"

namespace strom::rpc {
namespace {

using testing::MemoryConnection;

class ClientChannelTest : public ::testing::Test {
 protected:
  ClientChannelTest() {
    auto [server, client] = MemoryConnection::MakePair();
    server_ = std::move(server);
    client_ = std::move(client);
  }
  static rt::Task<void> Store(rt::Task<Result<std::unique_ptr<ClientChannel>>> task,
                              std::optional<Result<std::unique_ptr<ClientChannel>>>* into) {
    Result<std::unique_ptr<ClientChannel>> channel = co_await std::move(task);
    into->emplace(std::move(channel));
  }
  /// Starts the handshake; the test plays the server.
  void StartHandshake() {
    rt::Spawn(Store(ClientChannel::Handshake(std::move(client_), {.client_name = "tester"}), &handshake_));
    executor_.RunUntilIdle();
  }
  void Connect() {
    StartHandshake();
    const auto [header, body] = ReadRequest();
    EXPECT_EQ(header.api_key, 1000);
    ApiVersionsRequest asked;
    EXPECT_TRUE(Decode(body, &asked).ok());
    EXPECT_EQ(asked.client_software_name, "tester");
    ApiVersionsResponse response;
    response.api_versions = AdvertisedApis(ServerType::kTabletServer);
    response.server_type = static_cast<int32_t>(ServerType::kTabletServer);
    Answer(ResponseType::kSuccess, header.request_id, Encode(response));
    ASSERT_TRUE(handshake_ && handshake_->ok());
    channel_ = std::move(*handshake_).value();
  }
  std::pair<RequestHeader, Buffer> ReadRequest() {
    executor_.RunUntilIdle();
    std::string head(12, '\0');
    EXPECT_GE(server_->unread().size(), 12u);
    EXPECT_EQ(executor_.Run(server_->Read({reinterpret_cast<uint8_t*>(head.data()), 12})).value(), 12u);
    std::vector<uint8_t> body(static_cast<size_t>(LoadBe<int32_t>(head.data())) - 8);
    if (!body.empty()) {
      EXPECT_EQ(executor_.Run(server_->Read(body)).value(), body.size());
    }
    return {ParseRequestHeader(AsBytes(head).subspan(4)), Buffer::CopyOf(ByteView(body))};
  }
  void SendPieces(rt::Pieces pieces) {
    ASSERT_TRUE(executor_.Run(server_->Write(std::move(pieces))).ok());
    executor_.RunUntilIdle();
  }
  void Answer(ResponseType type, int32_t request_id, rt::Pieces body) {
    MutableBuffer head;
    AppendResponseHead(type, request_id, body.size(), &head);
    rt::Pieces frame;
    frame.Add(head.Freeze());
    frame.Add(std::move(body));
    SendPieces(std::move(frame));
  }
  using Exists = std::optional<Result<Received<DatabaseExistsResponse>>>;
  static rt::Task<void> Ask(ClientChannel* channel, std::string name, Exists* into) {
    const DatabaseExistsRequest request{.database_name = name};
    rt::Task<Result<Received<DatabaseExistsResponse>>> call =
        channel->Call<DatabaseExistsResponse>(ApiKey::kDatabaseExists, 0, request);
    Result<Received<DatabaseExistsResponse>> answer = co_await std::move(call);
    into->emplace(std::move(answer));
  }
  ~ClientChannelTest() override {
    server_->Close();
    executor_.RunUntilIdle();
    if (channel_) executor_.Run(channel_->Close());
  }

  rt::ManualExecutor executor_;
  std::unique_ptr<MemoryConnection> server_;
  std::unique_ptr<MemoryConnection> client_;
  std::optional<Result<std::unique_ptr<ClientChannel>>> handshake_;
  std::unique_ptr<ClientChannel> channel_;
};

TEST_F(ClientChannelTest, LearnsTheServersVersions) {
  Connect();
  EXPECT_EQ(channel_->server().server_type, static_cast<int32_t>(ServerType::kTabletServer));
  EXPECT_EQ(channel_->server().api_versions.size(), AdvertisedApis(ServerType::kTabletServer).size());
}

TEST_F(ClientChannelTest, MatchesAnswersByRequestIdInAnyOrder) {
  Connect();
  Exists first;
  Exists second;
  rt::Spawn(Ask(channel_.get(), "a", &first));
  rt::Spawn(Ask(channel_.get(), "b", &second));
  const RequestHeader a = ReadRequest().first;
  const RequestHeader b = ReadRequest().first;
  EXPECT_NE(a.request_id, b.request_id);
  EXPECT_EQ(channel_->calls_in_flight(), 2u);
  Answer(ResponseType::kSuccess, b.request_id, Encode(DatabaseExistsResponse{.exists = true}));
  EXPECT_FALSE(first);
  ASSERT_TRUE(second && second->ok());
  EXPECT_TRUE(second->value()->exists);
  Answer(ResponseType::kSuccess, a.request_id, Encode(DatabaseExistsResponse{.exists = false}));
  ASSERT_TRUE(first && first->ok());
  EXPECT_FALSE(first->value()->exists);
}

TEST_F(ClientChannelTest, GivesTheServersErrorWithItsCode) {
  Connect();
  Exists answer;
  rt::Spawn(Ask(channel_.get(), "a", &answer));
  Answer(ResponseType::kError, ReadRequest().first.request_id, EncodeErrorBody({ErrorCode::kInvalidDatabase, "what a name"}));
  ASSERT_TRUE(answer && !answer->ok());
  EXPECT_EQ(answer->error().code, ErrorCode::kInvalidDatabase);
  EXPECT_EQ(answer->error().message, "what a name");
  EXPECT_TRUE(channel_->connected());
}

TEST_F(ClientChannelTest, FailsTheCallWhoseAnswerCannotBeDecoded) {
  Connect();
  Exists answer;
  rt::Spawn(Ask(channel_.get(), "a", &answer));
  Answer(ResponseType::kSuccess, ReadRequest().first.request_id, {});
  ASSERT_TRUE(answer && !answer->ok());
  EXPECT_EQ(answer->error().code, ErrorCode::kCorruptMessage);
  EXPECT_TRUE(channel_->connected());
}

TEST_F(ClientChannelTest, FailsAllCallsWhenTheServerEndsTheConnection) {
  Connect();
  Exists first;
  Exists second;
  rt::Spawn(Ask(channel_.get(), "a", &first));
  rt::Spawn(Ask(channel_.get(), "b", &second));
  SendPieces(EncodeServerFailureFrame({ErrorCode::kCorruptMessage, "nonsense"}));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->code(), ErrorCode::kCorruptMessage);
  EXPECT_EQ(second->error().message, "nonsense");
  EXPECT_FALSE(channel_->connected());
  Exists third;
  rt::Spawn(Ask(channel_.get(), "c", &third));
  executor_.RunUntilIdle();
  EXPECT_EQ(third->code(), ErrorCode::kCorruptMessage);
}

TEST_F(ClientChannelTest, FailsAllCallsWhenTheConnectionIsLost) {
  Connect();
  Exists answer;
  rt::Spawn(Ask(channel_.get(), "a", &answer));
  server_->Close();
  executor_.RunUntilIdle();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->code(), ErrorCode::kNetworkException);
}

TEST_F(ClientChannelTest, ReportsARefusedHandshake) {
  StartHandshake();
  SendPieces(EncodeServerFailureFrame({ErrorCode::kNetworkException, "full"}));
  ASSERT_TRUE(handshake_);
  EXPECT_EQ(handshake_->code(), ErrorCode::kNetworkException);
}

TEST_F(ClientChannelTest, RefusesAResponseOfAnAbsurdLength) {
  Connect();
  Exists answer;
  rt::Spawn(Ask(channel_.get(), "a", &answer));
  rt::Pieces frame;
  frame.Add(Buffer::CopyOf(std::string_view("\xff\xff\xff\xff", 4)));
  SendPieces(std::move(frame));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->code(), ErrorCode::kCorruptMessage);
}

}  // namespace
}  // namespace strom::rpc
