#include "rpc/frame_reader.h"

#include <algorithm>

namespace strom::rpc {

rt::Task<Status> FrameReader::FillLength() {
  if (has_length()) co_return Status::OK();
  const size_t chunk = chunk_size_;
  rt::Task<Status> fill = Fill(chunk, 4);
  Status filled = co_await std::move(fill);
  // Reads that fill their chunk mean that more is waiting; the others that a small one is enough.
  if (chunk >= kChunkMin) chunk_size_ = pending_.size() == chunk ? std::min(chunk * 2, kChunkMax) : kChunkMin;
  co_return filled;
}

rt::Task<Result<Buffer>> FrameReader::ReadFrame(uint32_t length) {
  const size_t whole = size_t{4} + length;
  if (whole > pending_.size()) {
    const size_t capacity = length >= kLargeFrame ? whole + kSlack : std::max(whole, kChunkMin);
    rt::Task<Status> fill = Fill(capacity, whole);
    Status filled = co_await std::move(fill);
    if (!filled.ok()) co_return filled.error();
  }
  co_return TakeFrame(length);
}

Buffer FrameReader::TakeFrame(uint32_t length) {
  chunk_size_ = length >= kLargeFrame ? kSlack : std::max(chunk_size_, kChunkMin);
  const size_t whole = size_t{4} + length;
  Buffer frame = pending_.Slice(4, length);
  pending_ = pending_.size() == whole ? Buffer() : pending_.Slice(whole, pending_.size() - whole);
  return frame;
}

rt::Task<Status> FrameReader::Fill(size_t capacity, size_t size_min) {
  MutableBuffer chunk(std::max(capacity, pending_.size() + kSlack));
  chunk.Append(pending_.view());
  bytes_copied_ += pending_.size();
  pending_ = Buffer();
  while (chunk.size() < size_min) {
    const std::span<uint8_t> room(chunk.data() + chunk.size(), chunk.capacity() - chunk.size());
    rt::Task<Result<size_t>> read = connection_.Read(room);
    Result<size_t> count = co_await std::move(read);
    if (!count.ok()) co_return count.error();
    ++read_calls_;
    last_read_ = rt::Now();
    bytes_read_ += *count;
    chunk.Resize(chunk.size() + *count);
  }
  pending_ = chunk.Freeze();
  co_return Status::OK();
}

}  // namespace strom::rpc
