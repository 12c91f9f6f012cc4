#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/arrow_metadata.h"
#include "format/change_type.h"
#include "format/log_batch.h"
#include "format/value.h"
#include "model/schema.h"

namespace strom::format {

/// What decoding one batch may take, so that a small one cannot fill the memory.
struct ArrowReadLimits {
  uint64_t bytes_max = uint64_t{1} << 30;    // of all buffers, uncompressed
  uint64_t values_max = uint64_t{1} << 24;   // of all nodes
};

/// The rows of a message (spec/formats.md 3), each a kRow of the schema's columns with bytes of its own. Takes any Arrow writer's
/// output: no validity for columns without nulls, any padding, either codec. kCorruptRecord for what does not fit the schema or itself.
/// Timestamps before 1970 are split by floor division. For tools, tests and replays, not for the fetch path.
Result<std::vector<Value>> DecodeArrowMessage(ByteView message, const model::Schema& schema, const ArrowReadLimits& limits = {});

struct DecodedArrowBatch {
  LogBatchHeader header;
  std::optional<ArrowCodec> codec;
  std::vector<ChangeType> change_types;  // one a row; kAppendOnly for append-only batches
  std::vector<Value> rows;               // empty for a batch that is only a header
};

/// A whole ARROW log batch, without its CRC being checked: projected batches have a stale one.
Result<DecodedArrowBatch> DecodeArrowBatch(ByteView batch, const model::Schema& schema, const ArrowReadLimits& limits = {});

}  // namespace strom::format
