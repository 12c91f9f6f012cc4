#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "rt/file.h"

namespace strom::log {

/// A file of fixed-size entries in ascending order, at its exact size: nothing is preallocated and nothing is kept in memory but the newest entries,
/// which are written several at a time. `Entry` has kSize, Load(bytes) and Store(bytes). What is pending is lost in a crash: recovery rebuilds it.
template <typename Entry>
class IndexFile {
 public:
  static constexpr size_t kPendingMax = 64;

  /// All entries, with the pending ones.
  uint64_t count() const { return written_ + pending_.size(); }
  bool has_pending() const { return rewrite_ || !pending_.empty(); }
  /// The file is to be written anew, and made if it is missing.
  bool needs_rewrite() const { return rewrite_; }
  /// What is in the file, from its size when it is opened.
  void SetWritten(uint64_t count) {
    written_ = count;
    pending_.clear();
    rewrite_ = false;
  }

  void Add(const Entry& entry) { pending_.push_back(entry); }
  bool wants_flush() const { return pending_.size() >= kPendingMax; }

  Status Flush(rt::File& file) {
    if (rewrite_) STROM_TRY(file.Truncate(0));
    rewrite_ = false;
    if (pending_.empty()) return Status::OK();
    std::vector<uint8_t> bytes(pending_.size() * Entry::kSize);
    for (size_t i = 0; i < pending_.size(); ++i) pending_[i].Store(bytes.data() + i * Entry::kSize);
    const ByteView piece(bytes);
    STROM_TRY(file.WriteAt(written_ * Entry::kSize, {&piece, 1}));
    SetWritten(count());
    pending_.shrink_to_fit();
    return Status::OK();
  }

  Result<Entry> Get(const rt::File& file, uint64_t i) const {
    if (i >= written_) return pending_[i - written_];
    std::array<uint8_t, Entry::kSize> bytes;
    STROM_TRY(ReadEntries(file, i, bytes));
    return Entry::Load(bytes.data());
  }

  /// How many leading entries satisfy `keep`, which holds for a prefix (of a sane index). A damaged one gives any number; callers check what the
  /// entry points to.
  template <typename Keep>
  Result<uint64_t> CountLeading(const rt::File& file, const Keep& keep) const {
    if (!pending_.empty() && keep(pending_.front())) {
      const auto end = std::partition_point(pending_.begin(), pending_.end(), keep);
      return written_ + static_cast<uint64_t>(end - pending_.begin());
    }
    uint64_t low = 0;
    uint64_t high = written_;
    while (high - low > kBlockEntries) {
      const uint64_t middle = low + (high - low) / 2;
      STROM_ASSIGN(const Entry entry, Get(file, middle));
      if (keep(entry)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == high) return low;
    std::array<uint8_t, kBlockEntries * Entry::kSize> block;
    STROM_TRY(ReadEntries(file, low, std::span(block).first((high - low) * Entry::kSize)));
    for (const uint8_t* at = block.data(); low < high && keep(Entry::Load(at)); at += Entry::kSize) ++low;
    return low;
  }

  /// Keeps the first `count` entries.
  Status TruncateTo(rt::File& file, uint64_t count) {
    if (count >= written_) {
      pending_.resize(std::min<uint64_t>(pending_.size(), count - written_));
      return Status::OK();
    }
    STROM_TRY(file.Truncate(count * Entry::kSize));
    SetWritten(count);
    return Status::OK();
  }

  /// The index becomes `entries`, in memory; the file follows with the next flush.
  void Replace(std::vector<Entry> entries) {
    written_ = 0;
    pending_ = std::move(entries);
    rewrite_ = true;
  }

 private:
  static constexpr size_t kBlockEntries = 64;

  Status ReadEntries(const rt::File& file, uint64_t first, std::span<uint8_t> into) const {
    STROM_ASSIGN(const size_t got, file.ReadAt(first * Entry::kSize, into));
    if (got != into.size()) {
      return MakeError(ErrorCode::kIoError, "{} ends at {}, inside of an entry that was there when it was opened", file.path(),
                       first * Entry::kSize + got);
    }
    return Status::OK();
  }

  uint64_t written_ = 0;
  bool rewrite_ = false;
  std::vector<Entry> pending_;
};

}  // namespace strom::log
