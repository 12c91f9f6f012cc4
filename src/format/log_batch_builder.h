#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/timestamp.h"
#include "format/change_type.h"
#include "format/log_batch.h"
#include "model/ids.h"

namespace strom::format {

/// What a batch's maker knows of it (spec/formats.md 1). Defaults are those of a client without writer id.
struct LogBatchSpec {
  uint8_t magic = 0;  // 0 to 2; row formats only 0
  int16_t schema_id = 1;
  bool append_only = true;
  WriterId writer_id = kNoWriterId;
  int32_t batch_sequence = -1;
  LogOffset base_offset{0};
  TimestampMs commit_timestamp{0};
  LeaderEpoch leader_epoch{-1};  // magic 2 only
};

/// The parts of an ARROW batch behind its header, each as it lies in the batch.
struct ArrowBatchParts {
  int32_t record_count = 0;
  ByteView statistics;    // magic 1 and 2; empty: none
  ByteView change_types;  // record_count bytes, empty for append-only
  ByteView message;       // the encapsulated Arrow record batch
};

/// A whole batch with its CRC: one copy of the parts, one pass of the CRC.
Buffer BuildArrowLogBatch(const LogBatchSpec& spec, const ArrowBatchParts& parts);

/// A batch without records. It takes one offset and carries the writer's sequence (spec/formats.md 1).
Buffer BuildEmptyLogBatch(const LogBatchSpec& spec);

/// Builds a batch of INDEXED or COMPACTED records (spec/formats.md 2), always of magic 0.
class RowLogBatchBuilder {
 public:
  explicit RowLogBatchBuilder(const LogBatchSpec& spec);

  /// `row` is encoded in the table's log format.
  void Append(ChangeType type, ByteView row);
  /// For rows that the caller encodes in place: returns where to, then the record ends with EndRow.
  MutableBuffer* BeginRow(ChangeType type);
  void EndRow();

  int32_t record_count() const { return record_count_; }
  /// Bytes of the batch so far.
  size_t size() const { return bytes_.size(); }
  /// The batch; the builder is then used up.
  Buffer Finish();

 private:
  LogBatchSpec spec_;
  MutableBuffer bytes_;
  size_t record_ = 0;
  int32_t record_count_ = 0;
};

}  // namespace strom::format
