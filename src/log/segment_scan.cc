#include "log/segment_scan.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/endian.h"
#include "format/log_batch.h"

namespace strom::log {

namespace {

constexpr size_t kReadSize = 1 << 20;

/// A window over the file that moves forward.
class Window {
 public:
  Window(const rt::File& file, uint64_t end) : file_(file), end_(end) {}

  /// The bytes from `position` on, at least `needed` of them (which the file must have).
  Result<ByteView> At(uint64_t position, size_t needed) {
    if (position < start_ || position + needed > start_ + filled_) {
      const size_t size = static_cast<size_t>(std::min<uint64_t>(std::max(needed, kReadSize), end_ - position));
      if (bytes_.size() < size) bytes_.resize(size);
      STROM_ASSIGN(const size_t got, file_.ReadAt(position, std::span(bytes_).first(size)));
      if (got < needed) return MakeError(ErrorCode::kIoError, "{} ends at {} of {} bytes", file_.path(), position + got, end_);
      start_ = position;
      filled_ = got;
    }
    const size_t skip = static_cast<size_t>(position - start_);
    return ByteView(bytes_).subspan(skip, filled_ - skip);
  }

 private:
  const rt::File& file_;
  const uint64_t end_;
  std::vector<uint8_t> bytes_;
  uint64_t start_ = 0;
  size_t filled_ = 0;
};

Result<bool> AllZeros(Window& window, uint64_t position, uint64_t end) {
  while (position < end) {
    STROM_ASSIGN(const ByteView bytes, window.At(position, 1));
    if (std::any_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte != 0; })) return false;
    position += bytes.size();
  }
  return true;
}

/// True when a whole, valid batch with base offset `offset` begins somewhere in [position, end).
Result<bool> HoldsBatch(Window& window, uint64_t position, uint64_t end, LogOffset offset) {
  uint8_t pattern[8];
  StoreLe(pattern, offset.value());
  while (position + format::kBatchHeaderSizeV0 <= end) {
    STROM_ASSIGN(ByteView bytes, window.At(position, static_cast<size_t>(std::min<uint64_t>(end - position, kReadSize))));
    const auto* found = static_cast<const uint8_t*>(::memmem(bytes.data(), bytes.size(), pattern, sizeof pattern));
    if (found == nullptr) {
      position += bytes.size() - std::min(bytes.size(), sizeof pattern - 1);
      if (bytes.size() < sizeof pattern) break;
      continue;
    }
    position += static_cast<uint64_t>(found - bytes.data());
    const uint64_t left = end - position;
    if (left < format::kBatchHeaderSizeV0) break;
    STROM_ASSIGN(bytes, window.At(position, static_cast<size_t>(std::min<uint64_t>(left, format::kBatchHeaderSizeMax))));
    const Result<format::LogBatchHeader> header = format::DecodeLogBatchHeader(bytes);
    if (header.ok() && header->total_size <= left) {
      STROM_ASSIGN(bytes, window.At(position, header->total_size));
      if (format::CheckLogBatch(*header, bytes.first(header->total_size)).ok()) return true;
    }
    ++position;
  }
  return false;
}

/// Says why the file does not go on at scan.valid_size.
Result<SegmentScan::Stop> JudgeRest(Window& window, const SegmentScan& scan, const Result<format::LogBatchHeader>& header,
                                    uint8_t magic_max) {
  STROM_ASSIGN(const bool zeros, AllZeros(window, scan.valid_size, scan.file_size));
  if (zeros) return SegmentScan::Stop::kZeros;
  const uint64_t left = scan.file_size - scan.valid_size;
  if (left < format::kBatchHeaderSizeMax && !header.ok()) {
    // Too short for a header, unless its magic says that it is all there.
    STROM_ASSIGN(const ByteView bytes, window.At(scan.valid_size, static_cast<size_t>(left)));
    const size_t header_size = left < format::kBatchPeekSize ? format::kBatchHeaderSizeMax : format::BatchHeaderSize(bytes[12]);
    return left < header_size ? SegmentScan::Stop::kTorn : SegmentScan::Stop::kBad;
  }
  if (!header.ok() || header->magic > magic_max || header->base_offset != scan.next_offset || header->total_size <= left) return SegmentScan::Stop::kBad;
  STROM_ASSIGN(const bool length_lies, HoldsBatch(window, scan.valid_size + header->header_size(), scan.file_size, header->next_offset()));
  return length_lies ? SegmentScan::Stop::kBad : SegmentScan::Stop::kTorn;
}

}  // namespace

Result<SegmentScan> ScanSegment(const rt::File& file, LogOffset base, const SegmentContext& context) {
  SegmentScan scan(base, context.index_interval);
  STROM_ASSIGN(scan.file_size, file.Size());
  // A file larger than a segment can be is no segment's: what lies beyond is bad.
  const uint64_t end = std::min<uint64_t>(scan.file_size, INT32_MAX);
  Window window(file, scan.file_size);
  while (scan.valid_size < end) {
    const uint64_t left = end - scan.valid_size;
    STROM_ASSIGN(ByteView bytes, window.At(scan.valid_size, static_cast<size_t>(std::min<uint64_t>(left, format::kBatchHeaderSizeMax))));
    const Result<format::LogBatchHeader> header = format::DecodeLogBatchHeader(bytes);
    std::string problem;
    if (!header.ok()) {
      problem = header.error().message;
    } else if (header->magic > context.magic_max) {
      problem = fmt::format("a batch of magic {} in a table whose batches have at most {}", header->magic, context.magic_max);
    } else if (header->base_offset != scan.next_offset) {
      problem = fmt::format("a batch with offset {} where {} must be", header->base_offset, scan.next_offset);
    } else if (header->last_offset() - base > INT32_MAX) {
      problem = fmt::format("offset {} does not fit a segment that begins at {}", header->last_offset(), base);
    } else if (header->total_size > left) {
      problem = fmt::format("a batch of {} bytes where {} are left", header->total_size, left);
    } else {
      STROM_ASSIGN(bytes, window.At(scan.valid_size, header->total_size));
      const Status checked = format::CheckLogBatch(*header, bytes.first(header->total_size));
      if (!checked.ok()) problem = checked.error().message;
    }
    if (!problem.empty()) {
      STROM_ASSIGN(scan.stop, JudgeRest(window, scan, header, context.magic_max));
      scan.reason = fmt::format("{} at {}: {}", file.path(), scan.valid_size, problem);
      return scan;
    }
    scan.index.Add(header->base_offset, header->last_offset(), scan.valid_size, header->commit_timestamp);
    if (header->writer_id != kNoWriterId) scan.writers.Replay(header->writer_id, WriterBatchOf(*header));
    scan.valid_size += header->total_size;
    scan.next_offset = header->next_offset();
  }
  if (end < scan.file_size) {
    scan.stop = SegmentScan::Stop::kBad;
    scan.reason = fmt::format("{} has {} bytes; a segment has at most {}", file.path(), scan.file_size, end);
  }
  return scan;
}

}  // namespace strom::log
