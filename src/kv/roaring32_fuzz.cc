// covers: src/kv/roaring32.cc src/kv/roaring_container.cc
#include "kv/roaring32.h"
#include "kv/testing/fuzz_union.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return strom::kv::testing::FuzzUnion<strom::kv::Roaring32Union>(data, size);
}
