#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "rt/task.h"

namespace strom::rt {

struct RuntimeOptions {
  uint32_t shards = 0;            // 0: the cores that the process may use
  uint32_t blocking_threads = 4;  // started when first needed
};

/// The threads of the process: one per shard, and the pool for blocking work.
class Runtime {
 public:
  /// Makes the shards and starts their threads. The process ignores SIGPIPE from then on. kIoError when the system refuses.
  static Result<std::unique_ptr<Runtime>> Start(RuntimeOptions options);
  virtual ~Runtime() = default;
  virtual uint32_t shard_count() const = 0;
  /// Runs `main` on shard 0, which is the calling thread, and returns what it returned when it is done. Called once, from a
  /// thread that is no shard.
  ///
  /// When `main` is done, each shard runs the work that is ready and then stops. Who still waits then, for a timer, a
  /// socket, an event or blocking work that has not begun, is neither resumed nor destroyed (what it refers to may be gone),
  /// and its sockets are closed: `main` closes its listeners, connections and gates and waits for them before it returns.
  virtual int Run(std::function<Task<int>()> main) = 0;
};

/// For tests: runs one task to its end on a fresh one-shard runtime.
void RunForTest(std::function<Task<void>()> main);

/// Counters of this thread (a shard, or a thread of the blocking pool), for metrics and for the tests that assert what a byte
/// may cost. A shard's start at zero when it starts.
struct ShardCounters {
  // Sockets. Calls count whether they moved bytes or not.
  uint64_t read_calls = 0;
  uint64_t write_calls = 0;
  uint64_t sendfile_calls = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;  // sendfile's included
  // Files (SystemFiles).
  uint64_t file_read_calls = 0;
  uint64_t file_write_calls = 0;
  uint64_t file_bytes_read = 0;
  uint64_t file_bytes_written = 0;
  uint64_t wait_calls = 0;  // epoll_wait
  uint64_t stalls = 0;      // runs of the loop without a break of over 20 ms
};
ShardCounters& Counters();

}  // namespace strom::rt
