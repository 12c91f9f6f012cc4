#include <algorithm>
#include <limits>

#include "replica/replica.h"

namespace strom::replica {

namespace {

/// Segments that one fetch goes through when a filter drops everything in them (spec/server.md 8.4).
constexpr int kFilteredSlicesMax = 16;

/// Bytes of the log that one projected or filtered read goes through: it bounds how long the shard is busy with one fetch.
constexpr uint64_t kViewedSliceMax = 64ULL << 20;

}  // namespace

Result<ReadOutcome> Replica::Read(const ReadRequest& request, FetchView& view) {
  STROM_TRY(CheckServing());
  const LogOffset bound = committed_.current();
  ReadOutcome outcome{{}, bound, log_->log_start_offset(), std::nullopt};
  LogOffset offset = request.offset;
  for (int slices = 0; slices < kFilteredSlicesMax; ++slices) {
    // A projection shrinks batches: max_bytes is of what is sent, and the view counts it.
    const uint64_t slice_max = view.plain() ? request.max_bytes : kViewedSliceMax;
    Result<log::LogSlice> slice = log_->Read(
        {.offset = offset, .bound = bound, .max_bytes = slice_max, .min_one_batch = request.min_one_batch});
    if (!slice.ok()) {
      if (!log_->failure().ok()) Refuse(log_->failure().error());
      return slice.error();
    }
    if (slice->size == 0) break;
    STROM_ASSIGN(ViewedSlice viewed, view.Apply(*slice, request.max_bytes, request.min_one_batch));
    outcome.records = std::move(viewed.records);
    if (viewed.dropped_tail) outcome.filtered_end_offset = viewed.next_offset;
    // A slice that a filter dropped whole is no answer yet: the next segment may have one.
    if (!view.filters() || !outcome.records.empty() || !viewed.complete) break;
    offset = viewed.next_offset;
  }
  return outcome;
}

Result<rt::Pieces> Replica::ReadLast(int64_t limit, FetchView& view) {
  STROM_TRY(CheckServing());
  rt::Pieces records;
  if (limit <= 0) return records;
  const LogOffset bound = committed_.current();
  LogOffset offset(std::max(log_->log_start_offset().value(), bound.value() - limit));
  while (offset < bound) {
    Result<log::LogSlice> slice = log_->Read({.offset = offset,
                                              .bound = bound,
                                              .max_bytes = std::numeric_limits<uint64_t>::max(),
                                              .min_one_batch = true});
    if (!slice.ok()) {
      if (!log_->failure().ok()) Refuse(log_->failure().error());
      return slice.error();
    }
    if (slice->size == 0) break;
    STROM_ASSIGN(ViewedSlice viewed, view.Apply(*slice, std::numeric_limits<uint64_t>::max(), true));
    records.Add(std::move(viewed.records));
    offset = viewed.next_offset;
  }
  return records;
}

}  // namespace strom::replica
