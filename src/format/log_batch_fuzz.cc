#include "format/batch_rewrite.h"
#include "format/log_batch.h"
#include "format/log_records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom::format;
  const strom::ByteView bytes(data, size);
  const auto header = DecodeLogBatchHeader(bytes);
  if (!header.ok() || header->total_size > size) return 0;
  const strom::ByteView batch = bytes.first(header->total_size);
  (void)CheckLogBatch(*header, batch).ok();
  (void)SplitArrowBatch(*header, batch).ok();
  const RewrittenBatch rewritten = RewriteToMagic0(*header, batch);
  STROM_ASSERT(DecodeLogBatchHeader(rewritten.header).ok(), "a rewritten header does not read back");
  LogRecordReader reader(*header, batch);
  LogRecord record;
  while (!reader.done() && reader.Next(&record).ok()) {
  }
  return 0;
}
