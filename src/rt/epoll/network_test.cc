#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "rt/call.h"
#include "rt/connection.h"
#include "rt/runtime.h"
#include "rt/sync.h"

namespace strom::rt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLong = seconds(10);

using Connections = std::vector<std::unique_ptr<Connection>>;

/// Both ends of one connection over loopback.
struct Pair {
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Connection> client;
  std::unique_ptr<Connection> server;
};

Result<std::unique_ptr<Listener>> ListenLocal(Listener::OnConnection on_connection, std::string host = "127.0.0.1") {
  return SystemNetwork().Listen({std::move(host), 0}, std::move(on_connection));
}

Task<void> MakePair(Pair* pair) {
  Event arrived;
  auto listener = ListenLocal([pair, &arrived](std::unique_ptr<Connection> connection) {
    pair->server = std::move(connection);
    arrived.NotifyAll();
  });
  EXPECT_TRUE(listener.ok()) << listener.ToString();
  pair->listener = std::move(listener).value();
  auto client = co_await SystemNetwork().Connect(pair->listener->local_address(), kLong);
  EXPECT_TRUE(client.ok()) << client.ToString();
  pair->client = std::move(client).value();
  while (pair->server == nullptr) co_await arrived.Wait();
}

Pieces Text(std::string_view text) {
  Pieces pieces;
  pieces.Add(Buffer::CopyOf(text));
  return pieces;
}

/// Reads until `size` bytes or the end.
Task<std::string> ReadText(Connection* connection, size_t size) {
  std::string text;
  std::vector<uint8_t> into(64 << 10);
  while (text.size() < size) {
    const size_t room = std::min(into.size(), size - text.size());
    Result<size_t> count = co_await connection->Read({into.data(), room});
    if (!count.ok()) co_return text + "|" + std::string(ErrorCodeName(count.code()));
    text.append(reinterpret_cast<const char*>(into.data()), *count);
  }
  co_return text;
}

Task<void> ExchangeText() {
  Pair pair;
  co_await MakePair(&pair);
  EXPECT_NE(pair.listener->local_address().port, 0);
  EXPECT_EQ(pair.client->peer_address(), "127.0.0.1:" + std::to_string(pair.listener->local_address().port));
  EXPECT_EQ(pair.server->peer_address().substr(0, 10), "127.0.0.1:");
  Status sent = co_await pair.client->Write(Text("hello"));
  EXPECT_TRUE(sent.ok());
  std::string got = co_await ReadText(pair.server.get(), 5);
  EXPECT_EQ(got, "hello");
  sent = co_await pair.server->Write(Text("world"));
  EXPECT_TRUE(sent.ok());
  got = co_await ReadText(pair.client.get(), 5);
  EXPECT_EQ(got, "world");
}

TEST(Network, ListensOnAFreePortAndCarriesBytesBothWays) {
  RunForTest([] { return ExchangeText(); });
}

Task<void> ExchangeOverV6() {
  Connections arrived;
  auto listener = ListenLocal([&](std::unique_ptr<Connection> each) { arrived.push_back(std::move(each)); }, "::1");
  if (!listener.ok()) co_return;  // a machine without IPv6
  auto client = co_await SystemNetwork().Connect(listener.value()->local_address(), kLong);
  EXPECT_TRUE(client.ok()) << client.ToString();
  EXPECT_EQ((*client)->peer_address(), "[::1]:" + std::to_string(listener.value()->local_address().port));
}

TEST(Network, SpeaksIPv6) {
  RunForTest([] { return ExchangeOverV6(); });
}

Task<void> ConnectByName() {
  Connections arrived;
  auto listener = ListenLocal([&](std::unique_ptr<Connection> each) { arrived.push_back(std::move(each)); });
  Address address{"localhost", listener.value()->local_address().port};
  auto client = co_await SystemNetwork().Connect(address, kLong);
  EXPECT_TRUE(client.ok()) << client.ToString();
  auto nowhere = co_await SystemNetwork().Connect({"no host.invalid", 1}, kLong);
  EXPECT_EQ(nowhere.code(), ErrorCode::kNotFound);
}

TEST(Network, ResolvesNames) {
  RunForTest([] { return ConnectByName(); });
}

