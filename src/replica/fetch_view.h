#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/arrow_projection_read.h"
#include "format/predicate.h"
#include "log/log.h"
#include "meta/catalog.h"
#include "model/ids.h"
#include "rt/pieces.h"

namespace strom::replica {

/// How a fetch wants the batches of one table. Pointers may be null and live as long as the call.
struct FetchWish {
  const std::vector<int32_t>* projected_fields = nullptr;  // positions in the latest schema
  const format::Predicate* filter = nullptr;
  SchemaId filter_schema_id{};
  bool rewrite_statistics = false;  // magic 1 batches as magic 0
};

/// What is sent of a slice.
struct ViewedSlice {
  rt::Pieces records;
  LogOffset next_offset;
  bool complete = false;  // the slice was gone through to its end
  bool dropped_tail = false;  // the filter left out the last batches before next_offset
};

/// Turns slices of a bucket's log into what a fetch is sent: as they are, or projected, filtered, rewritten. One shard only; shared by the
/// buckets of the table.
class FetchView {
 public:
  FetchView(std::shared_ptr<const meta::TableEntry> table, const FetchWish& wish);

  /// True when slices go out as they are.
  bool plain() const { return positions_.empty() && !filter_ && !rewrite_; }
  bool filters() const { return filter_ != nullptr; }
  Result<ViewedSlice> Apply(const log::LogSlice& slice, uint64_t max_bytes, bool min_one_batch);

  const std::shared_ptr<const meta::TableEntry>& table() const { return table_; }

 private:
  Status RewriteStatistics(rt::Pieces* records) const;

  std::shared_ptr<const meta::TableEntry> table_;
  std::vector<int32_t> positions_;
  std::unique_ptr<format::BatchFilter> filter_;
  bool rewrite_ = false;
  format::SchemaLookup schemas_;
  format::ProjectionCache plans_;
};

/// The views of a shard. Those without a filter are kept, since the same projection is asked for again and again.
class FetchViewCache {
 public:
  /// kInvalidColumnProjection when the positions do not fit the table, or its log is not ARROW.
  Result<std::shared_ptr<FetchView>> Get(std::shared_ptr<const meta::TableEntry> table, const FetchWish& wish);

  static constexpr size_t kViewsMax = 1024;

 private:
  struct Key {
    TableId table_id;
    bool rewrite;
    std::vector<int32_t> positions;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::shared_ptr<FetchView>> views_;
};

}  // namespace strom::replica
