#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "format/change_type.h"
#include "format/log_batch.h"

namespace strom::format {

struct LogRecord {
  LogOffset offset;
  ChangeType change_type = ChangeType::kAppendOnly;
  ByteView row;  // into the batch; an indexed or compacted row
};

/// Walks the records of an INDEXED or COMPACTED batch (spec/formats.md 2): i32 length, change type, row.
///   LogRecordReader reader(header, batch);
///   LogRecord record;
///   while (!reader.done()) { STROM_TRY(reader.Next(&record)); ... }
class LogRecordReader {
 public:
  /// `batch` is the whole batch of that header.
  LogRecordReader(const LogBatchHeader& header, ByteView batch);

  bool done() const { return index_ == header_.record_count; }
  /// kCorruptRecord for a record that runs over the batch, for an unknown change type, and for bytes behind the last record.
  Status Next(LogRecord* record);

 private:
  LogBatchHeader header_;
  ByteView records_;
  size_t position_ = 0;
  int32_t index_ = 0;
};

/// The fixed places of an ARROW batch's parts; none of them is decoded.
struct ArrowBatchLayout {
  ByteView statistics;
  ByteView change_types;  // empty for append-only
  ByteView message;       // to the end; empty for an empty batch
};
/// kCorruptRecord where the change types do not fit, or one of them is unknown.
Result<ArrowBatchLayout> SplitArrowBatch(const LogBatchHeader& header, ByteView batch);

}  // namespace strom::format
