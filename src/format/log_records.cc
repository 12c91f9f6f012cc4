#include "format/log_records.h"

#include <algorithm>

#include "base/endian.h"

namespace strom::format {

LogRecordReader::LogRecordReader(const LogBatchHeader& header, ByteView batch) : header_(header) {
  STROM_ASSERT(batch.size() == header.total_size, "a batch of {} bytes, its header says {}", batch.size(), header.total_size);
  records_ = batch.subspan(header.header_size() + static_cast<size_t>(header.statistics_length));
}

Status LogRecordReader::Next(LogRecord* record) {
  STROM_ASSERT(!done(), "a batch of {} records has no next one", header_.record_count);
  const ByteView rest = records_.subspan(position_);
  const int64_t length = rest.size() < 4 ? -1 : LoadLe<int32_t>(rest.data());
  if (length < 1 || static_cast<size_t>(length) > rest.size() - 4) {
    return MakeError(ErrorCode::kCorruptRecord, "record {} of {} in a log batch: length {} with {} bytes left", index_, header_.record_count,
                     length, rest.size());
  }
  const uint8_t type = rest[4];
  if (type > kChangeTypeMax) {
    return MakeError(ErrorCode::kCorruptRecord, "record {} of a log batch has change type {}, known are 0 to {}", index_, type, kChangeTypeMax);
  }
  record->offset = header_.base_offset + index_;
  record->change_type = static_cast<ChangeType>(type);
  record->row = rest.subspan(5, static_cast<size_t>(length) - 1);
  position_ += 4 + static_cast<size_t>(length);
  ++index_;
  if (done() && position_ != records_.size()) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch has {} bytes behind its last record", records_.size() - position_);
  }
  return Status::OK();
}

Result<ArrowBatchLayout> SplitArrowBatch(const LogBatchHeader& header, ByteView batch) {
  STROM_ASSERT(batch.size() == header.total_size, "a batch of {} bytes, its header says {}", batch.size(), header.total_size);
  ArrowBatchLayout layout;
  const auto statistics_size = static_cast<size_t>(header.statistics_length);
  layout.statistics = batch.subspan(header.header_size(), statistics_size);
  ByteView rest = batch.subspan(header.header_size() + statistics_size);
  if (!header.append_only() && !rest.empty()) {
    const auto count = static_cast<size_t>(header.record_count);
    if (count > rest.size()) {
      return MakeError(ErrorCode::kCorruptRecord, "log batch has {} bytes for the change types of {} records", rest.size(), count);
    }
    layout.change_types = rest.first(count);
    rest = rest.subspan(count);
    const auto unknown = std::find_if(layout.change_types.begin(), layout.change_types.end(), [](uint8_t type) { return type > kChangeTypeMax; });
    if (unknown != layout.change_types.end()) {
      return MakeError(ErrorCode::kCorruptRecord, "record {} of a log batch has change type {}, known are 0 to {}",
                       unknown - layout.change_types.begin(), *unknown, kChangeTypeMax);
    }
  }
  layout.message = rest;
  return layout;
}

}  // namespace strom::format
