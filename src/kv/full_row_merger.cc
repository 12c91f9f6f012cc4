#include "kv/mergers.h"

namespace strom::kv {

namespace {

class FullRowMerger final : public Merger {
 public:
  explicit FullRowMerger(model::DeleteBehavior delete_behavior) : Merger(delete_behavior, false) {}

  Result<MergeVerdict> Merge(const std::optional<RowView>& /*old*/, const RowView& /*incoming*/,
                             MutableBuffer* /*out*/) override {
    // Also where both are the same: the reference writes -U and +U then, too (spec/server.md 10.2).
    return MergeVerdict::kIncoming;
  }
  Result<MergeVerdict> Delete(const RowView& /*old*/, MutableBuffer* /*out*/) override {
    return MergeVerdict::kRemoved;
  }
};

}  // namespace

std::unique_ptr<Merger> MakeFullRowMerger(model::DeleteBehavior delete_behavior) {
  return std::make_unique<FullRowMerger>(delete_behavior);
}

}  // namespace strom::kv
