// covers: src/kv/roaring32.cc src/kv/roaring_container.cc
#include <algorithm>

#include "base/assert.h"
#include "kv/roaring32.h"

// Two bitmaps, the first as long as the first two bytes say. What can be united can be united with itself again, and stays the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom;
  if (size < 2) return 0;
  const size_t first = std::min<size_t>(data[0] + 256U * data[1], size - 2);
  kv::Roaring32Union merge;
  MutableBuffer out;
  if (!merge.Unite({data + 2, first}, {data + 2 + first, size - 2 - first}, &out).ok()) return 0;
  MutableBuffer again;
  const Status united = merge.Unite(out.view(), out.view(), &again);
  STROM_ASSERT(united.ok(), "{}", united.ToString());
  STROM_ASSERT(AsText(again.view()) == AsText(out.view()), "a union with itself is another one");
  return 0;
}
