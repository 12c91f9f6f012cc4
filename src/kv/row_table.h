#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "model/ids.h"

namespace strom::kv {

/// One life of a bucket's state: the key prefix that its rows have in the store. Never used again.
using LifeId = NamedType<uint64_t, struct LifeIdTag>;

/// What a row table knows of a key. Views hold until the next call that is not const.
struct RowTableEntry {
  std::optional<ByteView> value;  // nothing: the key is known to be absent
  LogOffset offset{0};            // end of the change that made it; what a fill brings has 0
};

/// One row of a frozen generation; its bytes stay as they are until FinishDrain() or AbortDrain(), so that another thread may read them.
struct FrozenRow {
  LifeId life{0};
  ByteView key;
  std::optional<ByteView> value;  // nothing: a removal
  LogOffset offset{0};
};

/// The rows of a shard's buckets in memory: dirty ones, not yet in the store, and clean ones, a cache of it.
/// One owner; only the rows of Freeze() may be read by another thread.
///
/// Invariants:
/// 1. A frozen cell's key, value, life and offset never change; a later write of its key makes another cell.
/// 2. A key has at most one cell in the index, the newest; dirty and frozen cells are never evicted.
/// 3. A store read that began before a drain ended never becomes a cell (Fill's ticket).
class RowTable {
 public:
  /// Taken when a store read begins.
  struct Ticket {
    uint64_t drains = 0;
  };

  RowTable();
  ~RowTable();
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  /// Nothing: the store knows. A found clean row counts as used.
  std::optional<RowTableEntry> Get(LifeId life, ByteView key);
  /// A write or removal (no value) below the replication bound. `value` must not look into this table.
  void Put(LifeId life, ByteView key, std::optional<ByteView> value, LogOffset offset);

  Ticket StartRead() const { return {drains_}; }
  /// Keeps what the store said (no value: absent) as a clean row, if the key is still unknown here and no drain ended since `ticket`.
  bool Fill(Ticket ticket, LifeId life, ByteView key, std::optional<ByteView> value);

  /// Freezes all dirty rows, in no order, each key once. No other generation may be frozen.
  std::vector<FrozenRow> Freeze();
  /// The frozen rows are in the store: those that are still the newest become clean.
  void FinishDrain();
  /// They are not: those that are still the newest are dirty again.
  void AbortDrain();
  /// Forgets a life's rows. What a running drain reads stays readable until its end. Walks the whole table.
  void DropLife(LifeId life);
  /// Evicts clean rows and moves the others together until bytes() <= budget, or nothing more can be given back.
  void Trim(size_t budget);

  /// Memory held: chunks, index and the lists of dirty and frozen rows.
  size_t bytes() const {
    return chunk_bytes_ + slots_.capacity() * sizeof(Slot) + (dirty_.capacity() + frozen_.capacity()) * sizeof(Cell*);
  }
  /// Of rows that wait for a drain; those that one is taking are in frozen_bytes().
  size_t dirty_bytes() const { return dirty_bytes_; }
  size_t frozen_bytes() const { return frozen_bytes_; }
  size_t rows() const { return count_; }

 private:
  struct Cell;
  struct Chunk;
  struct Slot {
    uint64_t hash = 0;
    Cell* cell = nullptr;
  };

  size_t FindSlot(LifeId life, ByteView key, uint64_t hash) const;
  Cell* NewCell(LifeId life, ByteView key, std::optional<ByteView> value, LogOffset offset);
  uint8_t* Allocate(size_t size, Chunk** chunk);
  void FreeCell(Cell* cell);
  void RemoveChunk(Chunk* chunk);
  void Insert(uint64_t hash, Cell* cell);
  void EraseSlot(size_t slot);
  void Resize(size_t capacity);
  void AddDirty(Cell* cell);
  void RemoveDirty(Cell* cell);
  void EndDrain(bool in_store);
  bool EvictOne();
  bool CompactOne();

  std::vector<Slot> slots_;
  size_t count_ = 0;
  size_t hand_ = 0;  // of the clock
  std::vector<std::unique_ptr<Chunk>> chunks_;
  Chunk* current_ = nullptr;  // in chunks_; takes new cells
  size_t chunk_bytes_ = 0;
  std::vector<Cell*> dirty_;
  std::vector<Cell*> frozen_;
  bool draining_ = false;
  size_t dirty_bytes_ = 0;
  size_t frozen_bytes_ = 0;
  uint64_t drains_ = 0;  // that ended, and lives that were dropped
};

}  // namespace strom::kv
