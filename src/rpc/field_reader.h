#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "rt/pieces.h"

namespace strom::rpc {

/// Messages inside messages, the outermost not counted. It lets predicates, the only recursive messages, nest 64 deep: predicate k of a
/// FetchLogRequest is 2k messages down, its leaf and literals two more.
inline constexpr int kMessageDepthMax = 130;

/// Wire types of protobuf; 3 and 4 (groups) are refused. Source: spec/wire-protocol.md 2.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

struct FieldInfo {
  uint32_t number;
  std::string_view name;
};

/// What the generator knows of a message and the reader needs for its sentences.
struct MessageInfo {
  std::string_view name;
  std::span<const FieldInfo> fields;
  std::span<const std::string_view> required;  // bit k of `seen` belongs to required[k]
};

/// What all readers of one message tree share.
struct DecodeContext {
  const Buffer* owner = nullptr;  // the bytes' buffer, so that record fields can be slices; null: they are copied
  size_t element_bytes_left = 0;  // memory that elements of repeated fields may still take
  int depth = 0;
  std::string problem;  // the first one; empty: none
  bool placed = false;  // `problem` names message and field

  explicit DecodeContext(size_t input_size) : element_bytes_left((size_t{16} << 20) + 8 * input_size) {}
};

/// Reads the fields of one message, for generated code. Errors stick: after the first one NextTag() is false and Finish() says so.
/// Views point into the bytes. Every length is checked against what is left before it is used.
class FieldReader {
 public:
  FieldReader(ByteView bytes, DecodeContext& context)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), context_(context) {}

  /// The next field's tag (number << 3 | wire type) is in tag(); false at the end or after an error.
  bool NextTag() {
    if (at_ == end_) return false;
    if (*at_ < 0x80) {
      tag_ = *at_++;
    } else if (!ReadLongTag()) {
      return false;
    }
    if (tag_ < 8) [[unlikely]] return Fail("field number 0");
    return true;
  }
  uint32_t tag() const { return tag_; }

  void Read(int32_t* into) {
    // A negative int32 travels as ten bytes; the upper half is dropped, as every implementation does.
    uint64_t raw;
    if (ReadVarint(&raw)) *into = static_cast<int32_t>(static_cast<uint32_t>(raw));
  }
  void Read(int64_t* into) {
    uint64_t raw;
    if (ReadVarint(&raw)) *into = static_cast<int64_t>(raw);
  }
  void Read(bool* into) {
    uint64_t raw;
    if (ReadVarint(&raw)) *into = raw != 0;
  }
  void Read(float* into) { ReadFixed(into); }
  void Read(double* into) { ReadFixed(into); }
  void Read(std::string_view* into) {
    ByteView bytes;
    if (ReadLengthDelimited(&bytes)) *into = AsText(bytes);
  }
  void Read(rt::Pieces* into);
  template <typename T>
  void Read(std::optional<T>* into) {
    Read(&into->emplace());
  }
  void Read(std::vector<std::string_view>* into) {
    if (!MakeRoom(into)) return;
    Read(&into->emplace_back());
  }
  /// One element of a repeated number.
  template <typename T>
  void ReadElement(std::vector<T>* into) {
    if (!Charge(sizeof(T))) return;
    T value{};
    Read(&value);
    into->push_back(value);
  }
  /// A packed run, which may be empty and may be one of several.
  template <typename T>
  void ReadPacked(std::vector<T>* into) {
    ByteView run;
    if (!ReadLengthDelimited(&run)) return;
    const size_t count = CountVarints(run);
    if (!Charge(count * sizeof(T))) return;
    into->reserve(into->size() + count);
    FieldReader reader(run, context_);
    while (reader.at_ != reader.end_) {
      T value{};
      reader.Read(&value);
      into->push_back(value);
    }
    if (reader.failed_) Fail("a packed run that ends inside a number");
  }

  /// A message. A second occurrence replaces the first (as the Java codec does), so `into` starts afresh.
  template <typename T>
  void ReadMessage(T* into) {
    ByteView bytes;
    if (!ReadLengthDelimited(&bytes)) return;
    if (++context_.depth > kMessageDepthMax) {
      FailDepth();
    } else {
      *into = T{};
      FieldReader reader(bytes, context_);
      if (!DecodeFields(reader, into)) Abandon();
    }
    --context_.depth;
  }
  template <typename T>
  void ReadMessage(std::optional<T>* into) {
    ReadMessage(&into->emplace());
  }
  template <typename T>
  void ReadMessage(std::vector<T>* into) {
    if (!MakeRoom(into)) return;
    ReadMessage(&into->emplace_back());
  }

  /// Steps over a field that the message does not know (or knows with another wire type).
  void Skip();

  /// True when all was well: no error, and every required field seen.
  bool Finish(const MessageInfo& message, uint32_t seen) {
    const uint32_t all = message.required.size() >= 32 ? ~0u : (1u << message.required.size()) - 1;
    if (failed_ || seen != all) [[unlikely]] return FinishBadly(message, seen);
    return true;
  }

 private:
  bool ReadVarint(uint64_t* value) {
    if (at_ != end_ && *at_ < 0x80) {
      *value = *at_++;
      return true;
    }
    return ReadLongVarint(value);
  }
  bool ReadLongVarint(uint64_t* value);
  bool ReadLongTag();
  bool ReadLengthDelimited(ByteView* bytes) {
    uint64_t length;
    if (!ReadVarint(&length)) return false;
    if (length > static_cast<uint64_t>(end_ - at_)) [[unlikely]] return FailLength(length);
    *bytes = ByteView(at_, static_cast<size_t>(length));
    at_ += length;
    return true;
  }
  template <typename T>
  void ReadFixed(T* into) {
    if (static_cast<size_t>(end_ - at_) < sizeof(T)) {
      Fail("the message ends inside a fixed number");
      return;
    }
    *into = LoadLe<T>(at_);
    at_ += sizeof(T);
  }
  static size_t CountVarints(ByteView run);
  /// How often the current tag still comes, this time included: one reservation instead of a growing vector.
  size_t CountElements() const;
  bool Charge(size_t bytes);
  template <typename T>
  bool MakeRoom(std::vector<T>* into) {
    if (into->empty()) {
      const size_t count = CountElements();
      // A count beyond the budget will fail while it is read; do not allocate for it.
      if (count <= context_.element_bytes_left / sizeof(T)) into->reserve(count);
    }
    return Charge(sizeof(T));
  }

  bool Abandon() {
    failed_ = true;
    at_ = end_;
    return false;
  }
  bool Fail(std::string_view what);
  bool FailLength(uint64_t length);
  void FailDepth();
  bool FinishBadly(const MessageInfo& message, uint32_t seen);

  const uint8_t* at_;
  const uint8_t* end_;
  DecodeContext& context_;
  uint32_t tag_ = 0;
  bool failed_ = false;
};

}  // namespace strom::rpc
