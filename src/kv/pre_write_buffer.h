#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "kv/change_plan.h"
#include "model/ids.h"

namespace strom::kv {

/// One entry on its way from the changelog to the row table. Views into the buffer's memory.
struct PendingEntry {
  ByteView key;
  std::optional<ByteView> value;  // nothing: the key is removed
  LogOffset offset;               // of the last record of its change
  int32_t row_count_change = 0;
};

/// A bucket's entries of the changelog offsets [F, LEO): appended, but not yet below the replication bound (spec/server.md 10.1). Entries come in offset
/// order and leave in offset order. Owned by the bucket's shard.
class PreWriteBuffer {
 public:
  /// Takes over what a plan does, after its changelog batch has been appended at `first_offset`. Keys are copied, so that the client's batch may go.
  void Publish(const ChangePlan& plan, LogOffset first_offset);

  /// What the newest entry of the key says.
  struct Found {
    bool found = false;
    std::optional<ByteView> value;  // of a found entry; nothing: it removes the key
  };
  /// The view holds until the entry leaves.
  Found Find(ByteView key) const;

  /// Hands the entries with offsets below `bound` to `apply`, oldest first, and forgets them. Find() does not see an entry any more when the next
  /// one is handed over; `apply` must not change the buffer.
  template <typename Apply>
  void PopBelow(LogOffset bound, Apply apply) {
    while (!entries_.empty() && entries_.front().pending.offset < bound) {
      apply(static_cast<const PendingEntry&>(entries_.front().pending));
      PopFront();
    }
    GiveBack();
  }

  /// Forgets the entries with offsets from `end` on, and what keys were before shows again: for records that are no more in the log.
  void TruncateFrom(LogOffset end);

  bool empty() const { return entries_.empty(); }
  size_t entry_count() const { return entries_.size(); }
  /// What the entries hold in memory, for back-pressure.
  size_t size_bytes() const { return size_bytes_; }

 private:
  struct Entry {
    PendingEntry pending;
    uint64_t hash = 0;
  };
  /// Memory of one plan, held until its last entry has left.
  struct Chunk {
    Buffer keys;
    Buffer values;
    uint64_t end = 0;  // number of the first entry behind it
  };
  static constexpr uint64_t kFree = 0;

  static size_t SizeOf(const Entry& entry);
  static uint64_t HashOf(ByteView key);
  const Entry& At(uint64_t number) const { return entries_[static_cast<size_t>(number - first_number_)]; }
  /// The slot of the key, or the free one where it would go.
  size_t SlotOf(ByteView key, uint64_t hash) const;
  void Index(uint64_t number);
  void FreeSlot(size_t slot);
  void Rebuild(size_t slot_count);
  void ReserveSlots(size_t more);
  void PopFront();
  void GiveBack();

  // Invariant: entries_[i] has the number first_number_ + i; each key of an entry has exactly one slot, which says number + 1 of its newest entry.
  std::deque<Entry> entries_;
  uint64_t first_number_ = 0;
  std::deque<Chunk> chunks_;
  std::vector<uint64_t> slots_;  // open addressing, a power of two, at most half full
  size_t used_slots_ = 0;
  size_t size_bytes_ = 0;
};

}  // namespace strom::kv
