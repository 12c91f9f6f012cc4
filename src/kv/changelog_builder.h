#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/arrow_row_appender.h"
#include "format/change_type.h"
#include "format/log_batch_builder.h"
#include "kv/kv_table.h"

namespace strom::kv {

/// Builds the changelog batch of one PutKv batch in the table's log format, ARROW, INDEXED or COMPACTED, always in the latest schema and of magic 0
/// (spec/server.md 10.2). Keeps its buffers from batch to batch. Single owner.
class ChangelogBuilder {
 public:
  explicit ChangelogBuilder(std::shared_ptr<const KvTable> table);

  /// Starts a batch, with the writer of the PutKv batch.
  void Begin(WriterId writer, int32_t sequence);
  /// One record: a stored row of any of the table's schemas. After an error only Begin() may follow.
  Status Append(format::ChangeType type, const RowView& row);
  int32_t record_count() const { return record_count_; }
  /// The batch; without records the one that only takes an offset.
  Result<Buffer> Finish();

 private:
  Status AppendRowRecord(format::ChangeType type, const RowView& row);

  const std::shared_ptr<const KvTable> table_;
  /// A row of the latest schema is in the log as it is in the state.
  const bool copies_rows_;
  /// Nested values are in another format in the log than in the state: rows go through Values.
  const bool converts_nested_;
  std::unique_ptr<format::ArrowRowAppender> arrow_;  // null for the row formats
  std::optional<format::RowLogBatchBuilder> rows_;
  std::vector<format::FieldView> fields_;
  format::LogBatchSpec spec_;
  int32_t record_count_ = 0;
};

}  // namespace strom::kv
