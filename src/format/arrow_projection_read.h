#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "format/arrow_projection.h"
#include "format/predicate.h"
#include "model/ids.h"
#include "rt/file.h"
#include "rt/pieces.h"

namespace strom::format {

/// Plans by (schema of the batch, latest schema, columns). Belongs to one table on one shard; single owner.
class ProjectionCache {
 public:
  /// kSchemaNotExist when `schemas` lacks one of the ids, else as ProjectionPlan::Make.
  Result<std::shared_ptr<const ProjectionPlan>> Plan(SchemaId batch_schema, SchemaId table_schema, std::span<const int32_t> positions,
                                                     const SchemaLookup& schemas);
  size_t size() const { return plans_.size(); }

  /// Clients choose columns freely, so the cache starts anew when it is full.
  static constexpr size_t kPlansMax = 256;

 private:
  using Key = std::tuple<SchemaId, SchemaId, std::vector<int32_t>>;
  std::map<Key, std::shared_ptr<const ProjectionPlan>> plans_;
};

/// Whole batches of one file (log::LogSlice), ARROW format, and what of them is wanted.
struct ProjectSliceRequest {
  std::shared_ptr<const rt::File> file;
  uint64_t position = 0;
  uint64_t size = 0;
  LogOffset first_offset{0};  // of the first batch; next_offset of the result when there is none

  SchemaId table_schema{0};               // the latest
  std::span<const int32_t> positions = {};  // in the latest schema, CheckProjection passed; empty: whole batches
  BatchFilter* filter = nullptr;       // null: all batches

  uint64_t max_bytes = 0;      // of the projected bytes
  bool min_one_batch = false;  // the first kept batch may be larger than that
};

struct ProjectedRead {
  rt::Pieces records;
  LogOffset next_offset;        // after the last batch that was sent or dropped
  uint64_t batches_sent = 0;
  uint64_t batches_dropped = 0;  // by the filter
  bool complete = false;         // the slice was scanned to its end: the size limit did not stop it
  /// Set when the last batch was dropped and the size limit did not stop the scan, or when all were: the client goes on from here if it
  /// is beyond the end of `records`.
  std::optional<LogOffset> filtered_end_offset;
};

/// Reads what is needed of the slice and composes the answer: headers and small columns in memory, large columns as file ranges. Of a
/// large batch only the header, Arrow metadata and the wanted buffers are read; batches of a few KiB are read whole, many at once.
///
/// Batches without a record's bytes pass unchanged and do not count against the limit. A batch that cannot be projected ends the answer
/// before it, or is the error when it comes first: kCorruptRecord (metadata), kCorruptData (the slice is no chain of whole
/// batches), kSchemaNotExist, kInvalidColumnProjection, kIoError.
/// Source: spec/formats.md 5 and 6.
Result<ProjectedRead> ProjectSlice(const ProjectSliceRequest& request, const SchemaLookup& schemas, ProjectionCache* cache);

}  // namespace strom::format
