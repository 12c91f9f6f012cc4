#include <algorithm>

#include "base/log.h"
#include "log/log.h"
#include "log/log_file_names.h"
#include "log/segment_scan.h"
#include "log/stamp_age.h"

namespace strom::log {

/// Takes a segment out of the log and removes its files, with the writer snapshot of its base.
Status Log::DropSegment(size_t index) {
  const std::unique_ptr<Segment> segment = std::move(segments_[index]);
  segments_.erase(segments_.begin() + static_cast<ptrdiff_t>(index));
  NameChanged(directory_);
  Status removed = segment->RemoveFiles(context());
  if (newest_snapshot_ != segment->base_offset()) {
    const Status snapshot = files().Remove(LogFilePath(directory_, segment->base_offset(), kWriterSnapshotSuffix));
    if (removed.ok() && snapshot.code() != ErrorCode::kNotFound) removed = snapshot;
  }
  return removed;
}

Status Log::DeleteExpired(const RetentionRequest& request) {
  STROM_TRY(failure_);
  if (request.ttl_ms <= 0 || request.bound < local_start_offset() || request.bound > log_end_) return Status::OK();
  const auto expired = [&](const Segment& segment) {
    return IsOlderThan(segment.max_timestamp(), request.now, request.ttl_ms);
  };
  size_t gone = 0;
  uint64_t bytes = 0;
  while (segments_.size() > 1 && segments_[1]->base_offset() <= request.bound) {
    STROM_TRY(EnsureLoaded(0));
    if (!expired(*segments_[0])) break;
    // One name after the other reaches the disk, oldest first: a power loss in between leaves no hole in the log.
    if (gone > 0) STROM_TRY(files().SyncDirectory(directory_));
    bytes += segments_[0]->size();
    STROM_TRY(DropSegment(0));
    flushed_ = std::max(flushed_, local_start_offset());
    ++gone;
  }
  if (gone > 0) {
    cursors_.Clear();
    epochs_.TruncateBelow(local_start_offset());  // the file follows with the next epoch
    STROM_LOG_INFO("{}: {} expired segments ({} bytes) are deleted; the log starts at {}", bucket_.ToString(), gone, bytes,
                   local_start_offset());
  }
  const bool all_but_active = segments_.size() == 1;
  if (request.roll_active && all_but_active && active().size() > 0 && request.bound >= log_end_ && expired(active())) return Roll();
  return Status::OK();
}

Status Log::TruncateTo(LogOffset offset) {
  STROM_TRY(failure_);
  if (offset >= log_end_) return Status::OK();
  if (offset <= local_start_offset()) return TruncateFullyAndStartAt(offset);
  STROM_LOG_WARN("{}: truncated from {} to {}", bucket_.ToString(), log_end_, offset);
  const std::string mark = directory_ + "/" + kTruncationMark;
  STROM_TRY(files().Open(mark, {.write = true, .create = true}));
  ++truncations_;
  ForgetPositions();
  while (segments_.back()->base_offset() > offset) {
    log_end_ = segments_.back()->base_offset();
    STROM_TRY(DropSegment(segments_.size() - 1));
  }
  const size_t last = segments_.size() - 1;
  STROM_TRY(EnsureLoaded(last));
  STROM_ASSIGN(const auto cut, LocateBatch(last, offset));
  Status truncated = active().Truncate(context(), cut.first, cut.second);
  // What is cut must not come back in a power loss, between what is appended from now on.
  std::vector<std::shared_ptr<rt::File>> cut_files;
  if (truncated.ok()) truncated = active().CollectForSync(context(), /*indexes=*/false, &cut_files);
  for (const std::shared_ptr<rt::File>& file : cut_files) {
    if (truncated.ok()) truncated = file->Sync();
  }
  if (truncated.ok()) truncated = files().SyncDirectory(directory_);
  if (truncated.ok()) truncated = files().Remove(mark);
  if (!truncated.ok()) {
    Fail(MakeError(truncated.code(), "a truncation failed half way: {}", truncated.error().message));
    return failure_;
  }
  NameChanged(directory_);
  log_end_ = cut.second;
  flushed_ = std::min(flushed_, log_end_);
  STROM_TRY(DeleteWriterSnapshotsAbove(log_end_));
  if (epochs_.TruncateTo(log_end_)) STROM_TRY(WriteEpochs());
  return RebuildWriterState({});
}

Status Log::TruncateFullyAndStartAt(LogOffset offset) {
  STROM_TRY(failure_);
  STROM_LOG_WARN("{}: all of [{}, {}) is dropped; the log starts again at {}", bucket_.ToString(), local_start_offset(), log_end_, offset);
  ++truncations_;
  ForgetPositions();
  while (segments_.size() > 1) STROM_TRY(DropSegment(segments_.size() - 1));
  const std::unique_ptr<Segment> old = std::move(segments_.back());
  segments_.pop_back();
  Status restarted = old->RemoveFiles(context());
  // The old names are gone for good before the new one is there: they must never stand side by side.
  if (restarted.ok()) restarted = files().SyncDirectory(directory_);
  if (restarted.ok()) restarted = AddSegment(offset);
  if (!restarted.ok()) {
    segments_.push_back(std::make_unique<Segment>(offset));
    Fail(MakeError(restarted.code(), "the log could not be started again at {}: {}", offset, restarted.error().message));
    return failure_;
  }
  log_end_ = flushed_ = offset;
  writers_.Clear();
  STROM_TRY(DeleteWriterSnapshotsAbove(LogOffset(-1)));
  if (epochs_.TruncateTo(LogOffset(0))) STROM_TRY(WriteEpochs());
  return Status::OK();
}

}  // namespace strom::log
