#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/kv_batch.h"
#include "kv/batch_keys.h"
#include "kv/change_plan.h"
#include "kv/changelog_builder.h"
#include "kv/kv_table.h"
#include "kv/merger.h"

namespace strom::kv {

/// Where the ids of an auto-increment column come from (spec/server.md 10.8).
class AutoIncrementIds {
 public:
  virtual ~AutoIncrementIds() = default;
  /// The next id of the bucket's range. An error when the range is used up or the column's type is.
  virtual Result<int64_t> Next() = 0;
};

/// Turns a PutKv batch into a plan (spec/server.md 10.2). Pure: it changes nothing but its own scratch memory, so one planner serves all buckets of a
/// table on a shard, one batch at a time:
///
///   STROM_TRY(planner.Read(header, batch));               // checks every row: they are a client's bytes
///   ... find the stored values of planner.keys() ...
///   STROM_ASSIGN(ChangePlan plan, planner.Plan(merger, old_values, ids));
class ChangePlanner {
 public:
  explicit ChangePlanner(std::shared_ptr<const KvTable> table);

  /// Reads the records; `batch` must stay until the plan is used. kSchemaNotExist for a schema id that the table never had;
  /// kCorruptRecord for a row that is none of its schema, or whose key is null. Keys are not held against their rows (spec/formats.md 12).
  Status Read(const format::KvBatchHeader& header, ByteView batch);
  /// The distinct keys of the batch.
  const std::vector<ByteView>& keys() const { return batch_keys_.keys(); }

  /// `old_values`: for each key its stored value (schema id and row), or nothing. `ids` may be null for a table without an auto-increment column.
  /// kDeletionDisabled, and the merger's errors; the batch is then to be refused as a whole.
  Result<ChangePlan> Plan(Merger& merger, std::span<const std::optional<ByteView>> old_values, AutoIncrementIds* ids);
  /// True where Plan() with this merger does not look at the old values at all, so that the caller need not fetch them.
  bool ignores_old_values(const Merger& merger) const;

  const std::shared_ptr<const KvTable>& table() const { return table_; }

 private:
  /// The value of a key as the batch has left it so far.
  struct KeyState {
    std::optional<ByteView> stored;  // the caller's bytes, while the batch has not changed the key
    size_t position = 0;             // else in bytes_
    size_t size = 0;
    bool changed = false;
    bool present = false;
  };
  struct Entry {
    uint32_t key = 0;
    size_t position = 0;
    size_t size = 0;
    bool present = false;
    int32_t last_record = 0;
    int32_t row_count_change = 0;
  };

  Status CheckKeyColumns(size_t record, const RowView& row) const;
  Status PlanUpsert(Merger& merger, const BatchKeys::Record& record, AutoIncrementIds* ids);
  Status PlanDelete(Merger& merger, const BatchKeys::Record& record);
  Status Insert(uint32_t key, RowView row, AutoIncrementIds* ids);
  Status Update(uint32_t key, const RowView& old, const RowView& row);
  Result<std::optional<RowView>> OldRow(uint32_t key) const;
  /// Makes a value the key's state, and its entry.
  void Put(uint32_t key, const RowView& row, int32_t row_count_change);
  Status Remove(uint32_t key, const RowView& old);
  ChangePlan Finish(Buffer changelog);

  const std::shared_ptr<const KvTable> table_;
  ChangelogBuilder changelog_;
  format::KvBatchHeader header_;
  BatchKeys batch_keys_;
  std::vector<KeyState> states_;
  std::vector<Entry> entries_;
  MutableBuffer bytes_;
  MutableBuffer merged_;  // a merger's row, before it goes to bytes_
  std::vector<format::FieldView> fields_;
};

}  // namespace strom::kv
