#include "kv/row_table.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace strom::kv {
namespace {

constexpr size_t kChunkSize = 256 << 10;
constexpr size_t kSlotsMin = 64;

uint64_t HashOf(LifeId life, ByteView key) {
  uint64_t hash = std::hash<std::string_view>()(AsText(key)) ^ (life.value() * 0x9E3779B97F4A7C15ULL);
  hash = (hash ^ (hash >> 32)) * 0xBF58476D1CE4E5B9ULL;
  return hash ^ (hash >> 29);
}

enum class State : uint8_t { kClean, kDirty, kFrozen };

}  // namespace

/// The key's bytes follow the head, then the value's. `state`, `used`, `superseded` and `place` are the owner's alone.
struct RowTable::Cell {
  uint64_t life;
  int64_t offset;
  uint64_t hash;
  Chunk* chunk;
  uint32_t key_size;
  uint32_t value_size;
  uint32_t place;  // in dirty_
  bool has_value;
  State state;
  bool used;
  bool superseded;  // frozen, and no longer in the index

  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this + 1); }
  ByteView key() { return {bytes(), key_size}; }
  std::optional<ByteView> value() {
    if (!has_value) return std::nullopt;
    return ByteView(bytes() + key_size, value_size);
  }
  size_t size() const { return SizeFor(key_size, value_size); }
  static size_t SizeFor(size_t key_size, size_t value_size) { return (sizeof(Cell) + key_size + value_size + 7) & ~size_t{7}; }
};

struct RowTable::Chunk {
  std::unique_ptr<uint8_t[]> data;
  size_t capacity = 0;
  size_t filled = 0;
  size_t live = 0;    // bytes of cells not freed
  size_t frozen = 0;  // cells that must not move
};

RowTable::RowTable() { slots_.resize(kSlotsMin); }
RowTable::~RowTable() = default;

size_t RowTable::FindSlot(LifeId life, ByteView key, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot].cell != nullptr; slot = (slot + 1) & mask) {
    if (slots_[slot].hash != hash) continue;
    Cell* cell = slots_[slot].cell;
    if (cell->life == life.value() && AsText(cell->key()) == AsText(key)) return slot;
  }
  return slot;
}

std::optional<RowTableEntry> RowTable::Get(LifeId life, ByteView key) {
  Cell* cell = slots_[FindSlot(life, key, HashOf(life, key))].cell;
  if (cell == nullptr) return std::nullopt;
  cell->used = true;
  return RowTableEntry{cell->value(), LogOffset(cell->offset)};
}

void RowTable::Put(LifeId life, ByteView key, std::optional<ByteView> value, LogOffset offset) {
  const uint64_t hash = HashOf(life, key);
  const size_t slot = FindSlot(life, key, hash);
  Cell* old = slots_[slot].cell;
  if (old == nullptr) {
    Cell* cell = NewCell(life, key, value, offset);
    Insert(hash, cell);
    AddDirty(cell);
    return;
  }
  const size_t value_size = value ? value->size() : 0;
  if (old->state != State::kFrozen && old->value_size == value_size) {
    if (value_size > 0) std::memcpy(old->bytes() + old->key_size, value->data(), value_size);
    old->has_value = value.has_value();
    old->offset = offset.value();
    old->used = true;
    if (old->state == State::kClean) AddDirty(old);
    return;
  }
  Cell* cell = NewCell(life, key, value, offset);
  slots_[slot].cell = cell;
  if (old->state == State::kFrozen) {
    old->superseded = true;  // the drain may be reading it: freed at its end
  } else {
    if (old->state == State::kDirty) RemoveDirty(old);
    FreeCell(old);
  }
  AddDirty(cell);
}

bool RowTable::Fill(Ticket ticket, LifeId life, ByteView key, std::optional<ByteView> value) {
  if (ticket.drains != drains_) return false;
  const uint64_t hash = HashOf(life, key);
  if (slots_[FindSlot(life, key, hash)].cell != nullptr) return false;
  Insert(hash, NewCell(life, key, value, LogOffset(0)));
  return true;
}

