#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/writer_state.h"

namespace strom::log {

/// The content of a `.writer_snapshot` file (spec/formats.md 10.4): JSON version 1. Java keeps the last batch of each writer only; its
/// `last_batch_base_offset` holds the **last** offset. Our files carry two members more, which Java ignores:
/// `strom_batches` `[{"writer_id", "batches": [[sequence, last offset, offset delta, timestamp], ...oldest first]}]` with all remembered batches (W14),
/// and at the very end `strom_crc32c`, the CRC-32C of every byte before its comma.
struct WriterSnapshot {
  struct Writer {
    WriterId writer;
    std::vector<WriterBatch> batches;  // oldest first, never empty
    bool operator==(const Writer&) const = default;
  };
  std::vector<Writer> writers;

  enum class Form { kJava, kStrom };
  std::string Encode(Form form) const;
  /// Reads both forms. kCorruptData with what is wrong.
  static Result<WriterSnapshot> Decode(ByteView text);

  /// Everything that `state` remembers, by writer id.
  static WriterSnapshot Of(const WriterState& state);
  void RestoreTo(WriterState& state) const;
};

}  // namespace strom::log
