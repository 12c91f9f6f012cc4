#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "format/log_batch.h"
#include "model/ids.h"
#include "rt/file.h"

namespace strom::log {

/// Walks the headers of the batches in a range of a segment file and checks their chain: each header decodes, each batch lies within the range,
/// each base offset is the one before's next. Not the CRC. Many small batches are read together, large ones by their headers only.
class BatchWalker {
 public:
  /// `position` is a batch boundary; `end` is where the last batch must end; `expected` the first batch's base offset, or -1 to take what is there.
  BatchWalker(const rt::File& file, uint64_t position, uint64_t end, LogOffset expected, uint8_t magic_max)
      : file_(file), next_position_(position), end_(end), expected_(expected), magic_max_(magic_max) {}

  /// The next batch; false at the end and on an error, which status() tells: kCorruptData with file and position, or kIoError.
  bool Next();
  const format::LogBatchHeader& header() const { return header_; }
  /// Of the batch that header() is of.
  uint64_t position() const { return position_; }
  uint64_t next_position() const { return next_position_; }
  const Status& status() const { return status_; }

 private:
  static constexpr size_t kWindowMin = 64;
  static constexpr size_t kWindowMax = 16 << 10;

  bool Fill(size_t needed);
  bool Fail(Error error);

  const rt::File& file_;
  uint64_t position_ = 0;
  uint64_t next_position_;
  const uint64_t end_;
  LogOffset expected_;
  const uint8_t magic_max_;
  format::LogBatchHeader header_;
  Status status_;

  uint64_t window_start_ = 0;
  size_t window_filled_ = 0;
  size_t window_size_ = 512;
  uint32_t batches_in_window_ = 0;
  std::array<uint8_t, kWindowMax> window_;
};

}  // namespace strom::log
