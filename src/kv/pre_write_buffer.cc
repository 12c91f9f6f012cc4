#include "kv/pre_write_buffer.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace strom::kv {

namespace {
constexpr size_t kSlotsMin = 64;
/// Slots that a buffer may keep that hardly uses them.
constexpr size_t kKeptSlotsMax = 8192;
}  // namespace

size_t PreWriteBuffer::SizeOf(const Entry& entry) {
  return sizeof(Entry) + 2 * sizeof(uint64_t) + entry.pending.key.size() +
         (entry.pending.value ? entry.pending.value->size() : 0);
}

uint64_t PreWriteBuffer::HashOf(ByteView key) { return std::hash<std::string_view>()(AsText(key)); }

void PreWriteBuffer::Publish(const ChangePlan& plan, LogOffset first_offset) {
  if (plan.entries.empty()) return;
  STROM_ASSERT(entries_.empty() || entries_.back().pending.offset < first_offset,
               "entries from offset {} on come after one at {}", first_offset.value(),
               entries_.back().pending.offset.value());
  size_t keys_size = 0;
  for (const PlannedEntry& planned : plan.entries) keys_size += planned.key.size();
  MutableBuffer keys(keys_size);
  for (const PlannedEntry& planned : plan.entries) keys.Append(planned.key);
  Chunk chunk{
      .keys = keys.Freeze(), .values = plan.bytes, .end = first_number_ + entries_.size() + plan.entries.size()};
  ReserveSlots(plan.entries.size());
  size_t position = 0;
  for (const PlannedEntry& planned : plan.entries) {
    const ByteView key = chunk.keys.view().subspan(position, planned.key.size());
    position += planned.key.size();
    entries_.push_back({.pending = {.key = key,
                                    .value = planned.value,
                                    .offset = first_offset + planned.last_record,
                                    .row_count_change = planned.row_count_change},
                        .hash = HashOf(key)});
    size_bytes_ += SizeOf(entries_.back());
    Index(first_number_ + entries_.size() - 1);
  }
  chunks_.push_back(std::move(chunk));
}

PreWriteBuffer::Found PreWriteBuffer::Find(ByteView key) const {
  if (entries_.empty()) return {};
  const uint64_t said = slots_[SlotOf(key, HashOf(key))];
  if (said == kFree) return {};
  return {.found = true, .value = At(said - 1).pending.value};
}

void PreWriteBuffer::TruncateFrom(LogOffset end) {
  if (entries_.empty() || entries_.back().pending.offset < end) return;
  while (!entries_.empty() && !(entries_.back().pending.offset < end)) {
    size_bytes_ -= SizeOf(entries_.back());
    entries_.pop_back();
  }
  const uint64_t numbers_end = first_number_ + entries_.size();
  // A chunk that begins behind the end holds nothing any more; the one that the end cuts ends there.
  while (!chunks_.empty() && (chunks_.size() == 1 ? first_number_ : chunks_[chunks_.size() - 2].end) >= numbers_end)
    chunks_.pop_back();
  if (!chunks_.empty()) chunks_.back().end = numbers_end;
  Rebuild(slots_.size());
  GiveBack();
}

size_t PreWriteBuffer::SlotOf(ByteView key, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == kFree) return slot;
    const Entry& entry = At(slots_[slot] - 1);
    if (entry.hash == hash && std::ranges::equal(entry.pending.key, key)) return slot;
  }
}

void PreWriteBuffer::Index(uint64_t number) {
  const Entry& entry = At(number);
  uint64_t& slot = slots_[SlotOf(entry.pending.key, entry.hash)];
  if (slot == kFree) ++used_slots_;
  slot = number + 1;
}

void PreWriteBuffer::FreeSlot(size_t slot) {
  // What follows moves up where it may, so that no search ends too early at the hole.
  const size_t mask = slots_.size() - 1;
  size_t hole = slot;
  for (size_t next = (hole + 1) & mask; slots_[next] != kFree; next = (next + 1) & mask) {
    const size_t home = At(slots_[next] - 1).hash & mask;
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    slots_[hole] = slots_[next];
    hole = next;
  }
  slots_[hole] = kFree;
  --used_slots_;
}

void PreWriteBuffer::Rebuild(size_t slot_count) {
  slots_.assign(slot_count, kFree);
  used_slots_ = 0;
  for (size_t i = 0; i < entries_.size(); ++i) Index(first_number_ + i);
}

void PreWriteBuffer::ReserveSlots(size_t more) {
  const size_t needed = std::bit_ceil(std::max(2 * (used_slots_ + more), kSlotsMin));
  if (needed > slots_.size()) Rebuild(needed);
}

void PreWriteBuffer::PopFront() {
  const Entry& entry = entries_.front();
  const size_t slot = SlotOf(entry.pending.key, entry.hash);
  if (slots_[slot] == first_number_ + 1) FreeSlot(slot);
  size_bytes_ -= SizeOf(entry);
  entries_.pop_front();
  ++first_number_;
  if (chunks_.front().end == first_number_) chunks_.pop_front();
}

void PreWriteBuffer::GiveBack() {
  if (slots_.size() <= kKeptSlotsMax || used_slots_ * 16 > slots_.size()) return;
  Rebuild(std::bit_ceil(std::max(4 * used_slots_, kSlotsMin)));
  slots_.shrink_to_fit();
}

}  // namespace strom::kv
