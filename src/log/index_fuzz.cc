// Index files of any content beside a good segment: every read still gives the right batches.

#include <cstddef>
#include <cstdint>

#include "base/log.h"
#include "log/testing/fuzz_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom;
  InitLog({.level = LogLevel::kOff, .file = {}});
  log::testing::FuzzLog fuzz;
  const size_t split = size == 0 ? 0 : 1 + data[0] % size;
  fuzz.Put(".index", ByteView(data, size).first(split));
  fuzz.Put(".timeindex", ByteView(data, size).subspan(split));
  const Status opened = fuzz.Open({.clean = (size % 2) == 0, .recovery_point = fuzz.end(), .power_loss_possible = false});
  STROM_ASSERT(opened.ok(), "{}", opened.ToString());
  fuzz.CheckAllReads();
  return 0;
}