Task<void> ListenTwice() {
  auto first = ListenLocal([](std::unique_ptr<Connection>) {});
  auto second = SystemNetwork().Listen(first.value()->local_address(), [](std::unique_ptr<Connection>) {});
  EXPECT_EQ(second.code(), ErrorCode::kIoError);
  EXPECT_NE(second.error().message.find(std::to_string(first.value()->local_address().port)), std::string::npos);
  first.value()->Close();
  auto third = SystemNetwork().Listen(first.value()->local_address(), [](std::unique_ptr<Connection>) {});
  EXPECT_TRUE(third.ok()) << third.ToString();
  co_return;
}

TEST(Network, RefusesASecondListenerOnAPort) {
  RunForTest([] { return ListenTwice(); });
}

Task<void> EchoUntilEnd(std::unique_ptr<Connection> connection, Gate::Holder /*holder*/) {
  std::vector<uint8_t> into(16 << 10);
  for (;;) {
    Result<size_t> count = co_await connection->Read(into);
    if (!count.ok()) co_return;
    Pieces pieces;
    pieces.Add(Buffer::CopyOf({into.data(), *count}));
    Status sent = co_await connection->Write(std::move(pieces));
    if (!sent.ok()) co_return;
  }
}

Task<void> PingPong(Address address, int rounds, int* done, Gate::Holder /*holder*/) {
  auto client = co_await SystemNetwork().Connect(address, kLong);
  EXPECT_TRUE(client.ok()) << client.ToString();
  for (int round = 0; round < rounds; ++round) {
    const std::string text(static_cast<size_t>(1 + round * 37 % 3000), static_cast<char>('a' + round % 26));
    Status sent = co_await (*client)->Write(Text(text));
    EXPECT_TRUE(sent.ok()) << sent.ToString();
    const std::string got = co_await ReadText(client->get(), text.size());
    EXPECT_EQ(got, text);
  }
  ++*done;
}

Task<void> EchoManyConnections() {
  Gate gate;
  auto listener = ListenLocal(
      [&gate](std::unique_ptr<Connection> each) { Spawn(EchoUntilEnd(std::move(each), gate.TryEnter())); });
  int done = 0;
  Gate clients;
  for (int i = 0; i < 50; ++i) Spawn(PingPong(listener.value()->local_address(), 40, &done, clients.TryEnter()));
  co_await clients.Close();
  EXPECT_EQ(done, 50);
  listener.value()->Close();
  co_await gate.Close();
}

TEST(Network, EchoesManyConnectionsAtOnce) {
  RunForTest([] { return EchoManyConnections(); });
}

Task<void> SendBack(Connection* server, std::string* received, Gate::Holder /*holder*/) {
  *received = co_await ReadText(server, 1 << 20);
  Status sent = co_await server->Write(Text("answer"));
  EXPECT_TRUE(sent.ok()) << sent.ToString();
  server->Close();
}

/// A client that speaks, says that it has no more to say, and listens: with plain calls, on the pool.
std::string SpeakAndHalfClose(uint16_t port, const std::string& text) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::send(descriptor, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
    ::shutdown(descriptor, SHUT_WR);
    std::array<char, 100> into;
    for (ssize_t count; (count = ::recv(descriptor, into.data(), into.size(), 0)) > 0;) {
      answer.append(into.data(), static_cast<size_t>(count));
    }
  }
  ::close(descriptor);
  return answer;
}

Task<void> AnswerAHalfClosedPeer() {
  Connections arrived;
  std::string received;
  Gate gate;
  auto listener = ListenLocal([&](std::unique_ptr<Connection> each) {
    arrived.push_back(std::move(each));
    Spawn(SendBack(arrived.back().get(), &received, gate.TryEnter()));
  });
  const uint16_t port = listener.value()->local_address().port;
  auto speak = [port] { return SpeakAndHalfClose(port, "question"); };
  const std::string answer = co_await Blocking(speak);
  co_await gate.Close();
  EXPECT_EQ(answer, "answer");
  EXPECT_EQ(received, "question|END_OF_STREAM") << received;
}

TEST(Network, APeerThatHasClosedItsHalfStillGetsTheAnswer) {
  RunForTest([] { return AnswerAHalfClosedPeer(); });
}

Task<void> ReadAndNote(Connection* connection, ErrorCode* code, Gate::Holder /*holder*/) {
  std::array<uint8_t, 10> into;
  Result<size_t> count = co_await connection->Read(into);
  *code = count.code();
}

Task<void> WriteAndNote(Connection* connection, size_t size, ErrorCode* code, Gate::Holder /*holder*/) {
  Status sent = co_await connection->Write(Text(std::string(size, 'x')));
  *code = sent.code();
}

