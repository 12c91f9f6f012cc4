#include "format/log_batch_builder.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/endian.h"

namespace strom::format {

namespace {

/// Fills the header at the front of a whole batch. The CRC comes last, over what is there then.
void WriteHeader(const LogBatchSpec& spec, int32_t record_count, size_t statistics_size, std::span<uint8_t> batch) {
  const size_t header_size = BatchHeaderSize(spec.magic);
  STROM_ASSERT(header_size != 0 && batch.size() >= header_size, "magic {}, {} bytes", spec.magic, batch.size());
  STROM_ASSERT(spec.magic > 0 || statistics_size == 0, "statistics in a batch of magic 0");
  STROM_ASSERT(batch.size() - kBatchLengthEnd <= INT32_MAX, "a batch of {} bytes", batch.size());
  uint8_t* data = batch.data();
  StoreLe(data, spec.base_offset.value());
  StoreLe(data + 8, static_cast<int32_t>(batch.size() - kBatchLengthEnd));
  data[12] = spec.magic;
  StoreLe(data + 13, spec.commit_timestamp.value());
  if (spec.magic == 2) StoreLe(data + 21, spec.leader_epoch.value());
  const size_t crc_start = spec.magic == 2 ? 29 : 25;
  uint8_t* fields = data + crc_start;
  StoreLe(fields, spec.schema_id);
  fields[2] = spec.append_only ? 1 : 0;
  StoreLe(fields + 3, std::max(record_count - 1, 0));
  StoreLe(fields + 7, spec.writer_id.value());
  StoreLe(fields + 15, spec.batch_sequence);
  StoreLe(fields + 19, record_count);
  if (spec.magic > 0) StoreLe(fields + 23, static_cast<int32_t>(statistics_size));
  StoreLe(fields - 4, Crc32c(ByteView(batch).subspan(crc_start)));
}

}  // namespace

Buffer BuildArrowLogBatch(const LogBatchSpec& spec, const ArrowBatchParts& parts) {
  STROM_ASSERT(parts.change_types.size() == (spec.append_only ? 0 : static_cast<size_t>(parts.record_count)),
               "{} change types for {} records", parts.change_types.size(), parts.record_count);
  const size_t header_size = BatchHeaderSize(spec.magic);
  MutableBuffer batch(header_size + parts.statistics.size() + parts.change_types.size() + parts.message.size());
  batch.Extend(header_size);
  batch.Append(parts.statistics);
  batch.Append(parts.change_types);
  batch.Append(parts.message);
  WriteHeader(spec, parts.record_count, parts.statistics.size(), batch.mutable_view());
  return batch.Freeze();
}

Buffer BuildEmptyLogBatch(const LogBatchSpec& spec) {
  MutableBuffer batch;
  batch.Resize(BatchHeaderSize(spec.magic));
  WriteHeader(spec, 0, 0, batch.mutable_view());
  return batch.Freeze();
}

RowLogBatchBuilder::RowLogBatchBuilder(const LogBatchSpec& spec) : spec_(spec) {
  STROM_ASSERT(spec.magic == 0, "row formats have magic 0, not {}", spec.magic);
  bytes_.Extend(kBatchHeaderSizeV0);
}

void RowLogBatchBuilder::Append(ChangeType type, ByteView row) {
  BeginRow(type)->Append(row);
  EndRow();
}

MutableBuffer* RowLogBatchBuilder::BeginRow(ChangeType type) {
  record_ = bytes_.size();
  bytes_.Extend(4);
  bytes_.AppendByte(static_cast<uint8_t>(type));
  return &bytes_;
}

void RowLogBatchBuilder::EndRow() {
  StoreLe(bytes_.data() + record_, static_cast<int32_t>(bytes_.size() - record_ - 4));
  ++record_count_;
}

Buffer RowLogBatchBuilder::Finish() {
  WriteHeader(spec_, record_count_, 0, bytes_.mutable_view());
  return bytes_.Freeze();
}

}  // namespace strom::format
