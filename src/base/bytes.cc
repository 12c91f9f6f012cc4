#include "base/bytes.h"

#include <algorithm>
#include <new>

namespace strom {

namespace internal {

BufferBlock* BufferBlock::Make(size_t capacity) {
  void* memory = ::operator new(sizeof(BufferBlock) + capacity);
  auto* block = new (memory) BufferBlock();
  block->capacity = capacity;
  return block;
}

void BufferBlock::Unref() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    this->~BufferBlock();
    ::operator delete(this);
  }
}

}  // namespace internal

Buffer Buffer::CopyOf(ByteView bytes) {
  MutableBuffer copy(bytes.size());
  copy.Append(bytes);
  return copy.Freeze();
}

void MutableBuffer::Reserve(size_t wanted) {
  if (wanted <= capacity()) return;
  internal::BufferBlock* block = internal::BufferBlock::Make(wanted);
  if (size_ > 0) std::memcpy(block->data(), data(), size_);
  if (block_ != nullptr) block_->Unref();
  block_ = block;
}

void MutableBuffer::Grow(size_t needed) { Reserve(std::max(needed, std::max<size_t>(64, capacity() * 2))); }

Buffer MutableBuffer::Freeze() {
  Buffer frozen;
  frozen.block_ = std::exchange(block_, nullptr);
  frozen.data_ = frozen.block_ == nullptr ? nullptr : frozen.block_->data();
  frozen.size_ = std::exchange(size_, 0);
  return frozen;
}

}  // namespace strom