Task<void> CloseUnderBoth(bool by_destruction) {
  Pair pair;
  co_await MakePair(&pair);
  Gate gate;
  ErrorCode read = ErrorCode::kNone;
  ErrorCode write = ErrorCode::kNone;
  Spawn(ReadAndNote(pair.server.get(), &read, gate.TryEnter()));
  Spawn(WriteAndNote(pair.server.get(), 16 << 20, &write, gate.TryEnter()));  // nobody reads it
  EXPECT_EQ(gate.count(), 2u);
  if (by_destruction) {
    pair.server.reset();
  } else {
    pair.server->Close();
    EXPECT_TRUE(pair.server->closed());
  }
  co_await gate.Close();
  EXPECT_EQ(read, ErrorCode::kCancelled);
  EXPECT_EQ(write, ErrorCode::kCancelled);
  if (by_destruction) co_return;
  std::array<uint8_t, 1> into;
  Result<size_t> again = co_await pair.server->Read(into);
  EXPECT_EQ(again.code(), ErrorCode::kCancelled);
}

TEST(Network, CloseWakesReaderAndWriter) {
  RunForTest([] { return CloseUnderBoth(false); });
}

TEST(Network, DestroyingAConnectionWakesReaderAndWriter) {
  RunForTest([] { return CloseUnderBoth(true); });
}

Task<void> WriteToAPeerThatLeft() {
  Pair pair;
  co_await MakePair(&pair);
  pair.client->Close();
  Status sent = Status::OK();
  for (int i = 0; i < 1000 && sent.ok(); ++i) sent = co_await pair.server->Write(Text(std::string(1000, 'x')));
  EXPECT_EQ(sent.code(), ErrorCode::kEndOfStream) << sent.ToString();
}

TEST(Network, WritingToAPeerThatLeftIsAnErrorAndNoSignal) {
  RunForTest([] { return WriteToAPeerThatLeft(); });
}

Task<void> ConnectToNobody() {
  auto listener = ListenLocal([](std::unique_ptr<Connection>) {});
  const Address address = listener.value()->local_address();
  listener.value()->Close();
  auto refused = co_await SystemNetwork().Connect(address, kLong);
  EXPECT_EQ(refused.code(), ErrorCode::kIoError);
  EXPECT_NE(refused.error().message.find("refused"), std::string::npos) << refused.ToString();
}

TEST(Network, AConnectionIsRefusedWhereNobodyListens) {
  RunForTest([] { return ConnectToNobody(); });
}

Task<void> ConnectToADeafListener() {
  // A listener that accepts nobody, with the shortest queue: once that is full, the kernel drops requests to connect.
  const int deaf = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in bound{};
  bound.sin_family = AF_INET;
  bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof bound;
  EXPECT_EQ(::bind(deaf, reinterpret_cast<sockaddr*>(&bound), sizeof bound), 0);
  EXPECT_EQ(::listen(deaf, 0), 0);
  EXPECT_EQ(::getsockname(deaf, reinterpret_cast<sockaddr*>(&bound), &size), 0);
  Connections queued;
  ErrorCode last = ErrorCode::kNone;
  for (int i = 0; i < 10 && last == ErrorCode::kNone; ++i) {
    auto client = co_await SystemNetwork().Connect({"127.0.0.1", ntohs(bound.sin_port)}, milliseconds(20));
    last = client.code();
    if (client.ok()) queued.push_back(std::move(client).value());
  }
  EXPECT_EQ(last, ErrorCode::kDeadlineExceeded);
  ::close(deaf);
}

TEST(Network, AConnectEndsAtItsDeadline) {
  RunForTest([] { return ConnectToADeafListener(); });
}

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content) {
    std::string pattern = testing::TempDir() + "strom-rt-XXXXXX";
    ::close(::mkstemp(pattern.data()));
    path_ = pattern;
    EXPECT_TRUE(SystemFiles().ReplaceFile(path_, AsBytes(content)).ok());
    file_ = SystemFiles().Open(path_, {.write = true}).value();
  }
  ~TemporaryFile() { EXPECT_TRUE(SystemFiles().Remove(path_).ok()); }
  const std::shared_ptr<File>& file() const { return file_; }

 private:
  std::string path_;
  std::shared_ptr<File> file_;
};

std::string Pattern(size_t size) {
  std::string text(size, ' ');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 1000) % 26);
  return text;
}

