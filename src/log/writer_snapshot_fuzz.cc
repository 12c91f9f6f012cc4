#include <cstddef>
#include <cstdint>

#include "log/writer_snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom;
  const auto snapshot = log::WriterSnapshot::Decode(ByteView(data, size));
  if (!snapshot.ok()) return 0;
  const auto again = log::WriterSnapshot::Decode(AsBytes(snapshot->Encode(log::WriterSnapshot::Form::kStrom)));
  STROM_ASSERT(again.ok() && again->writers == snapshot->writers, "a writer snapshot does not survive its own encoding");
  log::WriterState state(1000);
  snapshot->RestoreTo(state);
  return 0;
}
