#include "log/batch_walker.h"

#include <algorithm>

namespace strom::log {

namespace {
constexpr int64_t kOffsetMax = int64_t{1} << 62;  // leaves room to add
}

bool BatchWalker::Fail(Error error) {
  status_ = std::move(error);
  return false;
}

/// Brings the bytes from next_position_ on into the window, at least `needed` of them.
bool BatchWalker::Fill(size_t needed) {
  // The window follows the size of the batches: it doubles while it holds several, and shrinks to a header for large ones.
  if (window_filled_ != 0) {
    window_size_ = batches_in_window_ > 1 ? std::min(window_size_ * 2, kWindowMax) : std::max(window_size_ / 2, kWindowMin);
  }
  const size_t wanted = std::max(needed, static_cast<size_t>(std::min<uint64_t>(window_size_, end_ - next_position_)));
  Result<size_t> got = file_.ReadAt(next_position_, std::span(window_).first(wanted));
  if (!got.ok()) return Fail(got.error());
  window_start_ = next_position_;
  window_filled_ = *got;
  batches_in_window_ = 0;
  if (*got < needed) {
    return Fail(MakeError(ErrorCode::kCorruptData, "{} ends at {}, inside of the batch at {}", file_.path(), next_position_ + *got,
                          next_position_));
  }
  return true;
}

bool BatchWalker::Next() {
  if (!status_.ok() || next_position_ >= end_) return false;
  const uint64_t left = end_ - next_position_;
  if (left < format::kBatchPeekSize) {
    return Fail(MakeError(ErrorCode::kCorruptData, "{} holds {} bytes at {} that are no batch", file_.path(), left, next_position_));
  }
  const size_t needed = static_cast<size_t>(std::min<uint64_t>(left, format::kBatchHeaderSizeMax));
  if (next_position_ < window_start_ || next_position_ + needed > window_start_ + window_filled_) {
    if (!Fill(needed)) return false;
  }
  const size_t in_window = static_cast<size_t>(next_position_ - window_start_);
  Result<format::LogBatchHeader> header =
      format::DecodeLogBatchHeader(ByteView(window_).subspan(in_window, window_filled_ - in_window));
  if (!header.ok()) {
    return Fail(MakeError(ErrorCode::kCorruptData, "{} at {}: {}", file_.path(), next_position_, header.error().message));
  }
  header_ = *header;
  if (header_.magic > magic_max_) {
    return Fail(MakeError(ErrorCode::kCorruptData, "{} at {}: a batch of magic {} in a table whose batches have at most {}", file_.path(),
                          next_position_, header_.magic, magic_max_));
  }
  if (header_.total_size > left) {
    return Fail(MakeError(ErrorCode::kCorruptData, "{} at {}: a batch of {} bytes where {} are left", file_.path(), next_position_,
                          header_.total_size, left));
  }
  if (header_.base_offset.value() < 0 || header_.base_offset.value() > kOffsetMax) {
    return Fail(MakeError(ErrorCode::kCorruptData, "{} at {}: a batch with offset {}", file_.path(), next_position_, header_.base_offset));
  }
  if (expected_.value() >= 0 && header_.base_offset != expected_) {
    return Fail(MakeError(ErrorCode::kCorruptData, "{} at {}: a batch with offset {} where {} must be", file_.path(), next_position_,
                          header_.base_offset, expected_));
  }
  ++batches_in_window_;
  position_ = next_position_;
  next_position_ += header_.total_size;
  expected_ = header_.next_offset();
  return true;
}

}  // namespace strom::log
