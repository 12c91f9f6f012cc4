#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "base/timestamp.h"
#include "model/ids.h"

namespace strom::format {

/// The header of a log record batch (spec/formats.md 1). All integers little-endian.
///
/// | field           | type | magic 0 | magic 1 | magic 2 |
/// |-----------------|------|---------|---------|---------|
/// | BaseOffset      | i64  | 0       | 0       | 0       |  stamped by the leader, outside the CRC
/// | Length          | i32  | 8       | 8       | 8       |  bytes after this field
/// | Magic           | i8   | 12      | 12      | 12      |
/// | CommitTimestamp | i64  | 13      | 13      | 13      |  stamped by the leader, outside the CRC
/// | LeaderEpoch     | i32  | -       | -       | 21      |  outside the CRC
/// | CRC             | u32  | 21      | 21      | 25      |  of [SchemaId .. end)
/// | SchemaId        | i16  | 25      | 25      | 29      |
/// | Attributes      | i8   | 27      | 27      | 31      |  bit 0: append-only
/// | LastOffsetDelta | i32  | 28      | 28      | 32      |
/// | WriterId        | i64  | 32      | 32      | 36      |
/// | BatchSequence   | i32  | 40      | 40      | 44      |
/// | RecordCount     | i32  | 44      | 44      | 48      |
/// | StatisticsLength| i32  | -       | 48      | 52      |
/// | header size     |      | 48      | 52      | 56      |
inline constexpr size_t kBatchLengthEnd = 12;       // BaseOffset and Length
inline constexpr size_t kBatchPeekSize = 13;        // up to and with Magic: enough to know the sizes
inline constexpr size_t kBatchStampSize = 21;       // BaseOffset .. CommitTimestamp: what a leader rewrites
inline constexpr size_t kBatchHeaderSizeV0 = 48;
inline constexpr size_t kBatchHeaderSizeMax = 56;
inline constexpr uint8_t kBatchMagicMax = 2;

/// Size of the header of that magic; 0 for a magic that nobody knows.
constexpr size_t BatchHeaderSize(uint8_t magic) {
  return magic == 0 ? 48 : magic == 1 ? 52 : magic == 2 ? 56 : 0;
}

/// The decoded fields of one header. A plain value, valid without the bytes it came from.
struct LogBatchHeader {
  LogOffset base_offset;
  uint32_t total_size = 0;  // of the whole batch: 12 + Length
  uint8_t magic = 0;
  TimestampMs commit_timestamp;
  uint32_t crc = 0;
  int16_t schema_id = 0;
  uint8_t attributes = 0;
  int32_t last_offset_delta = 0;
  WriterId writer_id = kNoWriterId;
  int32_t batch_sequence = -1;
  int32_t record_count = 0;
  int32_t statistics_length = 0;  // 0 for magic 0

  bool append_only() const { return (attributes & 1) != 0; }
  size_t header_size() const { return BatchHeaderSize(magic); }
  /// Where the CRC's range begins.
  size_t crc_start() const { return magic == 2 ? 29 : 25; }
  /// Never derived from record_count: an empty batch takes one offset, too.
  LogOffset last_offset() const { return base_offset + last_offset_delta; }
  LogOffset next_offset() const { return base_offset + last_offset_delta + 1; }
};

/// Decodes the header at the start of `bytes`, which may be longer or shorter than the batch but must hold the header.
/// kCorruptRecord for an unknown magic, for sizes below the header's, for negative counts and for lengths that do not fit the batch.
Result<LogBatchHeader> DecodeLogBatchHeader(ByteView bytes);

/// Checks one whole batch: header, size (`batch.size()` is the batch's), CRC. The one CRC pass of a batch's life on a leader.
Status CheckLogBatch(const LogBatchHeader& header, ByteView batch);

/// Writes what a leader stamps into `header_copy`, the first kBatchStampSize bytes (or more) of a batch. Does not touch the CRC's range.
void StampLogBatch(std::span<uint8_t> header_copy, LogOffset base_offset, TimestampMs commit_timestamp);

}  // namespace strom::format
