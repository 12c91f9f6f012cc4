#include <algorithm>

#include "kv/mergers.h"

namespace strom::kv {

using format::FieldView;

namespace {

class PartialUpdateMerger final : public Merger {
 public:
  PartialUpdateMerger(std::shared_ptr<const KvTable> table, TargetColumns target, model::DeleteBehavior delete_behavior)
      : Merger(delete_behavior, true), table_(std::move(table)), target_(std::move(target)) {}

  Result<MergeVerdict> Merge(const std::optional<RowView>& old, const RowView& incoming, MutableBuffer* out) override {
    if (old && target_.non_key.empty()) return MergeVerdict::kUnchanged;
    STROM_TRY(table_->ReadInLatest(incoming, &fields_));
    if (old) {
      STROM_TRY(table_->ReadInLatest(*old, &old_fields_));
      for (const size_t column : target_.kept) fields_[column] = old_fields_[column];
    } else {
      for (const size_t column : target_.kept) fields_[column] = FieldView::Null();
    }
    STROM_TRY(table_->WriteLatest(fields_, out));
    return MergeVerdict::kMerged;
  }

  Result<MergeVerdict> Delete(const RowView& old, MutableBuffer* out) override {
    return DeleteColumns(*table_, target_, old, &fields_, out);
  }

 private:
  std::shared_ptr<const KvTable> table_;
  TargetColumns target_;
  std::vector<FieldView> fields_;
  std::vector<FieldView> old_fields_;
};

}  // namespace

std::unique_ptr<Merger> MakePartialUpdateMerger(std::shared_ptr<const KvTable> table, TargetColumns target,
                                                model::DeleteBehavior delete_behavior) {
  return std::make_unique<PartialUpdateMerger>(std::move(table), std::move(target), delete_behavior);
}

Result<MergeVerdict> DeleteColumns(const KvTable& table, const TargetColumns& target, const RowView& old,
                                   std::vector<FieldView>* scratch, MutableBuffer* out) {
  STROM_TRY(table.ReadInLatest(old, scratch));
  std::vector<FieldView>& fields = *scratch;
  const bool others_are_null =
      std::all_of(target.kept.begin(), target.kept.end(), [&](size_t column) { return fields[column].is_null; });
  if (others_are_null) return MergeVerdict::kRemoved;
  for (const size_t column : target.non_key) fields[column] = FieldView::Null();
  STROM_TRY(table.WriteLatest(fields, out));
  return MergeVerdict::kMerged;
}

}  // namespace strom::kv
