#include <cstdlib>

#include "meta/wal_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto damage = strom::meta::FindLogDamage({data, size});
  if (damage && damage->position >= size) std::abort();
  // What stands before the damage is right.
  if (damage && strom::meta::FindLogDamage({data, damage->position})) std::abort();
  return 0;
}
