#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/ids.h"

namespace strom::log {

/// Where the latest reads ended: a reader that goes on sequentially needs no index. A few entries, the oldest gives way.
class ReadCursors {
 public:
  /// The position of the batch whose base offset is `offset`, if a read ended there.
  std::optional<uint64_t> Find(LogOffset segment_base, LogOffset offset) const {
    for (const Cursor& cursor : cursors_) {
      if (cursor.offset == offset && cursor.segment_base == segment_base) return cursor.position;
    }
    return std::nullopt;
  }
  /// `from` is where the reader had started: its own entry, if there, moves on.
  void Note(LogOffset segment_base, LogOffset from, LogOffset offset, uint64_t position) {
    for (Cursor& cursor : cursors_) {
      if (cursor.offset == from && cursor.segment_base == segment_base) {
        cursor = {segment_base, offset, position};
        return;
      }
    }
    cursors_[next_] = {segment_base, offset, position};
    next_ = (next_ + 1) % cursors_.size();
  }
  void Clear() { cursors_ = {}; }

 private:
  struct Cursor {
    LogOffset segment_base{-1};
    LogOffset offset{-1};
    uint64_t position = 0;
  };
  std::array<Cursor, 4> cursors_;
  size_t next_ = 0;
};

}  // namespace strom::log
