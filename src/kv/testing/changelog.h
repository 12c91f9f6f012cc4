#pragma once

#include <vector>

#include "base/bytes.h"
#include "format/change_type.h"
#include "format/value.h"
#include "kv/kv_table.h"

namespace strom::kv::testing {

struct Change {
  format::ChangeType type;
  std::vector<format::Value> row;  // latest schema, bytes owned
};

/// The records of a changelog batch, by the decoders that tools use. Expects a good CRC, magic 0 and the latest schema.
std::vector<Change> ReadChangelog(const KvTable& table, ByteView batch);

}  // namespace strom::kv::testing
