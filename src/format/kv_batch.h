#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "model/ids.h"

namespace strom::format {

/// The header of a PutKv batch (spec/formats.md 12). All integers little-endian.
///
/// | offset | type | field         |
/// |--------|------|---------------|
/// | 0      | i32  | Length: bytes after this field |
/// | 4      | i8   | Magic, 0 |
/// | 5      | u32  | CRC of [9 .. end) |
/// | 9      | i16  | SchemaId |
/// | 11     | i8   | Attributes, 0 |
/// | 12     | i64  | WriterId |
/// | 20     | i32  | BatchSequence |
/// | 24     | i32  | RecordCount |
/// | 28     |      | records: i32 length after itself, varint key length, key, row to the end; no row bytes: delete |
inline constexpr size_t kKvBatchHeaderSize = 28;
inline constexpr size_t kKvBatchCrcStart = 9;

struct KvBatchHeader {
  uint32_t total_size = 0;  // 4 + Length
  uint32_t crc = 0;
  int16_t schema_id = 0;
  WriterId writer_id = kNoWriterId;
  int32_t batch_sequence = -1;
  int32_t record_count = 0;
};

/// Decodes the header at the start of `bytes`. kCorruptRecord for an unknown magic and for sizes that do not fit.
Result<KvBatchHeader> DecodeKvBatchHeader(ByteView bytes);
/// Checks size and CRC of one whole batch.
Status CheckKvBatch(const KvBatchHeader& header, ByteView batch);

/// Both are views into the batch.
struct KvRecord {
  ByteView key;
  ByteView row;
  bool is_delete() const { return row.empty(); }
};

/// Walks the records of one batch, as LogRecordReader does.
class KvRecordReader {
 public:
  KvRecordReader(const KvBatchHeader& header, ByteView batch);

  bool done() const { return index_ == record_count_; }
  /// kCorruptRecord for a record that runs over the batch, and for bytes behind the last record.
  Status Next(KvRecord* record);

 private:
  ByteView records_;
  size_t position_ = 0;
  int32_t index_ = 0;
  int32_t record_count_ = 0;
};

struct KvBatchSpec {
  int16_t schema_id = 1;
  WriterId writer_id = kNoWriterId;
  int32_t batch_sequence = -1;
};

class KvBatchBuilder {
 public:
  explicit KvBatchBuilder(const KvBatchSpec& spec);

  /// `row` is encoded in the table's kv format; empty: delete.
  void Append(ByteView key, ByteView row);
  int32_t record_count() const { return record_count_; }
  size_t size() const { return bytes_.size(); }
  /// The batch; the builder is then used up.
  Buffer Finish();

 private:
  KvBatchSpec spec_;
  MutableBuffer bytes_;
  int32_t record_count_ = 0;
};

}  // namespace strom::format
