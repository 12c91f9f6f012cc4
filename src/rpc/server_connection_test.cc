#include "rpc/server_connection.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/endian.h"
#include "rpc/testing/hex.h"
#include "rpc/testing/memory_connection.h"
#include "rt/manual_executor.h"

namespace strom::rpc {
namespace {

using testing::Hex;
using testing::MemoryConnection;

constexpr ApiKey kTestApi = ApiKey::kListOffsets;  // any that a tablet server serves

/// Notes the order of arrival; each request waits until the test lets it go, unless `immediate`.
class NotingHandler final : public RequestHandler {
 public:
  rt::Task<Result<rt::Pieces>> Handle(Request request) override {
    arrived.push_back(request.request_id);
    bodies.push_back(request.body);
    infos.push_back(request.connection);
    ++running;
    while (!immediate && !released[request.request_id]) co_await changed.Wait();
    --running;
    if (fail_with) co_return *fail_with;
    rt::Pieces answer;
    answer.Add(answer_body ? *answer_body : request.body);
    co_return answer;
  }
  void Release(int32_t request_id) {
    released[request_id] = true;
    changed.NotifyAll();
  }

  bool immediate = false;
  std::optional<Error> fail_with;
  std::optional<Buffer> answer_body;
  std::vector<int32_t> arrived;
  std::vector<Buffer> bodies;
  std::vector<std::shared_ptr<const ConnectionInfo>> infos;
  std::map<int32_t, bool> released;
  rt::Event changed;
  int running = 0;
};

rt::Task<void> RunTo(ServerConnection* connection, bool* ended) {
  rt::Task<void> run = connection->Run();
  co_await std::move(run);
  *ended = true;
}

class ServerConnectionTest : public ::testing::Test {
 protected:
  void Start(MemoryConnection::Options options = {}) {
    auto [server, client] = MemoryConnection::MakePair(options);
    client_ = std::move(client);
    server_end_ = server.get();
    serving_ = std::make_unique<ServerConnection>(
        std::move(server),
        ConnectionInfo{.peer_address = "memory:1", .listener_name = "CLIENT", .server_type = ServerType::kTabletServer}, &handler_,
        &memory_, &options_, &counters_);
    rt::Spawn(RunTo(serving_.get(), &ended_));
    executor_.RunUntilIdle();
  }
  ~ServerConnectionTest() override {
    for (const int32_t id : handler_.arrived) handler_.Release(id);
    if (client_) client_->Close();
    executor_.RunUntilIdle();
    executor_.Advance(std::chrono::minutes(11));
    if (serving_) {
      EXPECT_TRUE(ended_);
    }
  }
  void SendBytes(const Buffer& bytes) {
    rt::Pieces pieces;
    pieces.Add(bytes);
    ASSERT_TRUE(executor_.Run(client_->Write(std::move(pieces))).ok());
    executor_.RunUntilIdle();
  }
  void Send(int32_t request_id, std::string_view body = "", int16_t key = static_cast<int16_t>(kTestApi), int16_t version = 0) {
    rt::Pieces pieces;
    pieces.Add(Buffer::CopyOf(body));
    SendBytes(*rt::Flatten(EncodeRequestFrame({key, version, request_id}, std::move(pieces))));
  }
  /// The frames that have arrived at the client.
  std::vector<ResponseFrame> Receive() {
    executor_.RunUntilIdle();
    std::vector<ResponseFrame> frames;
    std::string unread = client_->unread();
    std::string_view rest = unread;
    while (rest.size() >= 4) {
      const auto length = static_cast<size_t>(LoadBe<int32_t>(rest.data()));
      if (rest.size() < 4 + length) break;
      frames.push_back(ParseResponseFrame(Buffer::CopyOf(rest.substr(4, length))).value());
      rest.remove_prefix(4 + length);
    }
    std::vector<uint8_t> consumed(unread.size() - rest.size());
    if (!consumed.empty()) {
      EXPECT_TRUE(executor_.Run(client_->Read(consumed)).ok());
    }
    executor_.RunUntilIdle();
    return frames;
  }
  ResponseFrame ReceiveOne() {
    std::vector<ResponseFrame> frames = Receive();
    EXPECT_EQ(frames.size(), 1u);
    return frames.empty() ? ResponseFrame{} : frames.front();
  }

