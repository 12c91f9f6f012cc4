#include <cstdlib>

#include "meta/node_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view record(reinterpret_cast<const char*>(data), size);
  auto node = strom::meta::DecodeNodeRecord(record);
  if (node.ok() && strom::meta::EncodeNodeRecord(*node) != record) std::abort();
  return 0;
}
