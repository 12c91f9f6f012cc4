// A connection that gets any bytes answers or ends, and never keeps memory. The first byte chooses how they arrive.

#include "base/assert.h"
#include "base/log.h"
#include "rpc/server_connection.h"
#include "rpc/testing/memory_connection.h"
#include "rt/manual_executor.h"

namespace {

using namespace strom;

class EchoHandler final : public rpc::RequestHandler {
 public:
  rt::Task<Result<rt::Pieces>> Handle(rpc::Request request) override {
    rt::Pieces body;
    body.Add(request.body);
    co_return body;
  }
};

rt::Task<void> Serve(rpc::ServerConnection* connection, bool* ended) {
  rt::Task<void> run = connection->Run();
  co_await std::move(run);
  *ended = true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  LogOptions log;
  log.level = LogLevel::kOff;
  InitLog(log);
  rt::ManualExecutor executor;
  EchoHandler handler;
  rpc::MemoryBudget memory(1 << 20);
  rpc::ConnectionOptions options{.frame_size_max = 1 << 16};
  rpc::ConnectionCounters counters;
  auto [server, client] = rpc::testing::MemoryConnection::MakePair({.read_max = size_t{data[0]} + 1});
  rpc::ServerConnection serving(std::move(server), {.server_type = rpc::ServerType::kTabletServer}, &handler, &memory, &options,
                                &counters);
  bool ended = false;
  rt::Spawn(Serve(&serving, &ended));
  rt::Pieces bytes;
  bytes.Add(Buffer::CopyOf(ByteView(data + 1, size - 1)));
  const Status sent = executor.Run(client->Write(std::move(bytes)));
  client->FinishWriting();
  executor.RunUntilIdle();
  client->Close();
  executor.Advance(std::chrono::minutes(1));
  STROM_ASSERT(ended && memory.available() == 1 << 20, "ended {} sent {} free {}", ended, sent.ToString(), memory.available());
  return 0;
}
