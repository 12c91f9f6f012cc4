#include "rpc/linger.h"

#include <vector>

#include "rt/sync.h"

namespace strom::rpc {

namespace {

rt::Task<void> CloseAtDeadline(rt::Gate::Holder /*holder*/, rt::Connection* connection, rt::Event* done,
                               rt::MonotonicTime deadline) {
  const bool finished = co_await done->Wait(deadline);
  if (!finished) connection->Close();
}

}  // namespace

rt::Task<void> LingerThenClose(rt::Connection* connection, rt::Duration limit) {
  rt::Gate gate;
  rt::Event done;
  rt::Spawn(CloseAtDeadline(gate.TryEnter(), connection, &done, rt::Now() + limit));
  std::vector<uint8_t> scratch(4096);
  for (bool open = true; open;) {
    rt::Task<Result<size_t>> read = connection->Read(scratch);
    const Result<size_t> count = co_await std::move(read);
    open = count.ok();
  }
  done.NotifyAll();
  rt::Task<void> close = gate.Close();
  co_await std::move(close);
  connection->Close();
}

}  // namespace strom::rpc
