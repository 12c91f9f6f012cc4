#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "rpc/known_codes.h"
#include "rt/pieces.h"

namespace strom::rpc {

/// Bytes of a varint: 1 to 10.
inline size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

/// Counts what EncodeFields() will write. Each message of the tree is visited once. For generated code.
class SizeCounter {
 public:
  /// `known`: what the reader of the message understands.
  explicit SizeCounter(KnownCodes known = KnownCodes::kAll) : known_(known) {}

  size_t total() const { return total_; }
  /// The part of total() that stands in Pieces of its own and is not copied.
  size_t outside() const { return outside_; }

  void Put(uint32_t tag, int32_t value) { total_ += VarintSize(tag) + VarintSize(static_cast<uint64_t>(int64_t{value})); }
  void Put(uint32_t tag, int64_t value) { total_ += VarintSize(tag) + VarintSize(static_cast<uint64_t>(value)); }
  void Put(uint32_t tag, bool) { total_ += VarintSize(tag) + 1; }
  void Put(uint32_t tag, float) { total_ += VarintSize(tag) + sizeof(float); }
  void Put(uint32_t tag, double) { total_ += VarintSize(tag) + sizeof(double); }
  void Put(uint32_t tag, std::string_view text) { AddLengthDelimited(tag, text.size()); }
  void Put(uint32_t tag, const rt::Pieces& pieces) {
    AddLengthDelimited(tag, pieces.size());
    outside_ += pieces.size();
  }
  void PutErrorCode(uint32_t tag, int32_t code) { Put(tag, ToKnownCode(code, known_)); }
  void PutErrorCode(uint32_t tag, const std::optional<int32_t>& code) {
    if (code) PutErrorCode(tag, *code);
  }
  template <typename T>
  void Put(uint32_t tag, const std::optional<T>& value) {
    if (value) Put(tag, *value);
  }
  template <typename T>
  void Put(uint32_t tag, const std::vector<T>& values) {
    for (const T& value : values) Put(tag, value);
  }
  template <typename T>
  void PutPacked(uint32_t tag, const std::vector<T>& values) {
    if (values.empty()) return;
    size_t run = 0;
    for (const T& value : values) run += VarintSize(static_cast<uint64_t>(int64_t{value}));
    AddLengthDelimited(tag, run);
  }
  template <typename T>
  void PutMessage(uint32_t tag, const T& message) {
    const size_t before = total_;
    EncodeFields(message, *this);
    total_ += VarintSize(tag) + VarintSize(total_ - before);
  }
  template <typename T>
  void PutMessage(uint32_t tag, const std::optional<T>& message) {
    if (message) PutMessage(tag, *message);
  }
  template <typename T>
  void PutMessage(uint32_t tag, const std::vector<T>& messages) {
    for (const T& message : messages) PutMessage(tag, message);
  }

 private:
  void AddLengthDelimited(uint32_t tag, size_t size) { total_ += VarintSize(tag) + VarintSize(size) + size; }

  const KnownCodes known_;
  size_t total_ = 0;
  size_t outside_ = 0;
};

/// Writes a message from its end to its beginning, so that the length of a nested message is known when its prefix is written: one
/// pass, one buffer, however deep the nesting. Generated code calls it with the fields in reverse order.
class BackwardWriter {
 public:
  /// `memory_size` as a SizeCounter gives it: total() - outside().
  explicit BackwardWriter(size_t memory_size, KnownCodes known = KnownCodes::kAll) : known_(known), buffer_(memory_size) {
    buffer_.Resize(memory_size);
    at_ = end_ = buffer_.data() + memory_size;
  }

  void Put(uint32_t tag, int32_t value) { PutNumber(tag, static_cast<uint64_t>(int64_t{value})); }
  void Put(uint32_t tag, int64_t value) { PutNumber(tag, static_cast<uint64_t>(value)); }
  void Put(uint32_t tag, bool value) { PutNumber(tag, value ? 1 : 0); }
  void Put(uint32_t tag, float value) { PutFixed(tag, value); }
  void Put(uint32_t tag, double value) { PutFixed(tag, value); }
  void Put(uint32_t tag, std::string_view text) {
    if (!text.empty()) {
      at_ -= text.size();
      std::memcpy(at_, text.data(), text.size());
    }
    PutPrefix(tag, text.size());
  }
  void Put(uint32_t tag, const rt::Pieces& pieces) {
    if (!pieces.empty()) {
      cuts_.push_back({static_cast<size_t>(at_ - buffer_.data()), &pieces});
      outside_ += pieces.size();
    }
    PutPrefix(tag, pieces.size());
  }
  void PutErrorCode(uint32_t tag, int32_t code) { Put(tag, ToKnownCode(code, known_)); }
  void PutErrorCode(uint32_t tag, const std::optional<int32_t>& code) {
    if (code) PutErrorCode(tag, *code);
  }
  template <typename T>
  void Put(uint32_t tag, const std::optional<T>& value) {
    if (value) Put(tag, *value);
  }
  template <typename T>
  void Put(uint32_t tag, const std::vector<T>& values) {
    for (size_t i = values.size(); i-- > 0;) Put(tag, values[i]);
  }
  template <typename T>
  void PutPacked(uint32_t tag, const std::vector<T>& values) {
    if (values.empty()) return;
    const size_t before = written();
    for (size_t i = values.size(); i-- > 0;) PutVarint(static_cast<uint64_t>(int64_t{values[i]}));
    PutPrefix(tag, written() - before);
  }
  template <typename T>
  void PutMessage(uint32_t tag, const T& message) {
    const size_t before = written();
    EncodeFields(message, *this);
    PutPrefix(tag, written() - before);
  }
  template <typename T>
  void PutMessage(uint32_t tag, const std::optional<T>& message) {
    if (message) PutMessage(tag, *message);
  }
  template <typename T>
  void PutMessage(uint32_t tag, const std::vector<T>& messages) {
    for (size_t i = messages.size(); i-- > 0;) PutMessage(tag, messages[i]);
  }

  /// Everything, with the Pieces fields where they belong.
  rt::Pieces Finish();

 private:
  struct Cut {
    size_t position;  // in the buffer: the pieces stand before the byte at this place
    const rt::Pieces* pieces;
  };

  size_t written() const { return static_cast<size_t>(end_ - at_) + outside_; }
  void PutVarint(uint64_t value) {
    if (value < 0x80) {
      *--at_ = static_cast<uint8_t>(value);
      return;
    }
    at_ -= VarintSize(value);
    uint8_t* to = at_;
    for (; value >= 0x80; value >>= 7) *to++ = static_cast<uint8_t>(value | 0x80);
    *to = static_cast<uint8_t>(value);
  }
  void PutNumber(uint32_t tag, uint64_t value) {
    PutVarint(value);
    PutVarint(tag);
  }
  template <typename T>
  void PutFixed(uint32_t tag, T value) {
    at_ -= sizeof(T);
    StoreLe(at_, value);
    PutVarint(tag);
  }
  void PutPrefix(uint32_t tag, size_t length) { PutNumber(tag, length); }

  const KnownCodes known_;
  MutableBuffer buffer_;
  uint8_t* at_;
  uint8_t* end_;
  size_t outside_ = 0;
  std::vector<Cut> cuts_;
};

}  // namespace strom::rpc
