#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "format/log_batch.h"
#include "format/value.h"
#include "model/ids.h"
#include "model/table_descriptor.h"
#include "sim/settings.h"

namespace strom::sim {

/// The table of a run: id BIGINT, a INT, s STRING; and, from some moment on, b BIGINT.
inline const model::TablePath kTablePath{"fluss", "events"};
model::TableDescriptor MakeTableDescriptor(const Settings& settings);

/// One batch that a client made: what it holds, and what became of it.
struct SentBatch {
  int32_t bucket = 0;
  WriterId writer = kNoWriterId;
  int32_t sequence = -1;
  int16_t schema_id = 1;
  std::vector<format::Value> rows;
  Buffer bytes;
  format::LogBatchHeader header;

  int deliveries = 0;  // how often the server was sent it
  int places = 0;      // how often it is in the log
  std::optional<int64_t> offset;  // of an idempotent one, once it is known
  bool forbidden = false;         // it leaves a gap in its writer's sequence: it must never be in the log

  bool idempotent() const { return writer != kNoWriterId; }
  /// The offsets that it takes: an empty batch takes one.
  int64_t offsets_count() const { return int64_t{header.last_offset_delta} + 1; }
  std::string ToString() const;
};

/// Makes batches and knows all that were made. Rows are never twice the same, so a batch is known by its bytes; only batches without rows and
/// without a writer look all alike, and are one.
class SentBatches {
 public:
  struct Wish {
    int32_t bucket = 0;
    WriterId writer = kNoWriterId;
    int32_t sequence = -1;
    int16_t schema_id = 1;
    const model::Schema* schema = nullptr;
    int rows = 1;
  };

  SentBatches(const Settings& settings, uint64_t seed) : settings_(settings), random_(seed) {}
  SentBatch* Make(const Wish& wish);
  /// The batch whose bytes from the schema id on are those of `batch`, or null: then the server made it up.
  SentBatch* Find(const format::LogBatchHeader& header, ByteView batch) const;

 private:
  std::vector<format::Value> MakeRow(size_t columns);

  const Settings& settings_;
  Random random_;
  int64_t next_id_ = 1;
  std::deque<SentBatch> batches_;
  std::unordered_multimap<uint32_t, SentBatch*> by_crc_;
};

}  // namespace strom::sim