Task<void> WriteAndKeep(Connection* connection, Pieces pieces, Status* status, Gate::Holder /*holder*/) {
  *status = co_await connection->Write(std::move(pieces));
}

Task<void> SendMixedPieces() {
  const std::string content = Pattern(3 << 20);
  TemporaryFile temporary(content);
  Pair pair;
  co_await MakePair(&pair);
  Pieces pieces;
  std::string expected;
  auto add_text = [&](std::string_view text) {
    pieces.Add(Buffer::CopyOf(text));
    expected += text;
  };
  auto add_range = [&](uint64_t position, uint64_t size) {
    pieces.Add(FileRange{temporary.file(), position, size});
    expected += content.substr(position, size);
  };
  add_text("header");
  add_range(5, 2 << 20);
  add_text("middle");
  for (uint64_t i = 0; i < 200; ++i) add_range(i * 4000, 100);  // small ones that do not touch
  add_range(100, 20'000);
  add_text("tail");
  Status status = Error{ErrorCode::kUnknownServerError, "not set"};
  Gate gate;
  Spawn(WriteAndKeep(pair.server.get(), std::move(pieces), &status, gate.TryEnter()));
  const std::string got = co_await ReadText(pair.client.get(), expected.size());
  co_await gate.Close();
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(got == expected);
}

TEST(Network, SendsMemoryAndFileRangesInOrder) {
  RunForTest([] { return SendMixedPieces(); });
}

Task<void> SendHeaderAndRange() {
  TemporaryFile temporary(Pattern(64 << 10));
  Pair pair;
  co_await MakePair(&pair);
  Pieces pieces;
  pieces.Add(Buffer::CopyOf("header"));
  pieces.Add(Buffer::CopyOf("more"));
  pieces.Add(FileRange{temporary.file(), 0, 64 << 10});
  const ShardCounters before = Counters();
  Status status = co_await pair.server->Write(std::move(pieces));
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(Counters().write_calls - before.write_calls, 1u);
  EXPECT_EQ(Counters().sendfile_calls - before.sendfile_calls, 1u);
  EXPECT_EQ(Counters().bytes_written - before.bytes_written, 10u + (64 << 10));
  EXPECT_EQ(Counters().file_read_calls, before.file_read_calls);
  const std::string got = co_await ReadText(pair.client.get(), 10 + (64 << 10));
  EXPECT_EQ(got.size(), 10u + (64 << 10));
  EXPECT_EQ(Counters().bytes_read - before.bytes_read, got.size());
}

TEST(Network, AHeaderAndAFileRangeAreTwoCalls) {
  RunForTest([] { return SendHeaderAndRange(); });
}

Task<void> SendShortRange(uint64_t promised) {
  TemporaryFile temporary(Pattern(100'000));
  Pair pair;
  co_await MakePair(&pair);
  Pieces pieces;
  pieces.Add(Buffer::CopyOf("header"));
  pieces.Add(FileRange{temporary.file(), 99'000, promised});
  Status status = co_await pair.server->Write(std::move(pieces));
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_NE(status.error().message.find("the file ends at 100000"), std::string::npos) << status.ToString();
  pair.server->Close();
  const std::string got = co_await ReadText(pair.client.get(), 1 << 20);
  EXPECT_LE(got.size(), 6 + 1000 + std::string("|END_OF_STREAM").size()) << "no byte stands in for a missing one";
}

TEST(Network, AFileRangeThatIsShorterThanPromisedIsAnError) {
  RunForTest([] { return SendShortRange(50'000); });
  RunForTest([] { return SendShortRange(1'001); });
}

Task<void> ReadCallsOfAnEcho() {
  Pair pair;
  co_await MakePair(&pair);
  std::array<uint8_t, 100> into;
  const ShardCounters before = Counters();
  Gate gate;
  for (int i = 0; i < 10; ++i) {
    Status sent = co_await pair.client->Write(Text("x"));
    EXPECT_TRUE(sent.ok());
    Result<size_t> count = co_await pair.server->Read(into);
    EXPECT_EQ(*count, 1u);
  }
  EXPECT_EQ(Counters().write_calls - before.write_calls, 10u);
  EXPECT_LE(Counters().read_calls - before.read_calls, 10u) << "a short read tells that there is no more";
}

TEST(Network, AMessageCostsOneReadAndOneWrite) {
  RunForTest([] { return ReadCallsOfAnEcho(); });
}

/// Connections by shard; each shard touches its own entry only.
struct ShardedConnections {
  std::array<Connections, 4> of;
};

Task<int> SpreadOverShards(ShardedConnections* arrived) {
  auto listener = ListenLocal(
      [arrived](std::unique_ptr<Connection> each) { arrived->of[ThisShard()].push_back(std::move(each)); });
  Connections clients;  // they count for shard 0, as load
  for (int i = 0; i < 12; ++i) {
    auto client = co_await SystemNetwork().Connect(listener.value()->local_address(), kLong);
    EXPECT_TRUE(client.ok());
    clients.push_back(std::move(client).value());
  }
  size_t total = 0;
  while (total < 12) {
    total = 0;
    for (uint32_t shard = 0; shard < 4; ++shard) {
      const size_t count = co_await CallOn(shard, [arrived] { return arrived->of[ThisShard()].size(); });
      total += count;
    }
  }
  for (uint32_t shard = 1; shard < 4; ++shard) {
    const size_t count = co_await CallOn(shard, [arrived] { return arrived->of[ThisShard()].size(); });
    EXPECT_GE(count, 3u) << "shard " << shard;  // shard 0 has the clients, and may get the first ones
  }
  listener.value()->Close();
  for (uint32_t shard = 0; shard < 4; ++shard) {
    co_await CallOn(shard, [arrived] { arrived->of[ThisShard()].clear(); });
  }
  co_return 0;
}

TEST(Network, HandsConnectionsToTheShardWithTheLeast) {
  ShardedConnections arrived;
  auto runtime = Runtime::Start({.shards = 4});
  ASSERT_TRUE(runtime.ok());
  runtime.value()->Run([&arrived] { return SpreadOverShards(&arrived); });
}

/// Leaves the process `spare` free descriptors while it lives.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t spare) {
    ::getrlimit(RLIMIT_NOFILE, &old_);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    rlimit low = old_;
    low.rlim_cur = static_cast<rlim_t>(next) + spare;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  ~FewDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &old_), 0); }

 private:
  rlimit old_;
};

Task<void> RunOutOfDescriptors() {
  Connections arrived;
  auto listener = ListenLocal([&](std::unique_ptr<Connection> each) { arrived.push_back(std::move(each)); });
  const Address address = listener.value()->local_address();
  std::unique_ptr<Connection> last;
  {
    // The client takes the last descriptor, so that there is none to accept it with.
    FewDescriptors few(1);
    auto client = co_await SystemNetwork().Connect(address, kLong);
    EXPECT_TRUE(client.ok()) << client.ToString();
    last = std::move(client).value();
    std::array<uint8_t, 1> into;
    Result<size_t> count = co_await last->Read(into);
    EXPECT_EQ(count.code(), ErrorCode::kEndOfStream) << "refused at once, not left to wait";
  }
  EXPECT_TRUE(arrived.empty());
  auto client = co_await SystemNetwork().Connect(address, kLong);
  EXPECT_TRUE(client.ok()) << client.ToString();
  while (arrived.empty()) co_await Sleep(milliseconds(1));
}

#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define STROM_SANITIZER_NEEDS_DESCRIPTORS
#endif
#endif

TEST(Network, RefusesCleanlyWithoutDescriptorsAndRecovers) {
#if defined(STROM_SANITIZER_NEEDS_DESCRIPTORS)
  GTEST_SKIP() << "the sanitizer probes memory through a pipe and reports nonsense without descriptors";
#endif
  RunForTest([] { return RunOutOfDescriptors(); });
}

Task<int> LeaveConnectionsOpen(ShardedConnections* arrived, Connections* clients) {
  auto listener = ListenLocal(
      [arrived](std::unique_ptr<Connection> each) { arrived->of[ThisShard()].push_back(std::move(each)); });
  for (int i = 0; i < 4; ++i) {
    auto client = co_await SystemNetwork().Connect(listener.value()->local_address(), kLong);
    EXPECT_TRUE(client.ok());
    clients->push_back(std::move(client).value());
  }
  co_return 0;
}

TEST(Network, ConnectionsMayOutliveTheRuntime) {
  ShardedConnections arrived;
  Connections clients;
  {
    auto runtime = Runtime::Start({.shards = 2});
    ASSERT_TRUE(runtime.ok());
    runtime.value()->Run([&] { return LeaveConnectionsOpen(&arrived, &clients); });
  }
  EXPECT_TRUE(clients.front()->closed());
  clients.front()->Close();
}

}  // namespace
}  // namespace strom::rt
