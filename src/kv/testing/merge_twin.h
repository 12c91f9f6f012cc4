#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "format/value.h"
#include "kv/merger.h"
#include "model/schema.h"
#include "model/table_descriptor.h"

/// The merge engines once more, written for being obviously right: rows are maps, values are Values (spec/server.md 10.3, 10.4).
namespace strom::kv::testing {

/// A row by column id, without its nulls: so a row of an older schema needs no thought.
using TwinRow = std::map<int32_t, format::Value>;

class MergeTwin {
 public:
  /// `latest` must outlive this. `targets` are column ids; empty: all.
  MergeTwin(const model::Schema* latest, const model::TableConfig& config, std::set<int32_t> targets, MergeMode mode);

  /// Nothing where the old row stays as it is.
  std::optional<TwinRow> Merge(const std::optional<TwinRow>& old, const TwinRow& incoming) const;
  /// Nothing where the key has no row any more.
  std::optional<TwinRow> Delete(const TwinRow& old) const;

 private:
  TwinRow Aggregated(const TwinRow& old, const TwinRow& incoming) const;
  bool IsTarget(int32_t id) const { return targets_.empty() || targets_.contains(id); }

  const model::Schema* latest_;
  model::TableConfig config_;
  std::set<int32_t> targets_;
  std::set<int32_t> key_;
};

/// One column's function on two values that are not null.
format::Value AggregatedValue(const model::Column& column, const format::Value& old, const format::Value& incoming);

}  // namespace strom::kv::testing
