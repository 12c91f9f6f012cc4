#include <algorithm>

#include "base/log.h"
#include "log/batch_walker.h"
#include "log/log.h"

namespace strom::log {

Result<LogSlice> Log::Read(const ReadRequest& request) {
  STROM_TRY(failure_);
  if (request.offset < local_start_offset() || request.offset > log_end_) {
    return MakeError(ErrorCode::kLogOffsetOutOfRange, "{}: offset {} is outside of the log, which holds [{}, {})", bucket_.ToString(),
                     request.offset, local_start_offset(), log_end_);
  }
  ReadRequest bounded = request;
  bounded.bound = std::min(request.bound, log_end_);
  if (request.offset >= bounded.bound) return LogSlice{nullptr, 0, 0, request.offset, request.offset};
  return ReadSegment(SegmentIndexOf(request.offset), bounded);
}

/// Batches whose headers are cached: no read at all.
LogSlice Log::ReadTail(const ReadRequest& request, size_t first_batch) {
  LogSlice slice{nullptr, tail_.at(first_batch).position, 0, tail_.at(first_batch).base_offset, request.offset};
  for (size_t i = first_batch; i < tail_.size(); ++i) {
    const uint32_t size = tail_.at(i).size;
    const LogOffset next = i + 1 < tail_.size() ? tail_.at(i + 1).base_offset : log_end_;
    if (next > request.bound) break;
    if (slice.size + size > request.max_bytes && !(i == first_batch && request.min_one_batch)) break;
    slice.size += size;
    slice.next_offset = next;
  }
  return slice;
}

/// Walks headers from `from` to the batch that holds the offset and on to the slice's end. `first`: the base offset of the batch there, -1 if not known.
Result<Log::WalkResult> Log::WalkSlice(size_t index, const IndexFloor& from, LogOffset first, const ReadRequest& request) {
  Segment& segment = *segments_[index];
  STROM_ASSIGN(rt::File* const file, segment.LogFile(context()));
  WalkResult result;
  LogSlice& slice = result.slice;
  slice = {nullptr, from.position, 0, request.offset, request.offset};
  const LogOffset segment_end = SegmentEnd(index);
  BatchWalker walker(*file, from.position, segment.size(), first, options_.magic_max);
  bool entry_met = from.last_offset.value() < 0;
  bool found = false;
  while (walker.Next()) {
    const format::LogBatchHeader& header = walker.header();
    // An index that sends us astray shows here, and so does a first header that lies; the walker checks that what follows is dense.
    entry_met = entry_met || header.last_offset() == from.last_offset;
    const bool astray = header.base_offset > request.offset || (header.last_offset() >= request.offset && !entry_met);
    if (header.next_offset() > segment_end || (!found && astray)) {
      result.broken = true;
      result.error = MakeError(ErrorCode::kCorruptData, "{} at {}: a batch of offsets {} to {} where {} is looked for", file->path(),
                               walker.position(), header.base_offset, header.last_offset(), request.offset);
      return result;
    }
    if (!found && header.last_offset() < request.offset) continue;
    if (header.next_offset() > request.bound) break;
    if (slice.size + header.total_size > request.max_bytes && !(!found && request.min_one_batch)) break;
    if (!found) {
      found = true;
      slice.position = walker.position();
      slice.first_batch_offset = header.base_offset;
    }
    slice.size += header.total_size;
    slice.next_offset = header.next_offset();
    if (slice.size >= request.max_bytes || slice.next_offset >= request.bound) break;
  }
  if (walker.status().code() == ErrorCode::kCorruptData) {
    result.broken = true;
    result.error = walker.status().error();
    return result;
  }
  STROM_TRY(walker.status());
  const bool at_end = walker.next_position() >= segment.size();
  if (at_end && walker.header().next_offset() != segment_end) {
    result.broken = true;
    result.error = MakeError(ErrorCode::kCorruptData, "{} ends at {} with offset {} where {} must be", file->path(), segment.size(),
                             walker.header().next_offset(), segment_end);
  }
  return result;
}

Result<LogSlice> Log::ReadSegment(size_t index, const ReadRequest& request) {
  STROM_TRY(EnsureLoaded(index));
  Segment& segment = *segments_[index];
  WalkResult walked;
  const std::optional<size_t> in_tail = index + 1 == segments_.size() ? tail_.Find(request.offset) : std::nullopt;
  if (in_tail) {
    walked.slice = ReadTail(request, *in_tail);
  } else {
    IndexFloor from;
    LogOffset first = segment.base_offset();
    const std::optional<uint64_t> known = cursors_.Find(segment.base_offset(), request.offset);
    if (known) {
      from.position = *known;
      first = request.offset;
    } else if (request.offset != segment.base_offset()) {
      STROM_ASSIGN(from, segment.Floor(context(), request.offset));
      if (from.position > 0) first = LogOffset(-1);
    }
    STROM_ASSIGN(walked, WalkSlice(index, from, first, request));
    if (walked.broken && from.last_offset.value() >= 0) {
      // Either the index lies or the log does: the headers from the start of the segment on decide.
      STROM_LOG_WARN("{}: the index of segment {} is rebuilt: {}", bucket_.ToString(), segment.base_offset(), walked.error.message);
      const Status rebuilt = segment.RebuildIndexes(context());
      if (rebuilt.code() == ErrorCode::kCorruptData) {
        Fail(rebuilt.error());
        return failure_.error();
      }
      STROM_TRY(rebuilt);
      STROM_ASSIGN(walked, WalkSlice(index, {}, segment.base_offset(), request));
    }
    if (walked.broken) {
      Fail(walked.error);
      return failure_.error();
    }
  }
  LogSlice& slice = walked.slice;
  if (slice.size == 0) return LogSlice{nullptr, 0, 0, request.offset, request.offset};
  STROM_ASSIGN(slice.file, segment.SharedLogFile(context()));
  if (slice.next_offset < SegmentEnd(index)) {
    cursors_.Note(segment.base_offset(), request.offset, slice.next_offset, slice.position + slice.size);
  }
  return slice;
}

/// The base offset of the segment's first batch from `position` on that is stamped at or after `time`. `may_be_late`: it is the first one met, so
/// an earlier one may be stamped so, too.
Result<std::optional<LogOffset>> Log::FindTimestamp(size_t index, uint64_t position, TimestampMs time, bool* may_be_late) {
  Segment& segment = *segments_[index];
  STROM_ASSIGN(rt::File* const file, segment.LogFile(context()));
  BatchWalker walker(*file, position, segment.size(), position == 0 ? segment.base_offset() : LogOffset(-1), options_.magic_max);
  *may_be_late = position > 0;
  while (walker.Next()) {
    if (walker.header().commit_timestamp >= time) return std::optional(walker.header().base_offset);
    *may_be_late = false;
  }
  STROM_TRY(walker.status());
  return std::optional<LogOffset>();
}

Result<LogOffset> Log::OffsetForTimestamp(TimestampMs time, LogOffset high_watermark) {
  STROM_TRY(failure_);
  if (time > std::max(environment_.wall_clock(), max_timestamp_)) {
    return MakeError(ErrorCode::kInvalidTimestamp, "{}: no offset for the time {}, which lies in the future", bucket_.ToString(), time);
  }
  if (time > max_timestamp_) return high_watermark;
  for (size_t index = 0; index < segments_.size(); ++index) {
    STROM_TRY(EnsureLoaded(index));
    Segment& segment = *segments_[index];
    if (segment.size() == 0 || segment.max_timestamp() < time) continue;
    STROM_ASSIGN(const uint64_t position, segment.TimeFloorPosition(context(), time));
    bool may_be_late = false;
    Result<std::optional<LogOffset>> found = FindTimestamp(index, position, time, &may_be_late);
    const bool astray = found.code() == ErrorCode::kCorruptData || (found.ok() && (!*found || may_be_late));
    if (astray && position > 0) found = FindTimestamp(index, 0, time, &may_be_late);
    if (found.code() == ErrorCode::kCorruptData) Fail(found.error());
    STROM_ASSIGN(const std::optional<LogOffset> offset, std::move(found));
    if (offset) return std::min(*offset, high_watermark);
  }
  return high_watermark;
}

/// Where the batch that holds `offset` begins, and its base offset.
Result<std::pair<uint64_t, LogOffset>> Log::LocateBatch(size_t index, LogOffset offset) {
  Segment& segment = *segments_[index];
  if (offset == segment.base_offset()) return std::pair(uint64_t{0}, offset);
  STROM_ASSIGN(const IndexFloor floor, segment.Floor(context(), offset));
  STROM_ASSIGN(rt::File* const file, segment.LogFile(context()));
  for (const IndexFloor& from : {floor, IndexFloor{}}) {
    BatchWalker walker(*file, from.position, segment.size(), from.position == 0 ? segment.base_offset() : LogOffset(-1), options_.magic_max);
    bool entry_met = from.last_offset.value() < 0;
    while (walker.Next()) {
      const format::LogBatchHeader& header = walker.header();
      entry_met = entry_met || header.last_offset() == from.last_offset;
      if (header.base_offset > offset) break;
      if (header.last_offset() < offset) continue;
      if (!entry_met) break;
      return std::pair(walker.position(), header.base_offset);
    }
    if (walker.status().code() == ErrorCode::kIoError) return walker.status().error();
  }
  return MakeError(ErrorCode::kCorruptData, "{} holds no batch with offset {}", file->path(), offset);
}

}  // namespace strom::log
