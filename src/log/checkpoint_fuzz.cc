// Offset checkpoints and the epoch history: what decodes must encode to something that decodes to the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "log/leader_epoch_history.h"
#include "log/offset_checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom;
  const ByteView bytes(data, size);
  if (const auto offsets = log::DecodeOffsetCheckpoint(bytes); offsets.ok()) {
    const auto again = log::DecodeOffsetCheckpoint(AsBytes(log::EncodeOffsetCheckpoint(*offsets)));
    STROM_ASSERT(again.ok() && *again == *offsets, "a checkpoint does not survive its own encoding");
  }
  if (const auto history = log::LeaderEpochHistory::Decode(bytes); history.ok()) {
    const auto again = log::LeaderEpochHistory::Decode(AsBytes(history->Encode()));
    STROM_ASSERT(again.ok() && again->starts() == history->starts(), "an epoch history does not survive its own encoding");
  }
  // The checksum keeps most inputs out of the epoch history: give it one that fits.
  log::LeaderEpochHistory history;
  for (size_t i = 0; i + 2 <= std::min<size_t>(size, 64); i += 2) {
    const auto latest = history.latest();
    history.Assign(LeaderEpoch((latest ? latest->value() : 0) + data[i] % 3), LogOffset(static_cast<int64_t>(i) * 10 + data[i + 1]));
    history.TruncateTo(LogOffset(static_cast<int64_t>(i) * 12));
  }
  const auto again = log::LeaderEpochHistory::Decode(AsBytes(history.Encode()));
  STROM_ASSERT(again.ok() && again->starts() == history.starts(), "an epoch history does not survive its own encoding");
  return 0;
}
