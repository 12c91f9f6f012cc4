#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "model/ids.h"

namespace strom::kv {

/// What one key becomes. `key` and `value` are whole store entries: the encoded key, and schema id and row (spec/formats.md 13.1).
struct PlannedEntry {
  ByteView key;                   // a view into the PutKv batch, `value` into ChangePlan::bytes
  std::optional<ByteView> value;  // nothing: the key is removed
  int32_t last_record =
      0;  // index in the changelog batch of the last record of this change: the entry takes effect at first offset + this + 1
  int32_t row_count_change = 0;  // +1 an insert, -1 a removal
};

/// All that one PutKv batch will do, as a value: nothing is changed before it is carried out, so there is nothing to roll back (spec/server.md 10.2,
/// K6, W31). The changelog batch is to be appended first; the entries are published only after that has succeeded.
struct ChangePlan {
  Buffer
      changelog;  // one whole log batch in the table's log format, maybe without records; offsets and time not stamped yet
  int32_t record_count = 0;           // of the changelog
  std::vector<PlannedEntry> entries;  // in the order of the batch; a key may appear more than once, the last one holds
  Buffer bytes;                       // what the entries' values look at
};

}  // namespace strom::kv
