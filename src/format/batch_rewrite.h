#pragma once

#include <array>

#include "base/bytes.h"
#include "base/result.h"
#include "format/log_batch.h"

namespace strom::format {

/// A batch of magic 0 in two pieces: a header in memory, and the rest as it lies in the batch that it was made from.
struct RewrittenBatch {
  std::array<uint8_t, kBatchHeaderSizeV0> header;
  size_t rest_position = 0;  // in the old batch
  size_t rest_size = 0;      // to its end
};

/// Makes a batch of magic 0 out of one of any magic, for clients that read nothing else (fluss-rust): the leader epoch, the statistics and
/// their length are left out, the CRC is computed anew, which is why the whole batch is asked for. Source: spec/formats.md 0, design.md 3.
RewrittenBatch RewriteToMagic0(const LogBatchHeader& header, ByteView batch);

}  // namespace strom::format
