#include "format/log_batch.h"

#include "base/crc32c.h"

namespace strom::format {

Result<LogBatchHeader> DecodeLogBatchHeader(ByteView bytes) {
  if (bytes.size() < kBatchPeekSize) {
    return MakeError(ErrorCode::kCorruptRecord, "{} bytes are too few for the header of a log batch", bytes.size());
  }
  const uint8_t* data = bytes.data();
  LogBatchHeader header;
  header.magic = data[12];
  const size_t header_size = BatchHeaderSize(header.magic);
  if (header_size == 0) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch has magic {}, known are 0 to {}", header.magic, kBatchMagicMax);
  }
  if (bytes.size() < header_size) {
    return MakeError(ErrorCode::kCorruptRecord, "{} bytes are too few for the {} byte header of a log batch of magic {}",
                     bytes.size(), header_size, header.magic);
  }
  const int32_t length = LoadLe<int32_t>(data + 8);
  if (length < 0 || kBatchLengthEnd + static_cast<size_t>(length) < header_size) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch of magic {} has length {}, less than its header", header.magic, length);
  }
  header.base_offset = LogOffset(LoadLe<int64_t>(data));
  header.total_size = static_cast<uint32_t>(kBatchLengthEnd) + static_cast<uint32_t>(length);
  header.commit_timestamp = TimestampMs(LoadLe<int64_t>(data + 13));
  // From the CRC on, magic 2 has the fields of magic 0 and 1 moved by its leader epoch.
  const uint8_t* fields = data + header.crc_start() - 4;
  header.crc = LoadLe<uint32_t>(fields);
  header.schema_id = LoadLe<int16_t>(fields + 4);
  header.attributes = fields[6];
  header.last_offset_delta = LoadLe<int32_t>(fields + 7);
  header.writer_id = WriterId(LoadLe<int64_t>(fields + 11));
  header.batch_sequence = LoadLe<int32_t>(fields + 19);
  header.record_count = LoadLe<int32_t>(fields + 23);
  if (header.magic > 0) header.statistics_length = LoadLe<int32_t>(fields + 27);

  if (header.record_count < 0 || header.last_offset_delta < 0) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch has {} records and last offset delta {}, neither may be negative",
                     header.record_count, header.last_offset_delta);
  }
  if (header.statistics_length < 0 || static_cast<uint32_t>(header.statistics_length) > header.total_size - header_size) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch of {} bytes has statistics of {} bytes", header.total_size,
                     header.statistics_length);
  }
  return header;
}

Status CheckLogBatch(const LogBatchHeader& header, ByteView batch) {
  if (batch.size() != header.total_size) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch has {} bytes, its header says {}", batch.size(), header.total_size);
  }
  if (header.header_size() == 0 || batch.size() < header.header_size()) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch of magic {} has only {} bytes", header.magic, batch.size());
  }
  const uint32_t crc = Crc32c(batch.subspan(header.crc_start()));
  if (crc != header.crc) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch of {} bytes has CRC {:08x}, its header says {:08x}", batch.size(), crc,
                     header.crc);
  }
  return Status::OK();
}

void StampLogBatch(std::span<uint8_t> header_copy, LogOffset base_offset, TimestampMs commit_timestamp) {
  STROM_ASSERT(header_copy.size() >= kBatchStampSize, "a stamp needs {} bytes, not {}", kBatchStampSize, header_copy.size());
  StoreLe(header_copy.data(), base_offset.value());
  StoreLe(header_copy.data() + kBatchPeekSize, commit_timestamp.value());
}

}  // namespace strom::format
