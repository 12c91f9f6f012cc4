// Segment and side files of any content: the log opens or is refused, and whatever it does then it does in order.

#include <cstddef>
#include <cstdint>

#include "base/log.h"
#include "log/testing/fuzz_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom;
  InitLog({.level = LogLevel::kOff, .file = {}});
  if (size < 4) return 0;
  log::testing::FuzzLog fuzz;
  const ByteView bytes = ByteView(data, size).subspan(4);
  // The first bytes say what to do with the rest: replace the segment, overwrite a part of it, or go on behind it.
  switch (data[0] % 4) {
    case 0: fuzz.Put(".log", bytes); break;
    case 1: fuzz.Overwrite(".log", data[1] * 4u, bytes); break;
    case 2: fuzz.Overwrite(".log", fuzz.log_size(), bytes); break;
    case 3: fuzz.PutNamed("00000000000000000030.writer_snapshot", bytes); break;
  }
  const log::OpenMode mode{.clean = data[2] % 3 == 0, .recovery_point = LogOffset(data[3] % 70), .power_loss_possible = data[2] % 2 == 0};
  if (fuzz.Open(mode).ok()) fuzz.Exercise();
  return 0;
}