std::vector<FrozenRow> RowTable::Freeze() {
  STROM_ASSERT(!draining_, "a generation of {} rows is frozen already", frozen_.size());
  draining_ = true;
  frozen_.swap(dirty_);
  frozen_bytes_ = std::exchange(dirty_bytes_, 0);
  std::vector<FrozenRow> rows;
  rows.reserve(frozen_.size());
  for (Cell* cell : frozen_) {
    cell->state = State::kFrozen;
    cell->chunk->frozen++;
    rows.push_back({LifeId(cell->life), cell->key(), cell->value(), LogOffset(cell->offset)});
  }
  return rows;
}

void RowTable::FinishDrain() { EndDrain(true); }
void RowTable::AbortDrain() { EndDrain(false); }

void RowTable::EndDrain(bool in_store) {
  STROM_ASSERT(draining_, "no generation is frozen");
  draining_ = false;
  frozen_bytes_ = 0;
  if (in_store) drains_++;
  for (Cell* cell : frozen_) {
    cell->chunk->frozen--;
    cell->state = State::kClean;
    if (cell->superseded) {
      FreeCell(cell);
    } else if (!in_store) {
      AddDirty(cell);
    }
  }
  std::vector<Cell*>().swap(frozen_);  // its memory counts
}

void RowTable::DropLife(LifeId life) {
  drains_++;
  for (size_t slot = 0; slot < slots_.size();) {
    Cell* cell = slots_[slot].cell;
    if (cell == nullptr || cell->life != life.value()) {
      slot++;
      continue;
    }
    EraseSlot(slot);  // may move another cell here: look at this slot again
    if (cell->state == State::kFrozen) {
      cell->superseded = true;
      continue;
    }
    if (cell->state == State::kDirty) RemoveDirty(cell);
    FreeCell(cell);
  }
  // An erase near the end can move cells from the first slots to the last ones, never the other way: none is missed.
}

void RowTable::Trim(size_t budget) {
  while (bytes() > budget) {
    if (count_ * 8 < slots_.size() && slots_.size() > kSlotsMin) {
      Resize(slots_.size() / 2);
      continue;
    }
    if (CompactOne()) continue;
    // Enough for one chunk less; one by one would look through the chunks for each row.
    size_t evicted = 0;
    while (evicted < 1024 && EvictOne()) evicted++;
    if (evicted == 0) return;
  }
}

RowTable::Cell* RowTable::NewCell(LifeId life, ByteView key, std::optional<ByteView> value, LogOffset offset) {
  const size_t value_size = value ? value->size() : 0;
  Chunk* chunk = nullptr;
  uint8_t* at = Allocate(Cell::SizeFor(key.size(), value_size), &chunk);
  Cell* cell = new (at) Cell{life.value(),
                             offset.value(),
                             HashOf(life, key),
                             chunk,
                             static_cast<uint32_t>(key.size()),
                             static_cast<uint32_t>(value_size),
                             0,
                             value.has_value(),
                             State::kClean,
                             true,
                             false};
  if (!key.empty()) std::memcpy(cell->bytes(), key.data(), key.size());
  if (value_size > 0) std::memcpy(cell->bytes() + key.size(), value->data(), value_size);
  return cell;
}

uint8_t* RowTable::Allocate(size_t size, Chunk** chunk) {
  Chunk* to = current_;
  // A large row has a chunk of just its size; the current one stays for those to come.
  const bool large = size > kChunkSize / 4;
  if (large || to == nullptr || to->capacity - to->filled < size) {
    auto made = std::make_unique<Chunk>();
    made->capacity = large ? size : kChunkSize;
    made->data.reset(new uint8_t[made->capacity]);
    to = made.get();
    chunk_bytes_ += to->capacity;
    chunks_.push_back(std::move(made));
    if (!large) current_ = to;
  }
  *chunk = to;
  uint8_t* at = to->data.get() + to->filled;
  to->filled += size;
  to->live += size;
  return at;
}

