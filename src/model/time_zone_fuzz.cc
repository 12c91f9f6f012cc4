// covers: src/model/time_zone_rules.cc
#include "model/time_zone.h"

using namespace strom;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto zone = model::TimeZone::FromZoneFile({data, size});
  if (!zone.ok()) return 0;
  for (const int64_t at : {int64_t{-5'000'000'000}, int64_t{0}, int64_t{1'700'000'000}, int64_t{9'000'000'000}}) {
    (void)zone->OffsetAt(at);
    (void)zone->Normalize(at);
  }
  return 0;
}
