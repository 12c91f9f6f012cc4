#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/schema.h"
#include "rpc/client_channel.h"
#include "rt/connection.h"
#include "rt/task.h"

namespace strom::bench {

/// "127.0.0.1:9123" or "[::1]:9123".
Result<rt::Address> ParseBootstrap(const std::string& text);

/// A table that the load runs on, and the tablet server that leads all its buckets.
struct LoadTable {
  TableId table_id;
  int32_t buckets = 0;
  rt::Address tablet_server;
};

struct LoadTableOptions {
  std::string name;  // in the database "bench", which is made when it is not there
  int32_t buckets = 4;
};

/// Makes a log table of EventSchema() and waits until each bucket has a leader and serves. kTableAlreadyExist when it is there.
rt::Task<Result<LoadTable>> CreateLoadTable(rt::Address bootstrap, LoadTableOptions options);

/// The table, made before, once each bucket has a leader and serves.
rt::Task<Result<LoadTable>> FindLoadTable(rt::Address bootstrap, LoadTableOptions options, rt::MonotonicTime deadline);

/// Connects to a server; retries until `deadline` while nobody listens there.
rt::Task<Result<std::unique_ptr<rpc::ClientChannel>>> ConnectUntil(rt::Address address, rt::MonotonicTime deadline);

/// Appends one batch to a bucket with acks = all and gives its base offset. An error of the bucket is the result's.
rt::Task<Result<LogOffset>> AppendBatch(rpc::ClientChannel* channel, TableId table, int32_t bucket, Buffer batch);

/// Where a reader of a whole table stands, and one fetch of all its buckets.
class TableReader {
 public:
  TableReader(const LoadTable& table, int32_t max_bytes_a_bucket)
      : table_(table), max_bytes_(max_bytes_a_bucket), offsets_(static_cast<size_t>(table.buckets)) {}

  struct Fetched {
    int64_t rows = 0;
    int64_t bytes = 0;  // of the response frame
  };
  /// Fetches what comes next (waiting up to 500 ms for the first byte at the end) and moves on. `columns`: positions, empty for all.
  rt::Task<Result<Fetched>> Next(rpc::ClientChannel* channel, std::vector<int32_t> columns);
  /// The next offset of a bucket.
  int64_t offset(int32_t bucket) const { return offsets_[static_cast<size_t>(bucket)]; }
  /// The next fetch of the bucket begins there.
  void Seek(int32_t bucket, int64_t offset) { offsets_[static_cast<size_t>(bucket)] = offset; }

 private:
  /// The rows of one bucket's answer.
  Result<int64_t> Advance(const rpc::PbFetchLogRespForBucket& answer);

  const LoadTable table_;
  const int32_t max_bytes_;
  std::vector<int64_t> offsets_;
};

}  // namespace strom::bench
