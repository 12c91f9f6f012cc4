// How a log comes up (spec/server.md 8.6; design.md 3, "What a bad batch means"). First everything is read and judged; only then is anything changed,
// so that a bucket that is refused keeps every byte.

#include <algorithm>
#include <set>

#include "base/log.h"
#include "log/log.h"
#include "log/log_file_names.h"
#include "log/segment_scan.h"

namespace strom::log {

namespace {

constexpr size_t kOpenFilesMax = 32;  // while one log is opened
constexpr size_t kCopyPiece = 1 << 20;

/// What a directory holds, by kind.
struct DirectoryContent {
  std::vector<LogOffset> segments;  // ascending
  std::set<LogOffset> indexes;      // of either kind
  bool truncating = false;          // a truncation was cut short
  std::vector<std::string> leftovers;  // temporary files of a process that died
};

Result<DirectoryContent> ReadContent(rt::FileSystem& files, const std::string& directory) {
  STROM_ASSIGN(const std::vector<rt::DirectoryEntry> entries, files.List(directory));
  DirectoryContent content;
  for (const rt::DirectoryEntry& entry : entries) {
    if (entry.is_directory) continue;
    if (entry.name == kTruncationMark) {
      content.truncating = true;
    } else if (const auto log = ParseLogFileName(entry.name, kLogSuffix)) {
      content.segments.push_back(*log);
    } else if (const auto offsets = ParseLogFileName(entry.name, kOffsetIndexSuffix)) {
      content.indexes.insert(*offsets);
    } else if (const auto times = ParseLogFileName(entry.name, kTimeIndexSuffix)) {
      content.indexes.insert(*times);
    } else if (entry.name.ends_with(".tmp") || entry.name.ends_with(".log.copy")) {
      content.leftovers.push_back(entry.name);
    }
  }
  std::sort(content.segments.begin(), content.segments.end());
  return content;
}

}  // namespace

class Log::Recovery {
 public:
  Recovery(Log& log, OpenMode mode) : log_(log), mode_(mode) {}
  Status Run();

 private:
  Status MakeDirectory();
  Result<bool> OpenClean();
  Status ScanUnflushed();
  Status JudgeStop(size_t index, const SegmentScan& scan, bool more_data_behind);
  Status CheckRecoveryPoint(LogOffset end) const;
  Status Apply();
  Status CutSegment(size_t index, SegmentScan& scan);
  Status MoveToCut(size_t index);
  Status FinishTruncation();
  Status RemoveStrays();
  Status FindMaxTimestamp();
  Status ReadEpochs();
  Result<std::string> FreeCutPath(const std::string& path) const;

