#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/arrow_compression.h"
#include "format/change_type.h"
#include "format/field_view.h"
#include "format/log_batch_builder.h"
#include "format/row_codec.h"

namespace strom::format {

/// Builds ARROW log batches from rows as they lie in bytes: each field goes from its FieldView to its column's buffers, without a Value in
/// between. The batch is what BuildArrowLogBatch() makes of the same rows as Values, byte for byte (spec/formats.md 3). The buffers are kept from
/// batch to batch, so that a batch costs no allocation a row. Single owner.
class ArrowRowAppender {
 public:
  /// `fields` are the columns. Nested values of the rows are in `row_format`.
  ArrowRowAppender(std::vector<model::DataField> fields, RowFormat row_format, ArrowCompression compression);
  ~ArrowRowAppender();
  ArrowRowAppender(const ArrowRowAppender&) = delete;
  ArrowRowAppender& operator=(const ArrowRowAppender&) = delete;

  /// One record: a field for each column. kCorruptRecord, with the column, where a value does not fit its Arrow type or a nested value is no such
  /// value; then only Clear() may follow.
  Status Append(ChangeType type, std::span<const FieldView> row);
  int32_t record_count() const { return static_cast<int32_t>(change_types_.size()); }
  /// The batch, with change types unless `spec.append_only`; without records the batch that only takes an offset. Clears the appender.
  Result<Buffer> Finish(const LogBatchSpec& spec);
  void Clear();

 private:
  class Column;

  const std::vector<model::DataField> fields_;
  const std::optional<ArrowCodec> codec_;
  ArrowCompressor compressor_;
  std::vector<std::unique_ptr<Column>> columns_;
  std::vector<ChangeType> change_types_;
  std::vector<ArrowNode> nodes_;
  std::vector<ArrowBuffer> buffers_;
  MutableBuffer message_;
  MutableBuffer body_;
};

}  // namespace strom::format
