#pragma once

#include <memory>
#include <vector>

#include "kv/kv_table.h"
#include "kv/merger.h"

/// The merge engines, for MakeMerger.
namespace strom::kv {

/// The columns of a request that writes only some of them, by position in the latest schema.
struct TargetColumns {
  std::vector<bool> is_target;  // of each column
  std::vector<size_t> non_key;  // the target columns that are not in the primary key
  std::vector<size_t> kept;     // the columns that are not targets
};

/// Default engine, whole rows: the last row wins.
std::unique_ptr<Merger> MakeFullRowMerger(model::DeleteBehavior delete_behavior);
/// Default engine, some columns.
std::unique_ptr<Merger> MakePartialUpdateMerger(std::shared_ptr<const KvTable> table, TargetColumns target,
                                                model::DeleteBehavior delete_behavior);
/// The first row of a key stays.
std::unique_ptr<Merger> MakeFirstRowMerger(const KvTable& table);
/// The row with the greatest version stays, of equal ones the last. kInvalidConfig where the version column is none.
Result<std::unique_ptr<Merger>> MakeVersionedMerger(std::shared_ptr<const KvTable> table);
/// A function for each column. Without `target`: whole rows. kInvalidConfig where a function does not take its column's type.
Result<std::unique_ptr<Merger>> MakeAggregationMerger(std::shared_ptr<const KvTable> table,
                                                      std::optional<TargetColumns> target);

/// What a delete of a request with target columns makes of `old`: no row where all other columns are null, else the row with the target columns null
/// but for the primary key (spec/server.md 10.3). `scratch` is overwritten.
Result<MergeVerdict> DeleteColumns(const KvTable& table, const TargetColumns& target, const RowView& old,
                                   std::vector<format::FieldView>* scratch, MutableBuffer* out);

}  // namespace strom::kv
