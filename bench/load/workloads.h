#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/event_batches.h"
#include "load/json_line.h"
#include "rt/connection.h"
#include "rt/task.h"

namespace strom::bench {

/// What all workloads share. Each makes a table of its own and gives one JSON line.
struct LoadOptions {
  rt::Address bootstrap;
  std::string table;                  // name of the table to make
  int32_t buckets = 4;
  BatchOptions batch;
  std::vector<pid_t> server_processes;  // their CPU is counted; empty: not
};

/// Appends of prebuilt batches by `producers` connections. Without a rate each keeps `in_flight` requests in the air; with one, requests
/// start by a fixed clock whatever the answers do, and a latency counts from the moment when its request *should* have started, so a
/// server that stalls cannot hide the requests it held up (coordinated omission).
struct AppendOptions {
  LoadOptions load;
  int64_t rows = 2'000'000;
  int32_t producers = 1;
  int32_t in_flight = 5;         // of one producer
  int64_t rows_per_second = 0;   // of all producers together; 0: as fast as it goes
};
rt::Task<Result<JsonLine>> RunAppend(AppendOptions options);

/// Reads the table's rows once, after writing them. `columns`: positions, empty for all.
struct ScanOptions {
  LoadOptions load;
  int64_t rows = 2'000'000;
  int32_t repeat = 1;
  int32_t max_bytes_a_bucket = 1 << 20;  // what the official clients ask for
  std::vector<int32_t> columns;
};
rt::Task<Result<JsonLine>> RunScan(ScanOptions options);

/// Appends one batch (of load.batch.rows, 1 for the classic figure) at a fixed rate and reads the table's tail on another connection.
/// "tail" counts from the moment when the append should have been sent to the moment when a reader holds its rows; "ack" to its
/// acknowledgement; the same seconds measure a loopback echo of frames of the same size at the same rate ("echo").
struct TailOptions {
  LoadOptions load;
  int64_t appends_per_second = 1'000;
  int64_t seconds = 10;
  int64_t warmup_seconds = 2;
};
rt::Task<Result<JsonLine>> RunTail(TailOptions options, rt::Address echo);

/// Starts a server on an empty data directory and times exec to the first acknowledged append of one row, through table creation.
struct FirstAckOptions {
  LoadOptions load;            // bootstrap: where the command makes the server listen
  std::string command;         // words split at spaces; {dir} stands for a fresh directory
  int32_t repeat = 5;
  int64_t timeout_seconds = 60;
};
rt::Task<Result<JsonLine>> RunFirstAck(FirstAckOptions options);

/// Starts a server, writes `log_bytes` of log, and ends and starts it `repeat` times: exec to the moment when every bucket has answered right,
/// which is its last batch read back whole and one more batch appended behind it. `kill`: ended by SIGKILL, else by SIGTERM.
struct RestartOptions {
  LoadOptions load;            // bootstrap: where the command makes the server listen
  std::string command;         // words split at spaces; {dir} stands for a fresh directory
  int64_t log_bytes = 1 << 30;
  int32_t repeat = 5;
  bool kill = false;
  int64_t timeout_seconds = 60;
};
rt::Task<Result<JsonLine>> RunRestart(RestartOptions options);

}  // namespace strom::bench
