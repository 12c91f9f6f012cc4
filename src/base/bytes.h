#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace strom {

/// A look at bytes that somebody else owns.
using ByteView = std::span<const uint8_t>;

inline ByteView AsBytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
inline std::string_view AsText(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

namespace internal {
/// The head of one heap block of shared bytes; the bytes follow it. Its count is atomic: slices travel between shards.
struct BufferBlock {
  std::atomic<uint32_t> references{1};
  size_t capacity = 0;

  static BufferBlock* Make(size_t capacity);
  void Unref();
  uint8_t* data() { return reinterpret_cast<uint8_t*>(this + 1); }
};
}  // namespace internal

/// Immutable bytes with shared ownership. A copy and a slice cost one reference and keep the whole block alive, so do not
/// keep a small slice of a large buffer for long.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer& other) : block_(other.block_), data_(other.data_), size_(other.size_) { Ref(); }
  Buffer(Buffer&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() {
    if (block_ != nullptr) block_->Unref();
  }

  static Buffer CopyOf(ByteView bytes);
  static Buffer CopyOf(std::string_view text) { return CopyOf(AsBytes(text)); }

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  ByteView view() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

  Buffer Slice(size_t position, size_t size) const {
    STROM_ASSERT(position <= size_ && size <= size_ - position, "slice {}+{} of {} bytes", position, size, size_);
    Buffer slice = *this;
    slice.data_ += position;
    slice.size_ = size;
    return slice;
  }
  /// The slice that `part`, a view into this buffer, looks at.
  Buffer SliceOf(ByteView part) const {
    if (part.empty()) return {};
    return Slice(static_cast<size_t>(part.data() - data_), part.size());
  }

 private:
  friend class MutableBuffer;
  void Ref() {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }

  internal::BufferBlock* block_ = nullptr;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

/// Bytes under construction, with one owner; Freeze() makes them an immutable Buffer without a copy.
class MutableBuffer {
 public:
  MutableBuffer() = default;
  explicit MutableBuffer(size_t capacity) : block_(internal::BufferBlock::Make(capacity)) {}
  MutableBuffer(MutableBuffer&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MutableBuffer& operator=(MutableBuffer&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~MutableBuffer() {
    if (block_ != nullptr) block_->Unref();
  }

  uint8_t* data() { return block_ == nullptr ? nullptr : block_->data(); }
  const uint8_t* data() const { return block_ == nullptr ? nullptr : block_->data(); }
  size_t size() const { return size_; }
  size_t capacity() const { return block_ == nullptr ? 0 : block_->capacity; }
  ByteView view() const { return {data(), size_}; }
  std::span<uint8_t> mutable_view() { return {data(), size_}; }

  /// Grows to at least `capacity`, keeping the content. Amortised doubling is the caller's through Append().
  void Reserve(size_t capacity);
  /// New bytes above the old size are not initialised.
  void Resize(size_t size) {
    Reserve(size);
    size_ = size;
  }
  void Append(ByteView bytes) {
    uint8_t* to = Extend(bytes.size());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  }
  void Append(std::string_view text) { Append(AsBytes(text)); }
  void AppendByte(uint8_t byte) { *Extend(1) = byte; }
  /// Makes room for `count` more bytes and returns where they start.
  uint8_t* Extend(size_t count) {
    if (count > capacity() - size_) Grow(size_ + count);
    uint8_t* end = data() + size_;
    size_ += count;
    return end;
  }
  void Clear() { size_ = 0; }

  /// The content as an immutable buffer; this becomes empty.
  Buffer Freeze();

 private:
  void Grow(size_t needed);

  internal::BufferBlock* block_ = nullptr;
  size_t size_ = 0;
};

}  // namespace strom
