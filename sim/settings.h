#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/random.h"
#include "format/arrow_compression.h"
#include "rt/time.h"

namespace strom::sim {

/// What one run is like: drawn from its seed, so that every run meets another server, another table and another workload.
struct Settings {
  uint64_t seed = 0;

  // The server.
  bool group_commit = false;               // log.flush.interval-messages = 1
  int64_t flush_interval_messages = 0;     // of the other runs
  uint64_t segment_size = 0;               // bytes; small, so that segments roll all the time
  uint32_t index_interval = 0;             // bytes
  size_t open_files_max = 0;
  rt::Duration blocking_time{0};           // of work on the pool: syncs, opening of logs
  rt::Duration checkpoint_interval{0};     // of recovery points
  bool shuffled = false;                   // the order of work of different shards is drawn, too

  // The table.
  int32_t buckets = 1;
  bool statistics = false;
  std::optional<format::ArrowCodec> codec;
  int64_t ttl_ms = 0;

  // The workload.
  int steps = 0;
  int writers = 0;
  bool crashes = false;
  bool power_losses = false;
  bool full_disks = false;
  bool clock_jumps = false;
  bool many_appends = false;  // mostly appends, hence many segments

  static Settings Draw(uint64_t seed);
  /// One line for a person.
  std::string ToString() const;
};

}  // namespace strom::sim