  rt::ManualExecutor executor_;
  NotingHandler handler_;
  MemoryBudget memory_{1 << 20};
  ConnectionOptions options_;
  ConnectionCounters counters_;
  std::unique_ptr<MemoryConnection> client_;
  MemoryConnection* server_end_ = nullptr;
  std::unique_ptr<ServerConnection> serving_;
  bool ended_ = false;
};

TEST_F(ServerConnectionTest, DispatchesInOrderAndAnswersWhenReady) {
  Start();
  for (int32_t id = 10; id < 15; ++id) Send(id, std::string(1, static_cast<char>('a' + id - 10)));
  EXPECT_EQ(handler_.arrived, (std::vector<int32_t>{10, 11, 12, 13, 14}));
  EXPECT_TRUE(Receive().empty());
  handler_.Release(13);
  ResponseFrame answer = ReceiveOne();
  EXPECT_EQ(answer.request_id, 13);
  EXPECT_EQ(answer.body.text(), "d");
  handler_.Release(10);
  EXPECT_EQ(ReceiveOne().request_id, 10);
}

TEST_F(ServerConnectionTest, DispatchesPipelinedFramesOfOneReadInOrder) {
  Start();
  rt::Pieces stream;
  for (int32_t id = 0; id < 200; ++id) stream.Add(EncodeRequestFrame({static_cast<int16_t>(kTestApi), 0, id}, {}));
  handler_.immediate = true;
  SendBytes(*rt::Flatten(stream));
  ASSERT_EQ(handler_.arrived.size(), 200u);
  EXPECT_TRUE(std::is_sorted(handler_.arrived.begin(), handler_.arrived.end()));
  EXPECT_EQ(Receive().size(), 200u);
  EXPECT_LT(server_end_->write_calls(), 20u) << "answers that are ready go out together";
}

TEST_F(ServerConnectionTest, ErrorsAreSaidInCodesThatTheClientKnows) {
  Start();
  handler_.immediate = true;
  handler_.fail_with = Error{ErrorCode::kStorageBackpressure, "wait"};
  const auto code = [this](int32_t id) {
    Send(id);
    return DecodeErrorBody(ReceiveOne().body).code;
  };
  EXPECT_EQ(code(1), ErrorCode::kStorageBackpressure) << "nobody has said who it is";
  const auto greet = [this](std::string_view name) {
    const ApiVersionsRequest hello{.client_software_name = name, .client_software_version = "0.1.0"};
    SendBytes(*rt::Flatten(EncodeRequestFrame({static_cast<int16_t>(ApiKey::kApiVersions), 0, 2}, Encode(hello))));
    EXPECT_EQ(ReceiveOne().type, ResponseType::kSuccess);
  };
  greet("fluss");
  EXPECT_EQ(code(3), ErrorCode::kKvStorageException);
  EXPECT_EQ(handler_.infos.back()->known_codes, KnownCodes::kJava091) << "handlers encode for the same client";
  greet("fluss-rust");
  EXPECT_EQ(code(4), ErrorCode::kStorageBackpressure);
  handler_.fail_with = Error{ErrorCode::kDiskWriteLocked, "full"};
  EXPECT_EQ(code(5), ErrorCode::kStorageException);
}

TEST_F(ServerConnectionTest, AnswersApiVersionsAndRemembersTheName) {
  Start();
  SendBytes(Hex("00000016 03e8 0000 00000000 0a05666c757373 1205302e312e30"));
  const ResponseFrame answer = ReceiveOne();
  ASSERT_EQ(answer.type, ResponseType::kSuccess);
  ApiVersionsResponse response;
  ASSERT_TRUE(Decode(answer.body, &response).ok());
  EXPECT_EQ(response.server_type, static_cast<int32_t>(ServerType::kTabletServer));
  EXPECT_GT(response.api_versions.size(), 20u);
  Send(1);
  EXPECT_EQ(handler_.infos.at(0)->client_name, "fluss");
  EXPECT_EQ(handler_.infos.at(0)->client_version, "0.1.0");
  EXPECT_EQ(handler_.infos.at(0)->listener_name, "CLIENT");
}

TEST_F(ServerConnectionTest, AcceptsPlaintextAuthenticationOnly) {
  Start();
  const auto authenticate = [&](std::string_view protocol) {
    Send(3, rt::Flatten(Encode(AuthenticateRequest{.protocol = protocol}))->text(), static_cast<int16_t>(ApiKey::kAuthenticate));
    return ReceiveOne();
  };
  const ResponseFrame accepted = authenticate("plainText");
  EXPECT_EQ(accepted.type, ResponseType::kSuccess);
  EXPECT_TRUE(accepted.body.empty()) << "no challenge";
  const ResponseFrame refused = authenticate("PLAIN");
  EXPECT_EQ(refused.type, ResponseType::kError);
  EXPECT_EQ(DecodeErrorBody(refused.body).code, ErrorCode::kAuthenticate);
}

TEST_F(ServerConnectionTest, AnswersWhatItDoesNotServeAndGoesOn) {
  Start();
  Send(1, "", 7);
  Send(2, "", static_cast<int16_t>(ApiKey::kCreateTable));
  Send(3, "", static_cast<int16_t>(ApiKey::kUpdateMetadata));
  Send(4, "", static_cast<int16_t>(ApiKey::kProduceLog), 1);
  Send(5, "not a message", static_cast<int16_t>(ApiKey::kApiVersions));
  const std::vector<ResponseFrame> answers = Receive();
  ASSERT_EQ(answers.size(), 5u);
  for (int32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(answers[static_cast<size_t>(i)].type, ResponseType::kError);
    EXPECT_EQ(answers[static_cast<size_t>(i)].request_id, i + 1);
    EXPECT_EQ(DecodeErrorBody(answers[static_cast<size_t>(i)].body).code, ErrorCode::kUnsupportedVersion);
  }
  EXPECT_TRUE(handler_.arrived.empty());
  EXPECT_EQ(counters_.error_responses, 5u);
  handler_.immediate = true;
  Send(6);
  EXPECT_EQ(ReceiveOne().type, ResponseType::kSuccess);
}

TEST_F(ServerConnectionTest, SendsTheHandlersErrorInATypeOneFrame) {
  Start();
  handler_.immediate = true;
  handler_.fail_with = Error{ErrorCode::kNoSpace, "the disk is full"};
  Send(-9);
  const ResponseFrame answer = ReceiveOne();
  EXPECT_EQ(answer.type, ResponseType::kError);
  EXPECT_EQ(answer.request_id, -9);
  EXPECT_EQ(DecodeErrorBody(answer.body).code, ToWireCode(ErrorCode::kNoSpace));
  EXPECT_EQ(DecodeErrorBody(answer.body).message, "the disk is full");
}

TEST_F(ServerConnectionTest, EndsAConnectionWhoseFrameHasABadLength) {
  for (const std::string_view length : {"ffffffff", "00000007", "00000000"}) {
    ended_ = false;
    Start();
    SendBytes(Hex(length));
    const ResponseFrame answer = ReceiveOne();
    EXPECT_EQ(answer.type, ResponseType::kServerFailure);
    EXPECT_EQ(DecodeErrorBody(answer.body).code, ErrorCode::kCorruptMessage);
    EXPECT_FALSE(ended_) << "the peer gets time to read it";
    client_->Close();
    executor_.RunUntilIdle();
    EXPECT_TRUE(ended_);
  }
}

TEST_F(ServerConnectionTest, EndsAConnectionWhoseFrameIsAboveTheLimit) {
  options_.frame_size_max = 1000;
  Start();
  SendBytes(Hex("000003e5"));
  const ResponseFrame answer = ReceiveOne();
  EXPECT_EQ(answer.type, ResponseType::kServerFailure);
  EXPECT_EQ(DecodeErrorBody(answer.body).code, ErrorCode::kRecordTooLarge);
  EXPECT_FALSE(IsRetriable(DecodeErrorBody(answer.body).code)) << "the same frame would only come again";
  // A peer that neither reads nor closes does not hold the connection for long.
  executor_.Advance(options_.farewell_time_max + std::chrono::seconds(1));
  EXPECT_TRUE(ended_);
  EXPECT_EQ(counters_.failed_connections, 1u);
}

TEST_F(ServerConnectionTest, StopsReadingWhileTooManyRequestsAreInFlight) {
  options_.requests_in_flight_max = 3;
  Start();
  for (int32_t id = 0; id < 6; ++id) Send(id);
  EXPECT_EQ(handler_.arrived.size(), 3u);
  handler_.Release(1);
  executor_.RunUntilIdle();
  EXPECT_EQ(handler_.arrived, (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST_F(ServerConnectionTest, StopsReadingWhileAnswersPileUp) {
  options_.response_bytes_queued_max = 10000;
  options_.write_batch_bytes = 1;
  handler_.immediate = true;
  handler_.answer_body = Buffer::CopyOf(std::string(6000, 'x'));
  Start({.capacity = 4000});
  for (int32_t id = 0; id < 10; ++id) {
    rt::Pieces frame = EncodeRequestFrame({static_cast<int16_t>(kTestApi), 0, id}, {});
    ASSERT_TRUE(executor_.Run(client_->Write(std::move(frame))).ok());
  }
  executor_.RunUntilIdle();
  EXPECT_LE(handler_.arrived.size(), 3u) << "the peer does not read";
  size_t received = 0;
  for (int round = 0; round < 100 && received < 10 * 6009; ++round) {
    std::vector<uint8_t> some(4000);
    received += executor_.Run(client_->Read(some)).value();
    executor_.RunUntilIdle();
  }
  EXPECT_EQ(received, size_t{10} * 6009);
  EXPECT_EQ(handler_.arrived.size(), 10u);
}

TEST_F(ServerConnectionTest, ChargesMemoryBeforeItReadsTheBody) {
  Start();
  const size_t before = memory_.available();
  Send(1, std::string(1000, 'x'));
  EXPECT_EQ(memory_.available(), before - 1008);
  // Another connection of the shard has taken the rest.
  MemoryBudget::Charge rest;
  ASSERT_TRUE(memory_.TryAcquire(memory_.available(), &rest));
  Send(2, std::string(1000, 'y'));
  EXPECT_EQ(handler_.arrived.size(), 1u);
  handler_.Release(1);
  executor_.RunUntilIdle();
  EXPECT_EQ(handler_.arrived.size(), 2u) << "the first one's memory is free again";
  handler_.Release(2);
  executor_.RunUntilIdle();
  EXPECT_EQ(memory_.available(), size_t{1008});
  rest = MemoryBudget::Charge();
  EXPECT_EQ(memory_.available(), before);
}

TEST_F(ServerConnectionTest, LetsAFrameLargerThanTheBudgetPassAlone) {
  Start();
  const std::string body(memory_.available() + 1000, 'x');
  Send(1, body);
  ASSERT_EQ(handler_.arrived.size(), 1u);
  EXPECT_EQ(memory_.available(), 0u);
  EXPECT_EQ(handler_.bodies[0].size(), body.size());
}

TEST_F(ServerConnectionTest, ClosesAfterTenIdleMinutesButNotUnderARequest) {
  Start();
  Send(1);
  executor_.Advance(std::chrono::minutes(30));
  EXPECT_FALSE(ended_) << "a request is in flight";
  handler_.Release(1);
  EXPECT_EQ(Receive().size(), 1u);
  executor_.Advance(std::chrono::minutes(9));
  EXPECT_FALSE(ended_);
  executor_.Advance(std::chrono::minutes(2));
  EXPECT_TRUE(ended_);
  EXPECT_TRUE(client_->peer_finished());
  EXPECT_EQ(counters_.idle_closed, 1u);
}

TEST_F(ServerConnectionTest, ClosesWhenAFrameStopsHalfWay) {
  Start();
  SendBytes(Hex("00000100 03fd 0000"));
  const size_t while_stalled = memory_.available();
  EXPECT_LT(while_stalled, size_t{1} << 20);
  executor_.Advance(std::chrono::seconds(130));
  EXPECT_TRUE(ended_);
  EXPECT_EQ(memory_.available(), size_t{1} << 20);
}

TEST_F(ServerConnectionTest, StillAnswersAPeerThatHasFinishedSending) {
  Start();
  Send(1, "late");
  client_->FinishWriting();
  executor_.RunUntilIdle();
  EXPECT_FALSE(ended_);
  handler_.Release(1);
  EXPECT_EQ(ReceiveOne().body.text(), "late");
  EXPECT_TRUE(ended_);
}

TEST_F(ServerConnectionTest, RunsRequestsOfALostConnectionToTheirEnd) {
  Start();
  Send(1);
  client_->Close();
  executor_.RunUntilIdle();
  executor_.Advance(options_.farewell_time_max + std::chrono::seconds(1));
  EXPECT_EQ(handler_.running, 1);
  EXPECT_FALSE(ended_);
  EXPECT_TRUE(server_end_->closed());
  handler_.Release(1);
  executor_.RunUntilIdle();
  EXPECT_EQ(handler_.running, 0);
  EXPECT_TRUE(ended_);
}

TEST_F(ServerConnectionTest, DrainAnswersWhatIsInFlightAndTakesNothingNew) {
  Start();
  Send(1);
  serving_->Drain();
  Send(2);
  EXPECT_EQ(handler_.arrived.size(), 1u);
  handler_.Release(1);
  executor_.RunUntilIdle();
  EXPECT_TRUE(ended_);
  EXPECT_EQ(ReceiveOne().request_id, 1);
}

TEST_F(ServerConnectionTest, DrainOfAnIdleConnectionClosesIt) {
  Start();
  serving_->Drain();
  executor_.RunUntilIdle();
  EXPECT_TRUE(ended_);
}

TEST_F(ServerConnectionTest, LastsAsLongAsADrainedRequestNeeds) {
  Start();
  Send(1);
  serving_->Drain();
  executor_.Advance(std::chrono::minutes(3));
  EXPECT_FALSE(ended_);
  EXPECT_FALSE(server_end_->closed());
}

TEST_F(ServerConnectionTest, CopiesAtMostFourKibibytesOfAMebibyte) {
  handler_.immediate = true;
  handler_.answer_body = Buffer::CopyOf("ok");
  Start();
  for (int32_t id = 0; id < 8; ++id) Send(id, std::string(1 << 20, 'x'));
  EXPECT_EQ(Receive().size(), 8u);
  client_->Close();
  executor_.RunUntilIdle();
  EXPECT_GE(counters_.bytes_read, uint64_t{8} << 20);
  EXPECT_LE(counters_.bytes_copied, uint64_t{8} * 4096);
  EXPECT_LE(counters_.read_calls, 8u * 3);
}

}  // namespace
}  // namespace strom::rpc
