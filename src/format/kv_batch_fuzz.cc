#include "format/kv_batch.h"
#include "format/value_batch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom::format;
  const strom::ByteView bytes(data, size);
  if (auto values = ValueBatchReader::Open(bytes); values.ok()) {
    strom::ByteView body;
    while (!values->done() && values->Next(&body).ok()) {
    }
  }
  const auto header = DecodeKvBatchHeader(bytes);
  if (!header.ok() || header->total_size > size) return 0;
  const strom::ByteView batch = bytes.first(header->total_size);
  (void)CheckKvBatch(*header, batch).ok();
  KvRecordReader reader(*header, batch);
  KvRecord record;
  while (!reader.done() && reader.Next(&record).ok()) {
  }
  return 0;
}
