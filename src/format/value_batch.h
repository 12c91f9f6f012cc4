#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"

namespace strom::format {

/// The body of limit-scan and scan responses (spec/formats.md 13.2): i32 length (total - 4), i8 magic 0, i32 count, then for each record i32
/// length and a value body (KvValueView::body). No CRC.
inline constexpr size_t kValueBatchHeaderSize = 9;

class ValueBatchBuilder {
 public:
  ValueBatchBuilder();

  void Append(ByteView value_body);
  int32_t record_count() const { return record_count_; }
  /// Bytes of the batch so far; a scan stops by it.
  size_t size() const { return bytes_.size(); }
  /// The batch; the builder is then used up.
  Buffer Finish();

 private:
  MutableBuffer bytes_;
  int32_t record_count_ = 0;
};

/// Walks the bodies of one batch; they are views into it.
class ValueBatchReader {
 public:
  /// kCorruptRecord for an unknown magic and for sizes that do not fit.
  static Result<ValueBatchReader> Open(ByteView batch);

  int32_t record_count() const { return record_count_; }
  bool done() const { return index_ == record_count_; }
  Status Next(ByteView* value_body);

 private:
  ByteView rest_;
  int32_t index_ = 0;
  int32_t record_count_ = 0;
};

}  // namespace strom::format
