#include "kv/mergers.h"

namespace strom::kv {

namespace {

class FirstRowMerger final : public Merger {
 public:
  explicit FirstRowMerger(const KvTable& table)
      : Merger(table.config().delete_behavior, true), table_(table.info().path.ToString()) {}

  Result<MergeVerdict> Merge(const std::optional<RowView>& old, const RowView& /*incoming*/,
                             MutableBuffer* /*out*/) override {
    return old ? MergeVerdict::kUnchanged : MergeVerdict::kIncoming;
  }
  Result<MergeVerdict> Delete(const RowView& /*old*/, MutableBuffer* /*out*/) override {
    // A table with this engine is not made with delete behaviour ALLOW; metadata from elsewhere may say so all the same.
    return MakeError(ErrorCode::kDeletionDisabled, "table {}: the merge engine first_row has no deletes", table_);
  }

 private:
  std::string table_;
};

}  // namespace

std::unique_ptr<Merger> MakeFirstRowMerger(const KvTable& table) { return std::make_unique<FirstRowMerger>(table); }

}  // namespace strom::kv
