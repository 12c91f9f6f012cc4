#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "format/arrow_compression.h"
#include "format/change_type.h"
#include "format/log_batch_builder.h"
#include "format/value.h"
#include "model/schema.h"

namespace strom::format {

/// One encapsulated Arrow record batch message (spec/formats.md 3) of `rows`, each a kRow of the schema's columns. All buffers are there,
/// validity included; below a null struct all is null; slots of nulls are zero. An error for a value that does not fit its type.
Result<Buffer> EncodeArrowMessage(const model::Schema& schema, std::span<const Value> rows, const ArrowCompression& compression);

/// What goes into an ARROW log batch.
struct ArrowBatchContent {
  std::span<const Value> rows = {};
  std::span<const ChangeType> change_types = {};    // one a row; empty for append-only
  std::span<const int32_t> statistics_columns = {};  // positions, for magic 1 and 2; empty: no statistics
};

/// A whole ARROW log batch with its CRC; without rows, the batch that only takes an offset.
Result<Buffer> BuildArrowLogBatch(const LogBatchSpec& spec, const model::Schema& schema, const ArrowBatchContent& content,
                                  const ArrowCompression& compression);

}  // namespace strom::format
