#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/arrow_layout.h"
#include "format/arrow_metadata.h"
#include "format/log_batch.h"
#include "model/schema.h"

namespace strom::format {

/// Positions of the columns of a projection in the table's latest schema: not empty, strictly ascending, all below
/// `column_count`; else kInvalidColumnProjection. Source: spec/formats.md 5.
Status CheckProjection(std::span<const int32_t> positions, size_t column_count);

/// Where the Arrow message of a batch starts, relative to the batch: after header, statistics and change types.
/// kCorruptRecord when that is beyond the batch's end.
Result<size_t> ArrowMessageOffset(const LogBatchHeader& header);

/// What a projection does to every batch of one schema: which nodes and buffers it takes and which columns it makes up. Immutable.
class ProjectionPlan {
 public:
  /// `positions` of `table_schema` (the latest; CheckProjection passed) of batches written with `batch_schema`. Columns are the same
  /// when their ids are; those that `batch_schema` lacks will be null in every record. kInvalidColumnProjection when a column
  /// has another type there.
  static Result<ProjectionPlan> Make(const model::Schema& batch_schema, const model::Schema& table_schema,
                                     std::span<const int32_t> positions);

 private:
  friend class BatchProjector;
  /// Neighbouring columns that are all in the batch, or all missing.
  struct Run {
    bool missing = false;
    uint32_t first_node = 0;  // of the batch, or in missing_nodes_
    uint32_t node_count = 0;
    uint32_t first_buffer = 0;  // of the batch
    uint32_t buffer_count = 0;
  };

  std::vector<Run> runs_;
  std::vector<ArrowNodeLayout> missing_nodes_;
  size_t batch_node_count_ = 0;  // what batches of the schema have
  size_t batch_buffer_count_ = 0;
  size_t node_count_ = 0;  // what the projection has
  size_t buffer_count_ = 0;
};

/// A stretch of a projected batch's body.
struct BodyPiece {
  enum class Kind : uint8_t {
    kRange,    // bytes of the batch
    kZeros,    // zero bytes
    kRawMark,  // bytes FF: the i64 -1 before a buffer that is stored uncompressed in a compressed batch
  };
  Kind kind = Kind::kRange;
  uint64_t offset = 0;  // kRange: from the start of the batch
  uint64_t size = 0;
  bool operator==(const BodyPiece&) const = default;
};

/// A projected batch: `head` (new header, change types, new Arrow metadata), then the pieces of the body. Made anew for each
/// batch in the same memory.
struct ProjectedBatch {
  MutableBuffer head;
  std::vector<BodyPiece> body;
  uint64_t size = 0;  // of all of it
};

/// Projects one batch; work and memory depend on the number of columns, not of records.
///
/// `head` holds the batch's bytes from the header through the Arrow metadata, ArrowMessageOffset() + ReadArrowMetadataSize() of
/// them, and may go on. The batch must be longer than its header: an empty one is passed on as it is. The CRC of the result
/// is the original's and so does not match; readers of projections do not check it. Buffers stay compressed as they are, with the
/// codec of the batch's own metadata. kCorruptRecord when metadata and schema or header do not fit together.
/// Source: spec/formats.md 5.
Status ProjectBatch(const ProjectionPlan& plan, const LogBatchHeader& header, ByteView head, ProjectedBatch* projected);

}  // namespace strom::format
