#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "format/arrow_metadata.h"

namespace strom::format {

struct ArrowCompression {
  std::optional<ArrowCodec> codec;  // none: stored as it is
  int zstd_level = 3;               // 1 to 22, ZSTD only
  bool operator==(const ArrowCompression&) const = default;
};

/// Compresses buffers of record batches one by one; keeps the library's state between them. Single owner.
/// Source: spec/formats.md 3.1. LZ4 frames have independent blocks of 64 KiB and no checksums, which is all that Java reads.
class ArrowCompressor {
 public:
  explicit ArrowCompressor(ArrowCompression compression);
  ~ArrowCompressor();
  ArrowCompressor(const ArrowCompressor&) = delete;
  ArrowCompressor& operator=(const ArrowCompressor&) = delete;

  /// Appends `bytes` as the codec has it, without padding: a length and a frame; -1 and the bytes where a frame would be no smaller;
  /// nothing for nothing, which all readers take (Arrow C++ refuses the 8 zero bytes of Java's writer when the codec is LZ4).
  Status Append(ByteView bytes, MutableBuffer* out);

 private:
  struct State;
  /// Appends one frame of less than bytes.size() bytes; false when it would be larger.
  Result<bool> AppendFrame(ByteView bytes, MutableBuffer* out);

  const ArrowCompression compression_;
  std::unique_ptr<State> state_;
};

/// The bytes of a stored buffer: a view into `stored` where it is not compressed, else into `room`. kCorruptRecord when it is no
/// buffer of that codec, when a frame holds other than its announced size, or when that is over `size_max`: memory grows with what
/// a frame really holds, not with what it announces.
Result<ByteView> DecompressArrowBuffer(std::optional<ArrowCodec> codec, ByteView stored, uint64_t size_max, MutableBuffer* room);

}  // namespace strom::format
