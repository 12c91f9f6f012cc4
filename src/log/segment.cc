#include "log/segment.h"

#include <algorithm>

#include "log/batch_walker.h"
#include "log/log_file_names.h"

namespace strom::log {

namespace {
constexpr uint64_t kSegmentSizeMax = INT32_MAX;  // positions in the index are 31 bits
constexpr size_t kCopyPiece = 1 << 20;

uint32_t Relative(LogOffset offset, LogOffset base) { return static_cast<uint32_t>(offset - base); }
}  // namespace

void IndexBuilder::Add(LogOffset batch_base, LogOffset batch_last, uint64_t position, TimestampMs timestamp) {
  if (timestamp > max_timestamp) {
    max_timestamp = timestamp;
    offset_of_max = batch_base;
  }
  if (position - last_entry_position <= interval_) return;
  offsets.push_back({Relative(batch_last, base_), static_cast<uint32_t>(position)});
  if (times.empty() || max_timestamp.value() > times.back().timestamp) {
    times.push_back({max_timestamp.value(), Relative(offset_of_max, base_)});
  }
  last_entry_position = position;
}

Result<std::unique_ptr<Segment>> Segment::Create(const SegmentContext& context, LogOffset base_offset) {
  auto segment = std::make_unique<Segment>(base_offset);
  rt::FileSystem& files = context.file_cache->files();
  Status made;
  for (const std::string_view suffix : {kLogSuffix, kOffsetIndexSuffix, kTimeIndexSuffix}) {
    const std::string path = LogFilePath(*context.directory, base_offset, suffix);
    // A leftover goes by name, so that whoever still reads it keeps its bytes.
    const Status removed = files.Remove(path);
    if (!removed.ok() && removed.code() != ErrorCode::kNotFound) made = removed;
  }
  if (made.ok()) made = context.file_cache->Open(segment->log_file_, *context.directory, base_offset, kLogSuffix, true).status();
  if (made.ok()) {
    made = context.file_cache->Open(segment->offset_file_, *context.directory, base_offset, kOffsetIndexSuffix, true).status();
  }
  if (made.ok()) {
    made = context.file_cache->Open(segment->time_file_, *context.directory, base_offset, kTimeIndexSuffix, true).status();
  }
  if (!made.ok()) {
    (void)segment->RemoveFiles(context);
    return made.error();
  }
  segment->loaded_ = true;
  segment->offset_of_max_ = base_offset;
  return segment;
}

Result<rt::File*> Segment::LogFile(const SegmentContext& context) {
  return context.file_cache->Open(log_file_, *context.directory, base_, kLogSuffix);
}

Result<std::shared_ptr<rt::File>> Segment::SharedLogFile(const SegmentContext& context) {
  STROM_TRY(LogFile(context));
  return log_file_.file();
}

Result<uint64_t> Segment::SizeOnDisk(const SegmentContext& context) {
  if (loaded_) return size_;
  STROM_ASSIGN(const rt::File* const log, LogFile(context));
  return log->Size();
}

Result<rt::File*> Segment::OffsetFile(const SegmentContext& context) {
  return context.file_cache->Open(offset_file_, *context.directory, base_, kOffsetIndexSuffix, offsets_.needs_rewrite());
}

Result<rt::File*> Segment::TimeFile(const SegmentContext& context) {
  return context.file_cache->Open(time_file_, *context.directory, base_, kTimeIndexSuffix, times_.needs_rewrite());
}

Result<LogOffset> Segment::Load(const SegmentContext& context) {
  STROM_ASSIGN(rt::File* const log, LogFile(context));
  STROM_ASSIGN(size_, log->Size());
  if (size_ > kSegmentSizeMax) {
    return MakeError(ErrorCode::kCorruptData, "{} has {} bytes; a segment has at most {}", log->path(), size_, kSegmentSizeMax);
  }
  STROM_ASSIGN(const bool credible, LoadIndexes(context));
  if (credible) {
    Result<LogOffset> end = WalkTail(context);
    if (end.ok()) {
      loaded_ = true;
      return end;
    }
    if (end.code() != ErrorCode::kCorruptData) return end;
  }
  // The index, or what it points to, is bad: only the headers from the start on can tell which.
  STROM_TRY(RebuildIndexes(context));
  STROM_ASSIGN(const LogOffset end, WalkTail(context));
  loaded_ = true;
  return end;
}

/// False when an index is missing or says what cannot be.
Result<bool> Segment::LoadIndexes(const SegmentContext& context) {
  Result<rt::File*> offset_file = OffsetFile(context);
  if (offset_file.code() == ErrorCode::kNotFound) return false;
  STROM_ASSIGN(rt::File* const offsets, std::move(offset_file));
  STROM_ASSIGN(const uint64_t offsets_size, offsets->Size());
  Result<rt::File*> time_file = TimeFile(context);
  if (time_file.code() == ErrorCode::kNotFound) return false;
  STROM_ASSIGN(rt::File* const times, std::move(time_file));
  STROM_ASSIGN(const uint64_t times_size, times->Size());
  offsets_.SetWritten(offsets_size / OffsetIndexEntry::kSize);
  times_.SetWritten(times_size / TimeIndexEntry::kSize);
  last_time_entry_ = -1;
  if (offsets_size % OffsetIndexEntry::kSize != 0 || times_size % TimeIndexEntry::kSize != 0) return false;
  if (offsets_.count() > 0 && times_.count() == 0) return false;
  if (times_.count() > 0) {
    STROM_ASSIGN(const TimeIndexEntry last, times_.Get(*times, times_.count() - 1));
    if (last.timestamp == 0 && last.relative_offset == 0) return false;  // preallocated by a Java server
    last_time_entry_ = last.timestamp;
  }
  return true;
}

/// Walks from the last offset entry to the end, adding the entries that are due.
Result<LogOffset> Segment::WalkTail(const SegmentContext& context) {
  uint64_t position = 0;
  LogOffset entry_last(-1);
  if (offsets_.count() > 0) {
    STROM_ASSIGN(rt::File* const file, OffsetFile(context));
    STROM_ASSIGN(const OffsetIndexEntry entry, offsets_.Get(*file, offsets_.count() - 1));
    position = entry.position;
    entry_last = base_ + entry.relative_offset;
    if (position == 0 || position >= size_) {
      return MakeError(ErrorCode::kCorruptData, "{}: the last entry points to {} of {} bytes", file->path(), position, size_);
    }
  }
  STROM_ASSIGN(rt::File* const log, LogFile(context));
  BatchWalker walker(*log, position, size_, position == 0 ? base_ : LogOffset(-1), context.magic_max);
  bytes_since_entry_ = 0;
  max_timestamp_ = TimestampMs(-1);
  offset_of_max_ = base_;
  LogOffset end = base_;
  uint64_t entry_position = position;
  bool entry_met = entry_last.value() < 0;
  while (walker.Next()) {
    const format::LogBatchHeader& header = walker.header();
    if (header.base_offset < base_ || header.last_offset() - base_ > INT32_MAX) {
      return MakeError(ErrorCode::kCorruptData, "{} at {}: offset {} is not of this segment", log->path(), walker.position(),
                       header.base_offset);
    }
    if (header.last_offset() == entry_last) entry_met = true;
    if (header.commit_timestamp > max_timestamp_) {
      max_timestamp_ = header.commit_timestamp;
      offset_of_max_ = header.base_offset;
    }
    if (walker.position() - entry_position > context.index_interval) {
      AddEntries(header.last_offset(), walker.position());
      entry_position = walker.position();
    }
    end = header.next_offset();
  }
  STROM_TRY(walker.status());
  if (!entry_met || (size_ > 0 && last_time_entry_ > max_timestamp_.value())) {
    return MakeError(ErrorCode::kCorruptData, "the indexes of {} do not belong to it", log->path());
  }
  bytes_since_entry_ = size_ - entry_position;
  return end;
}

void Segment::AddEntries(LogOffset last_offset, uint64_t position) {
  offsets_.Add({Relative(last_offset, base_), static_cast<uint32_t>(position)});
  if (max_timestamp_.value() > last_time_entry_) {
    times_.Add({max_timestamp_.value(), Relative(offset_of_max_, base_)});
    last_time_entry_ = max_timestamp_.value();
  }
}

void Segment::NoteAppend(const SegmentContext& context, LogOffset first_offset, LogOffset last_offset, uint64_t size,
                         TimestampMs timestamp) {
  if (timestamp > max_timestamp_) {
    max_timestamp_ = timestamp;
    offset_of_max_ = first_offset;
  }
  if (bytes_since_entry_ > context.index_interval) {
    AddEntries(last_offset, size_);
    bytes_since_entry_ = 0;
    // An index is never worth an error: what cannot be written now (a full disk) is written later or rebuilt.
    if (offsets_.wants_flush()) (void)FlushIndexes(context);
  }
  bytes_since_entry_ += size;
  size_ += size;
}

bool Segment::IndexFull(uint64_t index_file_size) const {
  return offsets_.count() >= index_file_size / OffsetIndexEntry::kSize || times_.count() + 1 >= index_file_size / TimeIndexEntry::kSize;
}

Status Segment::FlushIndexes(const SegmentContext& context) {
  if (offsets_.has_pending()) {
    STROM_ASSIGN(rt::File* const file, OffsetFile(context));
    STROM_TRY(offsets_.Flush(*file));
  }
  if (times_.has_pending()) {
    STROM_ASSIGN(rt::File* const file, TimeFile(context));
    STROM_TRY(times_.Flush(*file));
  }
  return Status::OK();
}

Result<IndexFloor> Segment::Floor(const SegmentContext& context, LogOffset offset) {
  if (offsets_.count() == 0) return IndexFloor{};
  STROM_ASSIGN(rt::File* const file, OffsetFile(context));
  const uint64_t relative = static_cast<uint64_t>(offset - base_);
  STROM_ASSIGN(const uint64_t count,
               offsets_.CountLeading(*file, [relative](const OffsetIndexEntry& entry) { return entry.relative_offset <= relative; }));
  if (count == 0) return IndexFloor{};
  STROM_ASSIGN(const OffsetIndexEntry floor, offsets_.Get(*file, count - 1));
  if (floor.position == 0 || floor.position >= size_) return IndexFloor{};
  return IndexFloor{floor.position, base_ + floor.relative_offset};
}

Result<uint64_t> Segment::TimeFloorPosition(const SegmentContext& context, TimestampMs time) {
  if (times_.count() == 0) return 0;
  STROM_ASSIGN(rt::File* const file, TimeFile(context));
  STROM_ASSIGN(const uint64_t count,
               times_.CountLeading(*file, [time](const TimeIndexEntry& entry) { return entry.timestamp <= time.value(); }));
  if (count == 0) return 0;
  STROM_ASSIGN(const TimeIndexEntry floor, times_.Get(*file, count - 1));
  STROM_ASSIGN(const IndexFloor place, Floor(context, base_ + floor.relative_offset));
  return place.position;
}

Status Segment::RebuildIndexes(const SegmentContext& context) {
  STROM_ASSIGN(rt::File* const log, LogFile(context));
  IndexBuilder index(base_, context.index_interval);
  BatchWalker walker(*log, 0, size_, base_, context.magic_max);
  while (walker.Next()) {
    const format::LogBatchHeader& header = walker.header();
    index.Add(header.base_offset, header.last_offset(), walker.position(), header.commit_timestamp);
  }
  STROM_TRY(walker.status());
  ReplaceIndexes(std::move(index));
  return Status::OK();
}

void Segment::ReplaceIndexes(IndexBuilder index) {
  last_time_entry_ = index.times.empty() ? -1 : index.times.back().timestamp;
  offsets_.Replace(std::move(index.offsets));
  times_.Replace(std::move(index.times));
}

void Segment::Adopt(IndexBuilder index, uint64_t size) {
  size_ = size;
  max_timestamp_ = index.max_timestamp;
  offset_of_max_ = index.offset_of_max;
  bytes_since_entry_ = size - index.last_entry_position;
  loaded_ = true;
  ReplaceIndexes(std::move(index));
}

Status Segment::Truncate(const SegmentContext& context, uint64_t size, LogOffset next_offset) {
  STROM_ASSIGN(rt::File* const log, LogFile(context));
  if (log_file_.is_shared()) {
    STROM_TRY(ReplaceWithPrefix(context, size));
  } else {
    STROM_TRY(log->Truncate(size));
  }
  STROM_ASSIGN(rt::File* const offset_file, OffsetFile(context));
  STROM_ASSIGN(const uint64_t offsets,
               offsets_.CountLeading(*offset_file, [size](const OffsetIndexEntry& entry) { return entry.position < size; }));
  STROM_TRY(offsets_.TruncateTo(*offset_file, offsets));
  STROM_ASSIGN(rt::File* const time_file, TimeFile(context));
  const uint64_t relative = static_cast<uint64_t>(next_offset - base_);
  STROM_ASSIGN(const uint64_t times,
               times_.CountLeading(*time_file, [relative](const TimeIndexEntry& entry) { return entry.relative_offset < relative; }));
  STROM_TRY(times_.TruncateTo(*time_file, times));
  STROM_TRY(FlushIndexes(context));
  STROM_TRY(Load(context));
  return Status::OK();
}

/// Whoever reads the file goes on reading the old one, which has lost its name.
Status Segment::ReplaceWithPrefix(const SegmentContext& context, uint64_t size) {
  rt::FileSystem& files = context.file_cache->files();
  const std::string path = LogFilePath(*context.directory, base_, kLogSuffix);
  const std::string copy_path = path + ".copy";
  STROM_ASSIGN(rt::File* const log, LogFile(context));
  STROM_ASSIGN(const std::shared_ptr<rt::File> copy, files.Open(copy_path, {.write = true, .create = true}));
  STROM_TRY(copy->Truncate(0));
  std::vector<uint8_t> piece(static_cast<size_t>(std::min<uint64_t>(size, kCopyPiece)));
  for (uint64_t position = 0; position < size; position += piece.size()) {
    piece.resize(static_cast<size_t>(std::min<uint64_t>(size - position, kCopyPiece)));
    STROM_ASSIGN(const size_t got, log->ReadAt(position, piece));
    if (got != piece.size()) return MakeError(ErrorCode::kCorruptData, "{} ends at {} of {} bytes", path, position + got, size);
    const ByteView view(piece);
    STROM_TRY(copy->WriteAt(position, {&view, 1}));
  }
  STROM_TRY(copy->Sync());
  STROM_TRY(files.Rename(copy_path, path));
  log_file_.Forget();
  return Status::OK();
}

Status Segment::RemoveFiles(const SegmentContext& context) {
  log_file_.Forget();
  offset_file_.Forget();
  time_file_.Forget();
  Status removed;
  // The .log goes last: a crash in between leaves a segment whose indexes are rebuilt, never an index alone.
  for (const std::string_view suffix : {kTimeIndexSuffix, kOffsetIndexSuffix, kLogSuffix}) {
    const Status one = context.file_cache->files().Remove(LogFilePath(*context.directory, base_, suffix));
    if (!one.ok() && one.code() != ErrorCode::kNotFound && removed.ok()) removed = one;
  }
  return removed;
}

void Segment::CloseFiles() {
  log_file_.Close();
  offset_file_.Close();
  time_file_.Close();
}

Status Segment::CollectForSync(const SegmentContext& context, bool indexes, std::vector<std::shared_ptr<rt::File>>* files) {
  STROM_TRY(LogFile(context));
  files->push_back(log_file_.file());
  if (!indexes) return Status::OK();
  STROM_TRY(FlushIndexes(context));
  STROM_TRY(OffsetFile(context));
  files->push_back(offset_file_.file());
  STROM_TRY(TimeFile(context));
  files->push_back(time_file_.file());
  return Status::OK();
}

}  // namespace strom::log
