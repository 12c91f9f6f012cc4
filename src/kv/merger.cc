#include "kv/merger.h"

#include <algorithm>

#include "kv/mergers.h"

namespace strom::kv {

using model::Column;
using model::DeleteBehavior;
using model::MergeEngine;

namespace {

template <typename... Args>
Error Refused(const KvTable& table, fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(ErrorCode::kInvalidTargetColumn, "table {}: {}", table.info().path.ToString(),
                   fmt::format(format, std::forward<Args>(args)...));
}

std::string_view ColumnName(const KvTable& table, size_t position) {
  return table.latest().schema->columns[position].name;
}

Status CheckAutoIncrement(const KvTable& table, std::span<const int32_t> target_columns) {
  const int32_t column = table.auto_increment_column();
  if (column < 0) return Status::OK();
  const std::string_view name = ColumnName(table, static_cast<size_t>(column));
  if (target_columns.empty()) {
    return Refused(
        table, "the column {} is auto increment, so a write must name its target columns, and not this one among them",
        name);
  }
  if (std::find(target_columns.begin(), target_columns.end(), column) != target_columns.end()) {
    return Refused(table, "the column {} is auto increment: the server assigns it, and it cannot be a target column",
                   name);
  }
  return Status::OK();
}

/// Nothing where all columns are named.
Result<std::optional<TargetColumns>> ResolveTarget(const KvTable& table, std::span<const int32_t> target_columns) {
  const std::vector<Column>& columns = table.latest().schema->columns;
  TargetColumns target;
  target.is_target.resize(columns.size(), target_columns.empty());
  for (const int32_t column : target_columns) {
    if (column < 0 || static_cast<size_t>(column) >= columns.size()) {
      return Refused(table, "there is no target column {}; the table has {} columns", column, columns.size());
    }
    target.is_target[static_cast<size_t>(column)] = true;
  }
  const std::vector<size_t>& key = table.primary_key_columns();
  for (const size_t column : key) {
    if (!target.is_target[column]) {
      return Refused(table, "the target columns lack {}, which is in the primary key", columns[column].name);
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!target.is_target[i]) {
      target.kept.push_back(i);
    } else if (std::find(key.begin(), key.end(), i) == key.end()) {
      target.non_key.push_back(i);
    }
  }
  if (target.kept.empty()) return std::optional<TargetColumns>();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].type.nullable && std::find(key.begin(), key.end(), i) == key.end()) {
      return Refused(table,
                     "some columns alone can be written only where all but the primary key are nullable; {} is {}",
                     columns[i].name, columns[i].type.ToString());
    }
  }
  return std::optional<TargetColumns>(std::move(target));
}

std::unique_ptr<Merger> MakeDefaultMerger(std::shared_ptr<const KvTable> table, std::optional<TargetColumns> target,
                                          DeleteBehavior behavior) {
  if (!target) return MakeFullRowMerger(behavior);
  return MakePartialUpdateMerger(std::move(table), *std::move(target), behavior);
}

}  // namespace

Result<std::unique_ptr<Merger>> MakeMerger(std::shared_ptr<const KvTable> table,
                                           std::span<const int32_t> target_columns, MergeMode mode) {
  STROM_TRY(CheckAutoIncrement(*table, target_columns));
  const model::TableConfig& config = table->config();
  const bool own_engine = mode == MergeMode::kTable;
  if (own_engine && !target_columns.empty() &&
      (config.merge_engine == MergeEngine::kFirstRow || config.merge_engine == MergeEngine::kVersioned)) {
    return Refused(*table, "the merge engine {} takes whole rows only, not target columns",
                   config.merge_engine == MergeEngine::kFirstRow ? "first_row" : "versioned");
  }
  STROM_ASSIGN(std::optional<TargetColumns> target, ResolveTarget(*table, target_columns));
  if (!own_engine) return MakeDefaultMerger(std::move(table), std::move(target), DeleteBehavior::kAllow);
  switch (config.merge_engine) {
    case MergeEngine::kFirstRow:
      return MakeFirstRowMerger(*table);
    case MergeEngine::kVersioned:
      return MakeVersionedMerger(std::move(table));
    case MergeEngine::kAggregation:
      return MakeAggregationMerger(std::move(table), std::move(target));
    case MergeEngine::kDefault:
      break;
  }
  const DeleteBehavior behavior = config.delete_behavior;
  return MakeDefaultMerger(std::move(table), std::move(target), behavior);
}

}  // namespace strom::kv
