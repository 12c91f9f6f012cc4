#include "format/batch_rewrite.h"

#include <cstring>

#include "base/crc32c.h"
#include "base/endian.h"

namespace strom::format {

RewrittenBatch RewriteToMagic0(const LogBatchHeader& header, ByteView batch) {
  STROM_ASSERT(batch.size() == header.total_size, "a batch of {} bytes, its header says {}", batch.size(), header.total_size);
  constexpr size_t kCrcStart = 25;
  RewrittenBatch result;
  result.rest_position = header.header_size() + static_cast<size_t>(header.statistics_length);
  result.rest_size = batch.size() - result.rest_position;

  uint8_t* to = result.header.data();
  std::memcpy(to, batch.data(), kBatchStampSize);
  StoreLe(to + 8, static_cast<int32_t>(kBatchHeaderSizeV0 - kBatchLengthEnd + result.rest_size));
  to[12] = 0;
  // SchemaId to RecordCount are the same in every magic.
  std::memcpy(to + kCrcStart, batch.data() + header.crc_start(), kBatchHeaderSizeV0 - kCrcStart);
  const uint32_t crc = Crc32c(ByteView(result.header).subspan(kCrcStart));
  StoreLe(to + kCrcStart - 4, Crc32c(batch.subspan(result.rest_position), crc));
  return result;
}

}  // namespace strom::format
