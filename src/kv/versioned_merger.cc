#include <limits>
#include <utility>

#include "kv/mergers.h"

namespace strom::kv {

using format::FieldView;
using model::TypeRoot;

namespace {

class VersionedMerger final : public Merger {
 public:
  VersionedMerger(std::shared_ptr<const KvTable> table, size_t column)
      : Merger(table->config().delete_behavior, true), column_(column), table_(std::move(table)) {
    const bool is_int = table_->latest().fields[column_].type.root == TypeRoot::kInteger;
    minimum_ = is_int ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  }

  Result<MergeVerdict> Merge(const std::optional<RowView>& old, const RowView& incoming,
                             MutableBuffer* /*out*/) override {
    if (!old) return MergeVerdict::kIncoming;
    STROM_ASSIGN(const Version old_version, VersionOf(*old));
    STROM_ASSIGN(const Version new_version, VersionOf(incoming));
    return old_version <= new_version ? MergeVerdict::kIncoming : MergeVerdict::kUnchanged;
  }

  Result<MergeVerdict> Delete(const RowView& /*old*/, MutableBuffer* /*out*/) override {
    return MakeError(ErrorCode::kDeletionDisabled, "table {}: the merge engine versioned has no deletes",
                     table_->info().path.ToString());
  }

 private:
  using Version = std::pair<int64_t, int32_t>;  // number or millis, nanoseconds of the millisecond

  /// A null version is the type's least value (spec/formats.md 13.4).
  Result<Version> VersionOf(const RowView& row) const {
    FieldView field;
    STROM_TRY(table_->ReadColumn(row, column_, &field));
    return field.is_null ? Version(minimum_, 0) : Version(field.number, field.nanos_of_milli);
  }

  size_t column_;
  int64_t minimum_;
  std::shared_ptr<const KvTable> table_;
};

}  // namespace

Result<std::unique_ptr<Merger>> MakeVersionedMerger(std::shared_ptr<const KvTable> table) {
  const std::string name = table->config().versioned_column.value_or("");
  const std::optional<size_t> column = table->latest().schema->FindColumn(name);
  if (!column) {
    return MakeError(ErrorCode::kInvalidConfig, "table {}: the version column '{}' is no column of the table",
                     table->info().path.ToString(), name);
  }
  switch (const model::DataType& type = table->latest().fields[*column].type; type.root) {
    case TypeRoot::kInteger:
    case TypeRoot::kBigInt:
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      break;
    default:
      return MakeError(
          ErrorCode::kInvalidConfig,
          "table {}: the version column {} has the type {}; INT, BIGINT, TIMESTAMP or TIMESTAMP_LTZ is expected",
          table->info().path.ToString(), name, type.ToString());
  }
  return std::unique_ptr<Merger>(std::make_unique<VersionedMerger>(std::move(table), *column));
}

}  // namespace strom::kv
