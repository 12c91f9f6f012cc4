#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/ids.h"
#include "rt/file.h"

namespace strom::log {

struct LeaderEpochStart {
  LeaderEpoch epoch;
  LogOffset first_offset;
  auto operator<=>(const LeaderEpochStart&) const = default;
};

/// Which leader epoch wrote which offsets: epochs and first offsets, both increasing (design-replication.md 1). A side file of our own beside the
/// segments, which Java servers ignore: `leader-epoch-history`, a text of lines `strom-epochs 1`, `<epoch> <first offset>`..., `crc <8 hex digits>`
/// (CRC-32C of everything before that line).
class LeaderEpochHistory {
 public:
  static constexpr const char* kFileName = "leader-epoch-history";

  const std::vector<LeaderEpochStart>& starts() const { return starts_; }
  std::optional<LeaderEpoch> latest() const {
    return starts_.empty() ? std::nullopt : std::optional(starts_.back().epoch);
  }

  /// Books `epoch` from `first_offset` on. Nothing happens when the epoch is known. An epoch that wrote nothing gives way to the next one.
  /// False when nothing changed: also for an epoch below the latest, which its caller fences.
  bool Assign(LeaderEpoch epoch, LogOffset first_offset);
  /// The largest known epoch <= `epoch`, and where it ends: the next one's first offset, or `log_end`. Nothing when no such epoch is known.
  struct End {
    LeaderEpoch epoch;
    LogOffset end_offset;
  };
  std::optional<End> EndOffsetFor(LeaderEpoch epoch, LogOffset log_end) const;
  /// The epoch that wrote `offset`, if it is known.
  std::optional<LeaderEpoch> EpochOf(LogOffset offset) const;
  /// Forgets epochs that start at or above `offset`. False when nothing changed.
  bool TruncateTo(LogOffset offset);
  /// Forgets what lies wholly below `offset`, keeping the epoch that covers it. False when nothing changed.
  bool TruncateBelow(LogOffset offset);

  std::string Encode() const;
  static Result<LeaderEpochHistory> Decode(ByteView text);

 private:
  std::vector<LeaderEpochStart> starts_;
};

}  // namespace strom::log