  Log& log_;
  const OpenMode mode_;
  DirectoryContent content_;
  std::vector<LogOffset> bases_;
  size_t first_scanned_ = 0;
  std::vector<SegmentScan> scans_;      // of segments from first_scanned_ on
  size_t segments_kept_ = 0;            // what lies behind is moved aside
  LogOffset log_end_;
};

Status Log::Recovery::Run() {
  STROM_TRY(MakeDirectory());
  for (const LogOffset base : content_.segments) log_.segments_.push_back(std::make_unique<Segment>(base));
  if (content_.segments.empty()) {
    STROM_TRY(CheckRecoveryPoint(LogOffset(0)));
    STROM_TRY(RemoveStrays());
    STROM_TRY(log_.AddSegment(LogOffset(0)));
    return ReadEpochs();
  }
  bool opened = false;
  if (mode_.clean) {
    STROM_ASSIGN(opened, OpenClean());
  }
  if (!opened) {
    STROM_TRY(ScanUnflushed());
    STROM_TRY(CheckRecoveryPoint(log_end_));
    STROM_TRY(Apply());
  }
  log_.log_end_ = log_end_;
  log_.flushed_ = opened ? log_end_ : std::max(mode_.recovery_point, log_.local_start_offset());
  if (content_.truncating) STROM_TRY(FinishTruncation());
  STROM_TRY(RemoveStrays());
  STROM_TRY(FindMaxTimestamp());
  STROM_TRY(log_.DeleteWriterSnapshotsAbove(log_end_));
  STROM_TRY(log_.RebuildWriterState(scans_));
  // Rebuilt indexes. On a full disk they stay in memory.
  for (const std::unique_ptr<Segment>& segment : log_.segments_) (void)segment->FlushIndexes(log_.context());
  return ReadEpochs();
}

Status Log::Recovery::MakeDirectory() {
  Result<DirectoryContent> content = ReadContent(log_.files(), log_.directory_);
  const bool missing = content.code() == ErrorCode::kNotFound;
  if (missing || !mode_.clean) {
    // A process that died may have made names, the directory's own too, that never reached the disk.
    log_.NameChanged(log_.directory_);
    std::string parent = log_.directory_;
    const int parents_count = log_.bucket_.partition_id ? 4 : 3;  // partition, table, database, data directory
    for (int i = 0; i < parents_count; ++i) {
      const size_t slash = parent.rfind('/');
      if (slash == std::string::npos || slash == 0) break;
      parent.resize(slash);
      log_.NameChanged(parent);
    }
  }
  if (missing) return log_.files().CreateDirectories(log_.directory_);
  STROM_ASSIGN(content_, std::move(content));
  return Status::OK();
}

/// Data below the recovery point was flushed: a log that ends before it has lost committed rows.
Status Log::Recovery::CheckRecoveryPoint(LogOffset end) const {
  if (end >= mode_.recovery_point) return Status::OK();
  return MakeError(ErrorCode::kCorruptData,
                   "{} ends at offset {}, but everything below {} was flushed to disk: rows are missing. Restore its files, or remove the bucket's "
                   "line from {} to go on without them",
                   log_.directory_, end, mode_.recovery_point, "recovery-point-offset-checkpoint");
}

/// Takes the log as it is, from the newest segment's tail. False when that is not credible: a clean stop left the recovery point at the end.
Result<bool> Log::Recovery::OpenClean() {
  const Result<LogOffset> end = log_.active().Load(log_.context());
  if (end.code() == ErrorCode::kCorruptData) return false;
  STROM_ASSIGN(log_end_, end);
  return log_end_ == mode_.recovery_point;
}

/// Reads every segment with data at or above the recovery point, whole: also what was flushed of the first, which nobody else looks at. Changes nothing.
Status Log::Recovery::ScanUnflushed() {
  const LogOffset start = std::max(mode_.recovery_point, content_.segments.front());
  first_scanned_ = log_.SegmentIndexOf(start);
  std::vector<uint64_t> sizes;
  for (size_t i = first_scanned_; i < log_.segments_.size(); ++i) {
    STROM_ASSIGN(const rt::File* const file, log_.segments_[i]->LogFile(log_.context()));
    STROM_ASSIGN(const uint64_t size, file->Size());
    sizes.push_back(size);
  }
  log_end_ = log_.segments_[first_scanned_]->base_offset();
  for (size_t i = first_scanned_; i < log_.segments_.size(); ++i) {
    const size_t scanned = i - first_scanned_;
    const LogOffset base = log_.segments_[i]->base_offset();
    const bool more_behind =
        std::any_of(sizes.begin() + static_cast<ptrdiff_t>(scanned) + 1, sizes.end(), [](uint64_t size) { return size > 0; });
    if (base != log_end_) {
      SegmentScan gap(base, log_.options_.index_interval);
      gap.next_offset = log_end_;
      gap.stop = SegmentScan::Stop::kBad;
      gap.reason = fmt::format("{} begins where offset {} must be", LogFilePath(log_.directory_, base, kLogSuffix), log_end_);
      return JudgeStop(i, gap, more_behind);
    }
    STROM_ASSIGN(const rt::File* const file, log_.segments_[i]->LogFile(log_.context()));
    STROM_ASSIGN(SegmentScan scan, ScanSegment(*file, base, log_.context()));
    log_end_ = scan.next_offset;
    segments_kept_ = i + 1;
    const bool stops = scan.stop != SegmentScan::Stop::kEnd;
    if (stops) STROM_TRY(JudgeStop(i, scan, more_behind));
    scans_.push_back(std::move(scan));
    if (stops) return Status::OK();
  }
  return Status::OK();
}

/// May the log be cut where this scan stopped?
Status Log::Recovery::JudgeStop(size_t index, const SegmentScan& scan, bool more_data_behind) {
  if (log_end_ < mode_.recovery_point) {
    return MakeError(ErrorCode::kCorruptData, "{}, and everything below offset {} was flushed to disk: the disk lies", scan.reason,
                     mode_.recovery_point);
  }
  if (mode_.power_loss_possible && !mode_.clean) return Status::OK();
  const bool partial = scan.stop == SegmentScan::Stop::kTorn || scan.stop == SegmentScan::Stop::kZeros;
  if (partial && !more_data_behind) return Status::OK();
  return MakeError(ErrorCode::kCorruptData,
                   "{} (segment {} of {}); without a power loss only the end of a log can be incomplete: the disk lies", scan.reason,
                   index + 1, log_.segments_.size());
}

Status Log::Recovery::Apply() {
  while (log_.segments_.size() > segments_kept_) STROM_TRY(MoveToCut(log_.segments_.size() - 1));
  for (size_t i = 0; i < scans_.size(); ++i) {
    if (scans_[i].valid_size < scans_[i].file_size) STROM_TRY(CutSegment(first_scanned_ + i, scans_[i]));
    log_.segments_[first_scanned_ + i]->Adopt(std::move(scans_[i].index), scans_[i].valid_size);
  }
  return Status::OK();
}

Result<std::string> Log::Recovery::FreeCutPath(const std::string& path) const {
  for (int i = 1;; ++i) {
    std::string free = i == 1 ? fmt::format("{}{}", path, kCutSuffix) : fmt::format("{}.{}{}", path, i, kCutSuffix);
    STROM_ASSIGN(const bool taken, log_.files().Exists(free));
    if (!taken) return free;
  }
}

/// Cuts a segment behind its good batches. What goes is kept beside it and is durable before the cut.
Status Log::Recovery::CutSegment(size_t index, SegmentScan& scan) {
  const std::string path = LogFilePath(log_.directory_, log_.segments_[index]->base_offset(), kLogSuffix);
  STROM_ASSIGN(rt::File* const file, log_.segments_[index]->LogFile(log_.context()));
  if (scan.stop == SegmentScan::Stop::kZeros) {
    STROM_LOG_WARN("{}: {} zero bytes at the end of {} are cut; the log goes on at {}", log_.bucket_.ToString(),
                   scan.file_size - scan.valid_size, path, scan.next_offset);
  } else {
    STROM_ASSIGN(const std::string cut_path, FreeCutPath(path));
    STROM_ASSIGN(const std::shared_ptr<rt::File> cut,
                 log_.files().Open(cut_path, {.write = true, .create = true, .exclusive = true}));
    std::vector<uint8_t> piece;
    for (uint64_t position = scan.valid_size; position < scan.file_size; position += piece.size()) {
      piece.resize(static_cast<size_t>(std::min<uint64_t>(scan.file_size - position, kCopyPiece)));
      STROM_ASSIGN(const size_t got, file->ReadAt(position, piece));
      if (got != piece.size()) return MakeError(ErrorCode::kIoError, "{} ends at {} of {}", path, position + got, scan.file_size);
      const ByteView view(piece);
      STROM_TRY(cut->WriteAt(position - scan.valid_size, {&view, 1}));
    }
    STROM_TRY(cut->Sync());
    STROM_TRY(log_.files().SyncDirectory(log_.directory_));
    STROM_LOG_WARN("{}: {}; {} bytes are cut and kept as {}; the log goes on at {}", log_.bucket_.ToString(), scan.reason,
                   scan.file_size - scan.valid_size, cut_path, scan.next_offset);
  }
  STROM_TRY(file->Truncate(scan.valid_size));
  return file->Sync();
}

/// A segment behind the cut: its batches can no longer be reached. The .log is kept under another name, its indexes go.
Status Log::Recovery::MoveToCut(size_t index) {
  Segment& segment = *log_.segments_[index];
  const std::string path = LogFilePath(log_.directory_, segment.base_offset(), kLogSuffix);
  STROM_ASSIGN(const uint64_t size, segment.SizeOnDisk(log_.context()));
  if (size > 0) {
    STROM_ASSIGN(const std::string cut_path, FreeCutPath(path));
    STROM_TRY(log_.files().Rename(path, cut_path));
    STROM_LOG_WARN("{}: segment {} ({} bytes) lies behind the cut at {} and is kept as {}", log_.bucket_.ToString(), segment.base_offset(),
                   size, log_end_, cut_path);
  }
  STROM_TRY(segment.RemoveFiles(log_.context()));
  log_.segments_.pop_back();
  return log_.files().SyncDirectory(log_.directory_);
}

/// Makes durable what a truncation had done when the process died.
Status Log::Recovery::FinishTruncation() {
  for (const std::unique_ptr<Segment>& segment : log_.segments_) {
    STROM_ASSIGN(rt::File* const file, segment->LogFile(log_.context()));
    STROM_TRY(file->Sync());
  }
  STROM_TRY(log_.files().SyncDirectory(log_.directory_));
  return log_.files().Remove(log_.directory_ + "/" + kTruncationMark);
}

Status Log::Recovery::RemoveStrays() {
  for (const LogOffset offset : content_.indexes) {
    if (std::binary_search(content_.segments.begin(), content_.segments.end(), offset)) continue;
    for (const std::string_view suffix : {kOffsetIndexSuffix, kTimeIndexSuffix}) {
      const Status removed = log_.files().Remove(LogFilePath(log_.directory_, offset, suffix));
      if (!removed.ok() && removed.code() != ErrorCode::kNotFound) return removed;
    }
  }
  for (const std::string& name : content_.leftovers) STROM_TRY(log_.files().Remove(log_.directory_ + "/" + name));
  return Status::OK();
}

/// Of the newest batch: stamps never decrease.
Status Log::Recovery::FindMaxTimestamp() {
  for (size_t i = log_.segments_.size(); i > 0; --i) {
    STROM_TRY(log_.EnsureLoaded(i - 1));
    if (log_.segments_[i - 1]->size() == 0) continue;
    log_.max_timestamp_ = log_.segments_[i - 1]->max_timestamp();
    break;
  }
  return Status::OK();
}

Status Log::Recovery::ReadEpochs() {
  const std::string path = log_.directory_ + "/" + LeaderEpochHistory::kFileName;
  Result<Buffer> text = log_.files().ReadAll(path);
  if (text.code() == ErrorCode::kNotFound) return Status::OK();
  STROM_ASSIGN(const Buffer content, std::move(text));
  Result<LeaderEpochHistory> history = LeaderEpochHistory::Decode(content.view());
  if (!history.ok()) {
    STROM_ASSIGN(const std::string aside, FreeCutPath(path));
    STROM_LOG_WARN("{}: {}; it is kept as {}, and the epochs before the next one are not known", log_.bucket_.ToString(),
                   history.error().message, aside);
    return log_.files().Rename(path, aside);
  }
  log_.epochs_ = std::move(history).value();
  // An epoch that begins at the log end has written nothing yet; one above it had, and what it wrote is gone.
  log_.epochs_.TruncateTo(log_.log_end_ + 1);
  return Status::OK();
}

Result<std::unique_ptr<Log>> Log::Open(LogEnvironment environment, std::string directory, model::TableBucket bucket,
                                       const LogOptions& options, OpenMode mode) {
  // The shard's cache belongs to the shard's thread: opening has its own.
  FileCache* const shard_cache = environment.file_cache;
  FileCache own_cache(environment.files, kOpenFilesMax);
  environment.file_cache = &own_cache;
  std::unique_ptr<Log> log(new Log(std::move(environment), std::move(directory), bucket, options));
  Status opened = Recovery(*log, mode).Run();
  if (opened.ok()) opened = log->failure_;
  for (const std::unique_ptr<Segment>& segment : log->segments_) segment->CloseFiles();
  log->environment_.file_cache = shard_cache;
  if (!opened.ok()) {
    return MakeError(opened.code(), "{} cannot be opened: {}", bucket.ToString(), opened.error().message);
  }
  return log;
}

}  // namespace strom::log
