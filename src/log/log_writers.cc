// The writer snapshots of a log: taken at its end, found again, replayed from (spec/server.md 8.5, formats.md 10.4).

#include <algorithm>

#include "base/log.h"
#include "log/batch_walker.h"
#include "log/log.h"
#include "log/log_file_names.h"
#include "log/segment_scan.h"
#include "log/writer_snapshot.h"

namespace strom::log {

/// At the log end, unless the newest one is there already. Not durable until the next sync.
Status Log::TakeWriterSnapshot() {
  if (newest_snapshot_ ? *newest_snapshot_ >= log_end_ : log_end_.value() == 0) return Status::OK();
  writers_.RemoveExpired(max_timestamp_);
  const std::string path = LogFilePath(directory_, log_end_, kWriterSnapshotSuffix);
  const std::string text = WriterSnapshot::Of(writers_).Encode(WriterSnapshot::Form::kStrom);
  const std::string temporary = path + ".tmp";
  {
    STROM_ASSIGN(const std::shared_ptr<rt::File> file, files().Open(temporary, {.write = true, .create = true}));
    STROM_TRY(file->Truncate(0));
    const ByteView piece = AsBytes(text);
    STROM_TRY(file->WriteAt(0, {&piece, 1}));
  }
  STROM_TRY(files().Rename(temporary, path));
  newest_snapshot_ = log_end_;
  files_to_sync_.push_back(path);
  NameChanged(directory_);
  return Status::OK();
}

Result<std::vector<LogOffset>> Log::ListWriterSnapshots() const {
  STROM_ASSIGN(const std::vector<rt::DirectoryEntry> entries, files().List(directory_));
  std::vector<LogOffset> offsets;
  for (const rt::DirectoryEntry& entry : entries) {
    if (const auto offset = ParseLogFileName(entry.name, kWriterSnapshotSuffix)) offsets.push_back(*offset);
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

/// Durably: a snapshot of a history that was cut off must never meet the log that grew in its place.
Status Log::DeleteWriterSnapshotsAbove(LogOffset offset) {
  STROM_ASSIGN(const std::vector<LogOffset> snapshots, ListWriterSnapshots());
  newest_snapshot_.reset();
  bool deleted = false;
  for (const LogOffset snapshot : snapshots) {
    if (snapshot <= offset) {
      newest_snapshot_ = snapshot;
      continue;
    }
    STROM_TRY(files().Remove(LogFilePath(directory_, snapshot, kWriterSnapshotSuffix)));
    deleted = true;
  }
  return deleted ? files().SyncDirectory(directory_) : Status::OK();
}

/// The newest readable snapshot at or below the log end, then the batches from there on. Those of `scanned`, the last segments, are known already.
Status Log::RebuildWriterState(const std::vector<SegmentScan>& scanned) {
  writers_.Clear();
  newest_snapshot_.reset();
  STROM_ASSIGN(std::vector<LogOffset> snapshots, ListWriterSnapshots());
  LogOffset from = local_start_offset();
  for (; !snapshots.empty(); snapshots.pop_back()) {
    const LogOffset offset = snapshots.back();
    if (offset > log_end_) continue;
    if (offset < local_start_offset()) break;
    const std::string path = LogFilePath(directory_, offset, kWriterSnapshotSuffix);
    STROM_ASSIGN(const Buffer text, files().ReadAll(path));
    const Result<WriterSnapshot> snapshot = WriterSnapshot::Decode(text.view());
    if (!snapshot.ok()) {
      STROM_LOG_WARN("{}: {} is deleted, an older one or the log itself is read instead: {}", bucket_.ToString(), path,
                     snapshot.error().message);
      STROM_TRY(files().Remove(path));
      NameChanged(directory_);
      continue;
    }
    snapshot->RestoreTo(writers_);
    newest_snapshot_ = offset;
    from = offset;
    break;
  }
  STROM_TRY(ReplayWriters(from, scanned.empty() ? log_end_ : scanned.front().base_offset));
  for (const SegmentScan& scan : scanned) {
    for (const auto& [writer, entry] : scan.writers.writers()) {
      for (const WriterBatch& batch : entry.batches()) {
        if (batch.first_offset() >= from) writers_.Replay(writer, batch);
      }
    }
  }
  writers_.RemoveExpired(max_timestamp_);
  return Status::OK();
}

/// Takes the writers of all batches in [from, to), which are batch boundaries.
Status Log::ReplayWriters(LogOffset from, LogOffset to) {
  if (from >= to) return Status::OK();
  for (size_t index = SegmentIndexOf(from); index < segments_.size() && segments_[index]->base_offset() < to; ++index) {
    STROM_TRY(EnsureLoaded(index));
    Segment& segment = *segments_[index];
    if (segment.size() == 0) continue;
    STROM_ASSIGN(const auto start, LocateBatch(index, std::max(from, segment.base_offset())));
    STROM_ASSIGN(rt::File* const file, segment.LogFile(context()));
    BatchWalker walker(*file, start.first, segment.size(), start.second, options_.magic_max);
    while (walker.Next()) {
      const format::LogBatchHeader& header = walker.header();
      if (header.base_offset >= to) break;
      if (header.writer_id == kNoWriterId || header.base_offset < from) continue;
      writers_.Replay(header.writer_id, WriterBatchOf(header));
    }
    STROM_TRY(walker.status());
  }
  return Status::OK();
}

}  // namespace strom::log
