#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace strom::meta {

/// Where a file of RocksDB's record log (write-ahead log, manifest) stops being right.
struct LogDamage {
  size_t position = 0;     // of the first record that is not whole and right
  bool is_short = false;   // the file ends inside that record
  bool more_after = false;  // a whole record follows, so the bad one was once written completely and synced
};

/// Walks the records: blocks of 32 KiB; a record is masked CRC-32C (4) | length (2) | type (1) | payload, little-endian, types 1 whole,
/// 2 first, 3 middle, 4 last; what does not fit a header at the end of a block is padding. Nothing: all is well.
std::optional<LogDamage> FindLogDamage(ByteView content);

/// Looks at the write-ahead logs and manifests of a RocksDB directory before it is opened, because RocksDB takes a damaged length for the
/// end of a file and silently forgets what follows. Each record was synced before the next one was written, so:
/// - a bad record with a whole one after it is damage: kCorruptData, and nothing is changed;
/// - a bad one at the very end of the newest log was never acknowledged, if the power failed or the process died while it was being written: it is cut
///   (kept beside the log as `<name>.cut`) with a log line. A process cannot leave anything but a prefix that ends at a page boundary.
Status CheckWriteAheadLogs(const std::string& directory, bool power_may_have_failed);

}  // namespace strom::meta
