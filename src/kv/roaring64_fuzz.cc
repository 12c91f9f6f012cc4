// covers: src/kv/roaring64_read.cc src/kv/roaring_container.cc
#include "kv/roaring64.h"
#include "kv/testing/fuzz_union.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return strom::kv::testing::FuzzUnion<strom::kv::Roaring64Union>(data, size);
}
