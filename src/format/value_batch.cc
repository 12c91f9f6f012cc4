#include "format/value_batch.h"

#include "base/endian.h"

namespace strom::format {

ValueBatchBuilder::ValueBatchBuilder() { bytes_.Extend(kValueBatchHeaderSize); }

void ValueBatchBuilder::Append(ByteView value_body) {
  StoreLe(bytes_.Extend(4), static_cast<int32_t>(value_body.size()));
  bytes_.Append(value_body);
  ++record_count_;
}

Buffer ValueBatchBuilder::Finish() {
  STROM_ASSERT(bytes_.size() <= INT32_MAX, "a batch of {} bytes", bytes_.size());
  StoreLe(bytes_.data(), static_cast<int32_t>(bytes_.size() - 4));
  bytes_.data()[4] = 0;
  StoreLe(bytes_.data() + 5, record_count_);
  return bytes_.Freeze();
}

Result<ValueBatchReader> ValueBatchReader::Open(ByteView batch) {
  if (batch.size() < kValueBatchHeaderSize) {
    return MakeError(ErrorCode::kCorruptRecord, "{} bytes are too few for the header of a value batch", batch.size());
  }
  const int64_t length = LoadLe<int32_t>(batch.data());
  if (length != static_cast<int64_t>(batch.size()) - 4) {
    return MakeError(ErrorCode::kCorruptRecord, "value batch of {} bytes says that {} follow its length", batch.size(), length);
  }
  if (batch[4] != 0) return MakeError(ErrorCode::kCorruptRecord, "value batch has magic {}, known is 0", batch[4]);
  ValueBatchReader reader;
  reader.record_count_ = LoadLe<int32_t>(batch.data() + 5);
  if (reader.record_count_ < 0) return MakeError(ErrorCode::kCorruptRecord, "value batch has {} records", reader.record_count_);
  reader.rest_ = batch.subspan(kValueBatchHeaderSize);
  return reader;
}

Status ValueBatchReader::Next(ByteView* value_body) {
  STROM_ASSERT(!done(), "a batch of {} records has no next one", record_count_);
  const int64_t length = rest_.size() < 4 ? -1 : LoadLe<int32_t>(rest_.data());
  if (length < 0 || static_cast<size_t>(length) > rest_.size() - 4) {
    return MakeError(ErrorCode::kCorruptRecord, "record {} of {} in a value batch: length {} with {} bytes left", index_, record_count_, length,
                     rest_.size());
  }
  *value_body = rest_.subspan(4, static_cast<size_t>(length));
  rest_ = rest_.subspan(4 + static_cast<size_t>(length));
  ++index_;
  return Status::OK();
}

}  // namespace strom::format
