#include "kv/aggregate.h"
#include "kv/mergers.h"

namespace strom::kv {

using format::FieldView;

namespace {

class AggregationMerger final : public Merger {
 public:
  AggregationMerger(std::shared_ptr<const KvTable> table, std::optional<TargetColumns> target,
                    std::vector<ColumnAggregate> aggregates)
      : Merger(table->config().delete_behavior, true),
        table_(std::move(table)),
        target_(std::move(target)),
        aggregates_(std::move(aggregates)) {}

  Result<MergeVerdict> Merge(const std::optional<RowView>& old, const RowView& incoming, MutableBuffer* out) override {
    if (!old) return MergeVerdict::kIncoming;
    STROM_TRY(table_->ReadInLatest(*old, &fields_));
    STROM_TRY(table_->ReadInLatest(incoming, &incoming_fields_));
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (target_ && !target_->is_target[i]) continue;
      STROM_TRY(aggregates_[i].Fold(incoming_fields_[i], &fields_[i]));
    }
    STROM_TRY(table_->WriteLatest(fields_, out));
    return MergeVerdict::kMerged;
  }

  Result<MergeVerdict> Delete(const RowView& old, MutableBuffer* out) override {
    if (!target_) return MergeVerdict::kRemoved;
    return DeleteColumns(*table_, *target_, old, &fields_, out);
  }

 private:
  std::shared_ptr<const KvTable> table_;
  std::optional<TargetColumns> target_;
  std::vector<ColumnAggregate> aggregates_;  // of each column of the latest schema
  std::vector<FieldView> fields_;
  std::vector<FieldView> incoming_fields_;
};

}  // namespace

Result<std::unique_ptr<Merger>> MakeAggregationMerger(std::shared_ptr<const KvTable> table,
                                                      std::optional<TargetColumns> target) {
  std::vector<ColumnAggregate> aggregates;
  for (const model::Column& column : table->latest().schema->columns) {
    STROM_ASSIGN(ColumnAggregate aggregate, ColumnAggregate::Make(column));
    aggregates.push_back(std::move(aggregate));
  }
  for (const size_t column : table->primary_key_columns()) aggregates[column] = ColumnAggregate::LastValue();
  return std::unique_ptr<Merger>(
      std::make_unique<AggregationMerger>(std::move(table), std::move(target), std::move(aggregates)));
}

}  // namespace strom::kv
