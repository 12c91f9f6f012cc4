#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"

namespace strom::format {

/// How each buffer of a record batch is compressed (spec/formats.md 3.1). The numbers are Arrow's.
enum class ArrowCodec : uint8_t { kLz4Frame = 0, kZstd = 1 };

std::string_view ArrowCodecName(std::optional<ArrowCodec> codec);  // "NONE" without one

/// One node of the flattened schema: how many values and how many of them are null.
struct ArrowNode {
  int64_t length = 0;
  int64_t null_count = 0;
  bool operator==(const ArrowNode&) const = default;
};

/// One buffer in the body: where it starts (relative to the body) and its size without padding.
struct ArrowBuffer {
  int64_t offset = 0;
  int64_t length = 0;
  int64_t end() const { return offset + length; }
  bool operator==(const ArrowBuffer&) const = default;
};

inline constexpr size_t kArrowStructSize = 16;   // of a node and of a buffer, in the metadata
inline constexpr size_t kArrowPrefixSize = 8;    // continuation marker and metadata length
inline constexpr size_t kArrowAlignment = 8;     // of buffers, relative to the body's start

constexpr int64_t PadToArrowAlignment(int64_t size) { return (size + 7) & ~int64_t{7}; }

/// A look at the metadata of one Arrow IPC record batch message. It points into the bytes it was parsed from. Everything was
/// checked against foreign bytes: counts and lengths are not negative, every buffer lies inside the body, and node and buffer
/// entries can be read without further checks.
class ArrowBatchMetadata {
 public:
  int64_t record_count() const { return record_count_; }
  /// Nothing: the buffers are not compressed.
  std::optional<ArrowCodec> codec() const { return codec_; }
  /// Size of the body, padding included.
  int64_t body_length() const { return body_length_; }
  /// Size of the message before its body: marker, length and metadata with its padding.
  size_t metadata_size() const { return metadata_size_; }

  size_t node_count() const { return nodes_.size() / kArrowStructSize; }
  size_t buffer_count() const { return buffers_.size() / kArrowStructSize; }
  ArrowNode node(size_t i) const {
    const uint8_t* at = nodes_.data() + i * kArrowStructSize;
    return {LoadLe<int64_t>(at), LoadLe<int64_t>(at + 8)};
  }
  ArrowBuffer buffer(size_t i) const {
    const uint8_t* at = buffers_.data() + i * kArrowStructSize;
    return {LoadLe<int64_t>(at), LoadLe<int64_t>(at + 8)};
  }
  /// The entries of nodes [first, first + count) as they stand in the metadata, kArrowStructSize bytes each.
  ByteView node_bytes(size_t first, size_t count) const {
    return nodes_.subspan(first * kArrowStructSize, count * kArrowStructSize);
  }

 private:
  friend Result<ArrowBatchMetadata> ParseArrowMetadata(ByteView message);
  int64_t record_count_ = 0;
  int64_t body_length_ = 0;
  size_t metadata_size_ = 0;
  std::optional<ArrowCodec> codec_;
  ByteView nodes_;
  ByteView buffers_;
};

/// The size of a message before its body, from its first kArrowPrefixSize bytes. kCorruptRecord when they are not the start of a
/// message.
Result<size_t> ReadArrowMetadataSize(ByteView message);

/// Parses the start of a message: `message` holds at least the metadata and may go on with the body. Takes what any Arrow writer
/// makes; kCorruptRecord for everything that is no record batch or points outside of itself.
/// Source: spec/formats.md 3; Arrow's Message.fbs.
Result<ArrowBatchMetadata> ParseArrowMetadata(ByteView message);

/// Writes the metadata of a record batch message whose counts are known from the start:
///
/// | bytes  | content |
/// |--------|---------|
/// | 8      | FF FF FF FF, i32 length of the rest |
/// | 16     | offset of the Message table, its vtable (12 bytes) |
/// | 20     | Message: header offset, body length, version 4, header type 3 |
/// | 36     | vtable (12) and table (24) of the RecordBatch |
/// | 16     | with a codec: vtable (8) and table (8) of the BodyCompression |
/// | 8+16n  | padding, count and entries of the nodes |
/// | 8+16b  | padding, count and entries of the buffers |
class ArrowMetadataBuilder {
 public:
  /// Size of what the builder writes.
  static size_t Size(size_t node_count, size_t buffer_count, std::optional<ArrowCodec> codec);

  /// Writes all but the entries and the body length to `to`, which has Size() bytes and must outlive the builder.
  ArrowMetadataBuilder(uint8_t* to, int64_t record_count, size_t node_count, size_t buffer_count, std::optional<ArrowCodec> codec);

  void AddNode(const ArrowNode& node);
  /// Entries as node_bytes() of another message gives them.
  void AddNodes(ByteView entries);
  void AddBuffer(const ArrowBuffer& buffer);
  /// After as many nodes and buffers as were announced.
  void Finish(int64_t body_length);

 private:
  uint8_t* start_;
  uint8_t* next_node_;
  uint8_t* nodes_end_;
  uint8_t* next_buffer_;
  uint8_t* buffers_end_;
};

}  // namespace strom::format
