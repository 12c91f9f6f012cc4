#include "log/log.h"

#include <algorithm>

#include "base/log.h"
#include "log/log_file_names.h"

namespace strom::log {

Log::Log(LogEnvironment environment, std::string directory, model::TableBucket bucket, const LogOptions& options)
    : environment_(std::move(environment)),
      directory_(std::move(directory)),
      bucket_(bucket),
      options_(options),
      writers_(options.writer_expiry_ms) {}

Log::~Log() = default;

/// The segment that holds `offset`, which is not below the local start.
size_t Log::SegmentIndexOf(LogOffset offset) const {
  if (offset >= segments_.back()->base_offset()) return segments_.size() - 1;
  const auto above = std::partition_point(segments_.begin(), segments_.end(), [offset](const std::unique_ptr<Segment>& segment) {
    return segment->base_offset() <= offset;
  });
  return static_cast<size_t>(above - segments_.begin()) - 1;
}

Status Log::EnsureLoaded(size_t index) {
  Segment& segment = *segments_[index];
  if (segment.loaded()) return Status::OK();
  Result<LogOffset> end = segment.Load(context());
  if (end.ok() && *end != SegmentEnd(index)) {
    end = MakeError(ErrorCode::kCorruptData, "{} ends at offset {}, but the next segment begins at {}",
                    LogFilePath(directory_, segment.base_offset(), kLogSuffix), *end, SegmentEnd(index));
  }
  if (end.code() == ErrorCode::kNotFound) {
    end = MakeError(ErrorCode::kCorruptData, "a segment is gone: {}", end.error().message);
  }
  if (end.code() == ErrorCode::kCorruptData) Fail(end.error());
  return end.status();
}

void Log::Fail(Error error) {
  if (!failure_.ok()) return;
  STROM_LOG_ERROR("{} is refused: {}", bucket_.ToString(), error.message);
  error.message = fmt::format("{} is refused: {}", bucket_.ToString(), error.message);
  failure_ = std::move(error);
}

void Log::NameChanged(std::string directory) {
  ++names_version_;
  if (std::find(names_to_sync_.begin(), names_to_sync_.end(), directory) == names_to_sync_.end()) {
    names_to_sync_.push_back(std::move(directory));
  }
}

void Log::ForgetPositions() {
  tail_.Clear();
  cursors_.Clear();
}

void Log::DropCaches() {
  tail_.Free();
  cursors_.Clear();
  for (const std::unique_ptr<Segment>& segment : segments_) {
    // Entries that cannot be written now stay in memory.
    if (failure_.ok()) (void)segment->FlushIndexes(context());
    segment->CloseFiles();
  }
}

Result<uint64_t> Log::size_bytes() {
  uint64_t total = 0;
  for (const std::unique_ptr<Segment>& segment : segments_) {
    STROM_ASSIGN(const uint64_t size, segment->SizeOnDisk(context()));
    total += size;
  }
  return total;
}

Status Log::AddSegment(LogOffset base_offset) {
  STROM_ASSIGN(std::unique_ptr<Segment> segment, Segment::Create(context(), base_offset));
  segments_.push_back(std::move(segment));
  NameChanged(directory_);
  tail_.Clear();
  return Status::OK();
}

Status Log::Roll() {
  STROM_TRY(failure_);
  if (active().size() == 0) return Status::OK();
  // What is not written now is written with the sync of the segment.
  (void)active().FlushIndexes(context());
  STROM_TRY(AddSegment(log_end_));
  rolled_unflushed_ = true;
  // The snapshot spares a replay; without it the older one is replayed further.
  const Status taken = TakeWriterSnapshot();
  if (!taken.ok()) STROM_LOG_WARN("{}: no writer snapshot at {}: {}", bucket_.ToString(), log_end_, taken.error().message);
  return Status::OK();
}

Status Log::WriteEpochs() {
  return files().ReplaceFile(directory_ + "/" + LeaderEpochHistory::kFileName, AsBytes(epochs_.Encode()));
}

Status Log::BeginLeaderEpoch(LeaderEpoch epoch) {
  STROM_TRY(failure_);
  const LeaderEpochHistory before = epochs_;
  if (!epochs_.Assign(epoch, log_end_)) return Status::OK();
  const Status written = WriteEpochs();
  if (!written.ok()) epochs_ = before;
  return written;
}

}  // namespace strom::log
