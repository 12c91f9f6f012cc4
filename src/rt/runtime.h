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
  static Result<std::unique_ptr<Runtime>> Start(RuntimeOptions options);
  virtual ~Runtime() = default;
  virtual uint32_t shard_count() const = 0;
  /// Runs `main` on shard 0 and returns what it returned when it is done. Called once, from a thread that is no shard.
  virtual int Run(std::function<Task<int>()> main) = 0;
};

/// For tests: runs one task to its end on a fresh one-shard runtime.
void RunForTest(std::function<Task<void>()> main);

/// Counters of this shard, for metrics and for the tests that assert what a byte may cost.
struct ShardCounters {
  uint64_t read_calls = 0;
  uint64_t write_calls = 0;
  uint64_t sendfile_calls = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t stalls = 0;  // runs of the loop without a break of over 20 ms
};
ShardCounters& Counters();

}  // namespace strom::rt
