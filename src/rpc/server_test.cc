// Servers and channels over real sockets on loopback.

#include "rpc/server.h"

#include <gtest/gtest.h>

#include <string>

#include "rpc/client_channel.h"
#include "rt/runtime.h"
#include "rt/sync.h"

namespace strom::rpc {
namespace {

/// Says whether the database is called "there"; "slow" waits first.
class ExistsHandler final : public RequestHandler {
 public:
  rt::Task<Result<rt::Pieces>> Handle(Request request) override {
    const Result<DatabaseExistsRequest> asked = DecodeRequest<DatabaseExistsRequest>(request);
    if (!asked.ok()) co_return asked.error();
    if (asked->database_name == "slow") {
      rt::Task<void> sleep = rt::Sleep(std::chrono::milliseconds(20));
      co_await std::move(sleep);
    }
    co_return Encode(DatabaseExistsResponse{.exists = asked->database_name == "there"});
  }
};

ServerOptions LoopbackOptions() {
  return {.address = {"127.0.0.1", 0}, .listener_name = "FLUSS", .server_type = ServerType::kCoordinator};
}

std::unique_ptr<RequestHandler> MakeHandler() { return std::make_unique<ExistsHandler>(); }

rt::Task<Result<bool>> Exists(ClientChannel* channel, std::string name) {
  const DatabaseExistsRequest request{.database_name = name};
  rt::Task<Result<Received<DatabaseExistsResponse>>> call =
      channel->Call<DatabaseExistsResponse>(ApiKey::kDatabaseExists, 0, request);
  const Result<Received<DatabaseExistsResponse>> answer = co_await std::move(call);
  if (!answer.ok()) co_return answer.error();
  co_return (*answer)->exists;
}

rt::Task<void> ServeAndAsk() {
  RequestMemory memory(rt::ShardCount(), 64 << 20);
  rt::Task<Result<std::unique_ptr<Server>>> start = Server::Start(&rt::SystemNetwork(), &memory, LoopbackOptions(), &MakeHandler);
  Result<std::unique_ptr<Server>> server = co_await std::move(start);
  EXPECT_TRUE(server.ok()) << server.ToString();
  if (!server.ok()) co_return;
  for (int i = 0; i < 4; ++i) {
    rt::Task<Result<std::unique_ptr<ClientChannel>>> connect =
        ClientChannel::Connect(&rt::SystemNetwork(), (*server)->local_address(), {});
    Result<std::unique_ptr<ClientChannel>> channel = co_await std::move(connect);
    EXPECT_TRUE(channel.ok()) << channel.ToString();
    if (!channel.ok()) break;
    for (const std::string_view name : {"there", "not", "slow"}) {
      rt::Task<Result<bool>> ask = Exists(channel->get(), std::string(name));
      const Result<bool> exists = co_await std::move(ask);
      EXPECT_TRUE(exists.ok()) << exists.ToString();
      if (exists.ok()) {
        EXPECT_EQ(*exists, name == "there");
      }
    }
    rt::Task<void> close = (*channel)->Close();
    co_await std::move(close);
  }
  rt::Task<void> stop = (*server)->Stop(std::chrono::seconds(5));
  co_await std::move(stop);
  EXPECT_EQ((*server)->open_connections(), 0u);
}

TEST(Server, AnswersOverSockets) { rt::RunForTest(&ServeAndAsk); }

rt::Task<int> ServeAndAskOnShards() {
  rt::Task<void> serve = ServeAndAsk();
  co_await std::move(serve);
  co_return 0;
}

TEST(Server, AnswersOverSocketsOnTwoShards) {
  Result<std::unique_ptr<rt::Runtime>> runtime = rt::Runtime::Start({.shards = 2});
  ASSERT_TRUE(runtime.ok()) << runtime.ToString();
  EXPECT_EQ((*runtime)->Run(&ServeAndAskOnShards), 0);
}

rt::Task<void> RefuseTheSecond() {
  RequestMemory memory(rt::ShardCount(), 64 << 20);
  ServerOptions options = LoopbackOptions();
  options.connections_max = 1;
  rt::Task<Result<std::unique_ptr<Server>>> start = Server::Start(&rt::SystemNetwork(), &memory, options, &MakeHandler);
  Result<std::unique_ptr<Server>> server = co_await std::move(start);
  EXPECT_TRUE(server.ok()) << server.ToString();
  if (!server.ok()) co_return;
  rt::Task<Result<std::unique_ptr<ClientChannel>>> first_connect =
      ClientChannel::Connect(&rt::SystemNetwork(), (*server)->local_address(), {});
  Result<std::unique_ptr<ClientChannel>> first = co_await std::move(first_connect);
  EXPECT_TRUE(first.ok()) << first.ToString();
  rt::Task<Result<std::unique_ptr<ClientChannel>>> second_connect =
      ClientChannel::Connect(&rt::SystemNetwork(), (*server)->local_address(), {});
  const Result<std::unique_ptr<ClientChannel>> second = co_await std::move(second_connect);
  EXPECT_EQ(second.code(), ErrorCode::kNetworkException);
  EXPECT_NE(second.ToString().find("its limit"), std::string::npos) << second.ToString();
  EXPECT_EQ((*server)->refused_connections(), 1u);
  rt::Task<Result<bool>> ask = Exists(first->get(), "there");
  const Result<bool> exists = co_await std::move(ask);
  EXPECT_TRUE(exists.ok() && *exists);
  rt::Task<void> close = (*first)->Close();
  co_await std::move(close);
  rt::Task<void> stop = (*server)->Stop(std::chrono::seconds(5));
  co_await std::move(stop);
}

TEST(Server, RefusesConnectionsBeyondItsLimitWithASentence) { rt::RunForTest(&RefuseTheSecond); }

rt::Task<void> Ask(rt::Gate::Holder /*holder*/, ClientChannel* channel, Result<bool>* into) {
  rt::Task<Result<bool>> ask = Exists(channel, "slow");
  Result<bool> exists = co_await std::move(ask);
  *into = std::move(exists);
}

rt::Task<void> StopUnderARequest() {
  RequestMemory memory(rt::ShardCount(), 64 << 20);
  rt::Task<Result<std::unique_ptr<Server>>> start = Server::Start(&rt::SystemNetwork(), &memory, LoopbackOptions(), &MakeHandler);
  Result<std::unique_ptr<Server>> server = co_await std::move(start);
  EXPECT_TRUE(server.ok()) << server.ToString();
  if (!server.ok()) co_return;
  rt::Task<Result<std::unique_ptr<ClientChannel>>> connect =
      ClientChannel::Connect(&rt::SystemNetwork(), (*server)->local_address(), {});
  Result<std::unique_ptr<ClientChannel>> channel = co_await std::move(connect);
  EXPECT_TRUE(channel.ok()) << channel.ToString();
  if (!channel.ok()) co_return;
  rt::Gate gate;
  Result<bool> answer = MakeError(ErrorCode::kNotFound, "no answer yet");
  rt::Spawn(Ask(gate.TryEnter(), channel->get(), &answer));
  ConnectionCounters counters;
  while (counters.requests < 2) {
    rt::Task<ConnectionCounters> count = (*server)->Counters();
    counters = co_await std::move(count);
    rt::Task<void> yield = rt::Yield();
    co_await std::move(yield);
  }
  rt::Task<void> stop = (*server)->Stop(std::chrono::seconds(5));
  co_await std::move(stop);
  rt::Task<void> asked = gate.Close();
  co_await std::move(asked);
  EXPECT_TRUE(answer.ok()) << "what was in flight is answered: " << answer.ToString();
  rt::Task<void> close = (*channel)->Close();
  co_await std::move(close);
}

TEST(Server, AnswersWhatIsInFlightWhenItStops) { rt::RunForTest(&StopUnderARequest); }

}  // namespace
}  // namespace strom::rpc
