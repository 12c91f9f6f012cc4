#pragma once

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/result.h"

namespace strom::kv::testing {

/// Two bitmaps, the first as long as the first two bytes say. What can be united can be united with itself again, and stays the same.
template <typename Union>
int FuzzUnion(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t first = std::min<size_t>(data[0] + 256U * data[1], size - 2);
  Union merge;
  MutableBuffer out;
  if (!merge.Unite({data + 2, first}, {data + 2 + first, size - 2 - first}, &out).ok()) return 0;
  MutableBuffer again;
  const Status united = merge.Unite(out.view(), out.view(), &again);
  STROM_ASSERT(united.ok(), "{}", united.ToString());
  STROM_ASSERT(AsText(again.view()) == AsText(out.view()), "a union with itself is another one");
  return 0;
}

}  // namespace strom::kv::testing
