#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/schema.h"

namespace strom::bench {

/// id, device, value, time, name(20), payload: the rows that the official clients are measured with.
model::Schema EventSchema();

struct BatchOptions {
  int32_t rows = 1000;      // of a batch
  int32_t row_bytes = 100;  // of data in a row, about; 48 of them are the fixed columns
  int32_t count = 16;       // different batches, used in turn
  bool compressed = true;   // zstd of level 3, as tables have it by default
};

/// ARROW log batches without a writer id, made once and sent as often as wanted: the leader stamps only what lies before the CRC's range.
Result<std::vector<Buffer>> MakeEventBatches(const BatchOptions& options);

}  // namespace strom::bench
