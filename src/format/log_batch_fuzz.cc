#include "format/log_batch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const strom::ByteView bytes(data, size);
  const auto header = strom::format::DecodeLogBatchHeader(bytes);
  if (!header.ok() || header->total_size > size) return 0;
  (void)strom::format::CheckLogBatch(*header, bytes.first(header->total_size)).ok();
  return 0;
}
