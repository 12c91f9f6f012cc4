#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/kv_table.h"

namespace strom::kv {

/// What a request may ask for in place of the table's merge engine (spec/server.md 10.2, 5): kOverwrite is undo recovery, with which the new
/// row wins and deletes are allowed whatever the table says; target columns still hold.
enum class MergeMode : uint8_t { kTable = 0, kOverwrite = 1 };

/// What a merge says of a key.
enum class MergeVerdict : uint8_t {
  kUnchanged,  // the old row stays as it is: nothing is written, no change record
  kIncoming,   // the incoming row becomes the state, byte for byte, with its own schema id
  kMerged,     // the row in `out`, of the latest schema, becomes the state
  kRemoved,    // the key has no row any more
};

/// Folds a new row into the row of its key (spec/server.md 10.3, 10.4; spec/formats.md 13.4). Pure: it knows nothing of offsets, logs and stores.
/// One merger serves one request at a time; it keeps scratch memory between rows, so that a merge allocates nothing in the steady state.
class Merger {
 public:
  virtual ~Merger() = default;

  /// `old` is nothing for a key without a row. kMerged appends to `out`. Errors name the column.
  virtual Result<MergeVerdict> Merge(const std::optional<RowView>& old, const RowView& incoming,
                                     MutableBuffer* out) = 0;
  /// A delete of a key that has a row: kRemoved, kMerged (a partial delete), or kUnchanged.
  virtual Result<MergeVerdict> Delete(const RowView& old, MutableBuffer* out) = 0;

  model::DeleteBehavior delete_behavior() const { return delete_behavior_; }
  /// False where every upsert is the incoming row whatever the old one was: with the changelog image WAL the old row is then not even read.
  bool needs_old() const { return needs_old_; }

 protected:
  Merger(model::DeleteBehavior delete_behavior, bool needs_old)
      : delete_behavior_(delete_behavior), needs_old_(needs_old) {}

 private:
  model::DeleteBehavior delete_behavior_;
  bool needs_old_;
};

/// The merger of a request. `target_columns` are positions in the latest schema; empty, or all of them: whole rows are written.
/// kInvalidTargetColumn where they name no column, lack the primary key, are not allowed with the engine, or where the table has a NOT NULL column
/// besides its key (spec/server.md 10.3); for tables with auto-increment also when they are missing or name that column (10.2, 4).
Result<std::unique_ptr<Merger>> MakeMerger(std::shared_ptr<const KvTable> table,
                                           std::span<const int32_t> target_columns, MergeMode mode);

}  // namespace strom::kv
