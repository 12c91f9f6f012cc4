#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/table_bucket.h"
#include "rt/file.h"

namespace strom::log {

/// An offset a bucket: `recovery-point-offset-checkpoint` and `high-watermark-checkpoint` of a data directory (spec/formats.md 10.3). Text: version `0`,
/// the count, then a line a bucket: `tableId bucket offset` or `tableId partitionId bucket offset`. Ids are 64 bits here (W23).
using BucketOffsets = std::vector<std::pair<model::TableBucket, LogOffset>>;

inline constexpr const char* kRecoveryPointCheckpoint = "recovery-point-offset-checkpoint";
inline constexpr const char* kHighWatermarkCheckpoint = "high-watermark-checkpoint";

std::string EncodeOffsetCheckpoint(const BucketOffsets& offsets);
/// Empty text is no entries. kCorruptData for a wrong version or count and for a line that is no numbers.
Result<BucketOffsets> DecodeOffsetCheckpoint(ByteView text);

/// Reads `<data_dir>/<name>`; a missing file is no entries.
Result<std::unordered_map<model::TableBucket, LogOffset>> ReadOffsetCheckpoint(rt::FileSystem& files, const std::string& data_dir,
                                                                               const std::string& name);
/// Replaces the file, durably. Blocks.
Status WriteOffsetCheckpoint(rt::FileSystem& files, const std::string& data_dir, const std::string& name, BucketOffsets offsets);

}  // namespace strom::log