void RowTable::FreeCell(Cell* cell) {
  Chunk* chunk = cell->chunk;
  chunk->live -= cell->size();
  if (chunk->live == 0) RemoveChunk(chunk);
}

void RowTable::RemoveChunk(Chunk* chunk) {
  if (current_ == chunk) current_ = nullptr;
  chunk_bytes_ -= chunk->capacity;
  auto at = std::find_if(chunks_.begin(), chunks_.end(), [&](const auto& one) { return one.get() == chunk; });
  std::swap(*at, chunks_.back());
  chunks_.pop_back();
}

void RowTable::Insert(uint64_t hash, Cell* cell) {
  if ((count_ + 1) * 4 > slots_.size() * 3) Resize(slots_.size() * 2);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot].cell != nullptr) slot = (slot + 1) & mask;
  slots_[slot] = {hash, cell};
  count_++;
}

void RowTable::EraseSlot(size_t hole) {
  const size_t mask = slots_.size() - 1;
  for (size_t next = (hole + 1) & mask; slots_[next].cell != nullptr; next = (next + 1) & mask) {
    const size_t home = slots_[next].hash & mask;
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    slots_[hole] = slots_[next];
    hole = next;
  }
  slots_[hole] = {};
  count_--;
}

void RowTable::Resize(size_t capacity) {
  std::vector<Slot> old(capacity);
  old.swap(slots_);
  count_ = 0;
  hand_ = 0;
  for (const Slot& slot : old)
    if (slot.cell != nullptr) Insert(slot.hash, slot.cell);
}

void RowTable::AddDirty(Cell* cell) {
  cell->state = State::kDirty;
  cell->place = static_cast<uint32_t>(dirty_.size());
  dirty_.push_back(cell);
  dirty_bytes_ += cell->size();
}

void RowTable::RemoveDirty(Cell* cell) {
  dirty_bytes_ -= cell->size();
  dirty_.back()->place = cell->place;
  dirty_[cell->place] = dirty_.back();
  dirty_.pop_back();
}

bool RowTable::EvictOne() {
  const size_t mask = slots_.size() - 1;
  // Two rounds: the first may only take the marks away.
  for (size_t step = 0; step < 2 * slots_.size(); step++) {
    Cell* cell = slots_[hand_].cell;
    if (cell != nullptr && cell->state == State::kClean) {
      if (!cell->used) {
        EraseSlot(hand_);
        FreeCell(cell);
        return true;
      }
      cell->used = false;
    }
    hand_ = (hand_ + 1) & mask;
  }
  return false;
}

/// Moves the cells of the emptiest chunk into others when that gives memory back.
bool RowTable::CompactOne() {
  Chunk* from = nullptr;
  for (const auto& chunk : chunks_) {
    if (chunk.get() == current_ || chunk->frozen > 0 || chunk->live * 4 > chunk->capacity * 3) continue;
    if (from == nullptr || chunk->live < from->live) from = chunk.get();
  }
  if (from == nullptr) return false;
  const size_t mask = slots_.size() - 1;
  for (size_t at = 0; at < from->filled;) {
    Cell* cell = reinterpret_cast<Cell*>(from->data.get() + at);
    const size_t size = cell->size();
    at += size;
    // Freed cells keep their heads: only what the index points at is alive.
    size_t slot = cell->hash & mask;
    while (slots_[slot].cell != nullptr && slots_[slot].cell != cell) slot = (slot + 1) & mask;
    if (slots_[slot].cell == nullptr) continue;
    Chunk* to = nullptr;
    uint8_t* bytes = Allocate(size, &to);
    std::memcpy(bytes, cell, size);
    Cell* moved = reinterpret_cast<Cell*>(bytes);
    moved->chunk = to;
    slots_[slot].cell = moved;
    if (moved->state == State::kDirty) dirty_[moved->place] = moved;
  }
  RemoveChunk(from);
  return true;
}

}  // namespace strom::kv
