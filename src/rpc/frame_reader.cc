#include "rpc/frame_reader.h"

#include <algorithm>
#include <utility>

namespace strom::rpc {

rt::Task<Status> FrameReader::FillLength() {
  return FillChunk(4);
}

rt::Task<Status> FrameReader::FillFrame(uint32_t length) {
  const size_t whole = size_t{4} + length;
  return length >= kLargeFrame ? Fill(whole + kSlack, whole) : FillChunk(whole);
}

rt::Task<Status> FrameReader::FillChunk(size_t size_min) {
  // A frame that has begun is worth a whole chunk; before one, after a large frame, a little more than a head is asked for.
  const size_t chunk = size_min > chunk_size_ ? std::max(size_min, kChunkMin) : chunk_size_;
  rt::Task<Status> fill = Fill(chunk, size_min);
  Status filled = co_await std::move(fill);
  // A read that fills its chunk means that more is waiting; another that a small one is enough.
  if (chunk >= kChunkMin) chunk_size_ = pending_.size() >= chunk ? std::min(chunk * 2, kChunkMax) : kChunkMin;
  co_return filled;
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
