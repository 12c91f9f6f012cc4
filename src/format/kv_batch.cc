#include "format/kv_batch.h"

#include "base/crc32c.h"
#include "base/endian.h"
#include "format/varint.h"

namespace strom::format {

Result<KvBatchHeader> DecodeKvBatchHeader(ByteView bytes) {
  if (bytes.size() < kKvBatchHeaderSize) {
    return MakeError(ErrorCode::kCorruptRecord, "{} bytes are too few for the header of a kv batch", bytes.size());
  }
  const uint8_t* data = bytes.data();
  if (data[4] != 0) return MakeError(ErrorCode::kCorruptRecord, "kv batch has magic {}, known is 0", data[4]);
  const int32_t length = LoadLe<int32_t>(data);
  if (length < static_cast<int32_t>(kKvBatchHeaderSize - 4)) {
    return MakeError(ErrorCode::kCorruptRecord, "kv batch has length {}, less than its header", length);
  }
  KvBatchHeader header;
  header.total_size = 4 + static_cast<uint32_t>(length);
  header.crc = LoadLe<uint32_t>(data + 5);
  header.schema_id = LoadLe<int16_t>(data + 9);
  header.writer_id = WriterId(LoadLe<int64_t>(data + 12));
  header.batch_sequence = LoadLe<int32_t>(data + 20);
  header.record_count = LoadLe<int32_t>(data + 24);
  if (header.record_count < 0) return MakeError(ErrorCode::kCorruptRecord, "kv batch has {} records", header.record_count);
  return header;
}

Status CheckKvBatch(const KvBatchHeader& header, ByteView batch) {
  if (batch.size() != header.total_size) {
    return MakeError(ErrorCode::kCorruptRecord, "kv batch has {} bytes, its header says {}", batch.size(), header.total_size);
  }
  const uint32_t crc = Crc32c(batch.subspan(kKvBatchCrcStart));
  if (crc != header.crc) {
    return MakeError(ErrorCode::kCorruptRecord, "kv batch of {} bytes has CRC {:08x}, its header says {:08x}", batch.size(), crc, header.crc);
  }
  return Status::OK();
}

KvRecordReader::KvRecordReader(const KvBatchHeader& header, ByteView batch) : record_count_(header.record_count) {
  STROM_ASSERT(batch.size() == header.total_size, "a batch of {} bytes, its header says {}", batch.size(), header.total_size);
  records_ = batch.subspan(kKvBatchHeaderSize);
}

Status KvRecordReader::Next(KvRecord* record) {
  STROM_ASSERT(!done(), "a batch of {} records has no next one", record_count_);
  const ByteView rest = records_.subspan(position_);
  const int64_t length = rest.size() < 4 ? -1 : LoadLe<int32_t>(rest.data());
  if (length < 1 || static_cast<size_t>(length) > rest.size() - 4) {
    return MakeError(ErrorCode::kCorruptRecord, "record {} of {} in a kv batch: length {} with {} bytes left", index_, record_count_, length,
                     rest.size());
  }
  const ByteView body = rest.subspan(4, static_cast<size_t>(length));
  uint32_t key_size = 0;
  const size_t varint_size = GetVarint(body, &key_size);
  if (varint_size == 0 || key_size > body.size() - varint_size) {
    return MakeError(ErrorCode::kCorruptRecord, "record {} of a kv batch: a key of {} bytes in a record of {}", index_, key_size, length);
  }
  record->key = body.subspan(varint_size, key_size);
  record->row = body.subspan(varint_size + key_size);
  position_ += 4 + static_cast<size_t>(length);
  ++index_;
  if (done() && position_ != records_.size()) {
    return MakeError(ErrorCode::kCorruptRecord, "kv batch has {} bytes behind its last record", records_.size() - position_);
  }
  return Status::OK();
}

KvBatchBuilder::KvBatchBuilder(const KvBatchSpec& spec) : spec_(spec) { bytes_.Extend(kKvBatchHeaderSize); }

void KvBatchBuilder::Append(ByteView key, ByteView row) {
  const auto key_size = static_cast<uint32_t>(key.size());
  const size_t body = VarintSize(key_size) + key.size() + row.size();
  StoreLe(bytes_.Extend(4), static_cast<int32_t>(body));
  AppendVarint(key_size, &bytes_);
  bytes_.Append(key);
  bytes_.Append(row);
  ++record_count_;
}

Buffer KvBatchBuilder::Finish() {
  STROM_ASSERT(bytes_.size() <= INT32_MAX, "a batch of {} bytes", bytes_.size());
  uint8_t* data = bytes_.data();
  StoreLe(data, static_cast<int32_t>(bytes_.size() - 4));
  data[4] = 0;
  StoreLe(data + 9, spec_.schema_id);
  data[11] = 0;
  StoreLe(data + 12, spec_.writer_id.value());
  StoreLe(data + 20, spec_.batch_sequence);
  StoreLe(data + 24, record_count_);
  StoreLe(data + 5, Crc32c(bytes_.view().subspan(kKvBatchCrcStart)));
  return bytes_.Freeze();
}

}  // namespace strom::format
