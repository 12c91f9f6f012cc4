#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/timestamp.h"
#include "log/file_cache.h"
#include "log/offset_index.h"
#include "log/time_index.h"
#include "model/ids.h"

namespace strom::log {

/// What a segment needs of its log for file work.
struct SegmentContext {
  FileCache* file_cache = nullptr;
  const std::string* directory = nullptr;
  uint32_t index_interval = 4096;  // bytes
  uint8_t magic_max = 2;           // of the batches
};

/// What an offset index knows of a place at or before an offset.
struct IndexFloor {
  uint64_t position = 0;        // a batch boundary, if the index is right
  LogOffset last_offset{-1};    // some batch from there on must end exactly here; -1 at the start of the segment
};

/// Index entries of a whole segment, as a walk over its batches makes them (spec/formats.md 10.2, "the rebuild").
class IndexBuilder {
 public:
  IndexBuilder(LogOffset segment_base, uint32_t index_interval) : base_(segment_base), interval_(index_interval) {}
  /// Batches in order.
  void Add(LogOffset batch_base, LogOffset batch_last, uint64_t position, TimestampMs timestamp);

  std::vector<OffsetIndexEntry> offsets;
  std::vector<TimeIndexEntry> times;
  TimestampMs max_timestamp{-1};
  LogOffset offset_of_max;     // base offset of the batch that first had it
  uint64_t last_entry_position = 0;

 private:
  LogOffset base_;
  uint32_t interval_;
};

/// One segment: `.log`, `.index` and `.timeindex` of one base offset. Knows only its base until it is loaded; its files are opened through the
/// cache when they are used. Positions are below 2^31.
class Segment {
 public:
  explicit Segment(LogOffset base_offset) : base_(base_offset) {}
  /// Makes the three files, empty; what was there under these names goes.
  static Result<std::unique_ptr<Segment>> Create(const SegmentContext& context, LogOffset base_offset);

  LogOffset base_offset() const { return base_; }
  bool loaded() const { return loaded_; }
  /// Of the .log file, in bytes. Loaded segments only, as all below.
  uint64_t size() const { return size_; }
  TimestampMs max_timestamp() const { return max_timestamp_; }

  /// Reads sizes and the newest index entries, and walks the headers behind them to the end. An index that is missing or not credible is rebuilt
  /// from the headers. Answers the offset after the last batch; kCorruptData when the chain of headers is broken. Writes nothing: new entries
  /// reach the files with the next FlushIndexes().
  Result<LogOffset> Load(const SegmentContext& context);
  /// Takes what recovery found instead: the .log is `size` bytes, the indexes become the builder's.
  void Adopt(IndexBuilder index, uint64_t size);

  /// Bytes of the .log file, loaded or not.
  Result<uint64_t> SizeOnDisk(const SegmentContext& context);

  /// The .log file; its slot's shared pointer is for slices.
  Result<rt::File*> LogFile(const SegmentContext& context);
  Result<std::shared_ptr<rt::File>> SharedLogFile(const SegmentContext& context);

  /// Books an append of `size` bytes at `position` and writes its index entries when they are due.
  void NoteAppend(const SegmentContext& context, LogOffset first_offset, LogOffset last_offset, uint64_t size, TimestampMs timestamp);
  bool IndexFull(uint64_t index_file_size) const;
  /// Writes pending entries.
  Status FlushIndexes(const SegmentContext& context);
  bool has_pending_entries() const { return offsets_.has_pending() || times_.has_pending(); }

  /// A batch boundary at or before `offset` as the index says; the start without one. Not checked against the file.
  Result<IndexFloor> Floor(const SegmentContext& context, LogOffset offset);
  /// A batch boundary from which to look for the first batch stamped at or after `time`, as the indexes say: not checked.
  Result<uint64_t> TimeFloorPosition(const SegmentContext& context, TimestampMs time);
  /// Walks all headers and makes both indexes anew. kCorruptData when the chain is broken; then nothing is changed.
  Status RebuildIndexes(const SegmentContext& context);

  /// Cuts the segment to `size` bytes, which end at `next_offset`. Readers that hold the file keep the old bytes: then it is replaced by a copy.
  Status Truncate(const SegmentContext& context, uint64_t size, LogOffset next_offset);
  /// Removes the three files. Readers that hold the .log keep it.
  Status RemoveFiles(const SegmentContext& context);
  void CloseFiles();

  /// Open handles for a sync: the .log, and with `indexes` those too.
  Status CollectForSync(const SegmentContext& context, bool indexes, std::vector<std::shared_ptr<rt::File>>* files);

 private:
  Result<rt::File*> OffsetFile(const SegmentContext& context);
  Result<rt::File*> TimeFile(const SegmentContext& context);
  Result<bool> LoadIndexes(const SegmentContext& context);
  Result<LogOffset> WalkTail(const SegmentContext& context);
  void AddEntries(LogOffset last_offset, uint64_t position);
  void ReplaceIndexes(IndexBuilder index);
  Status ReplaceWithPrefix(const SegmentContext& context, uint64_t size);

  const LogOffset base_;
  bool loaded_ = false;
  uint64_t size_ = 0;
  TimestampMs max_timestamp_{-1};
  LogOffset offset_of_max_;
  int64_t last_time_entry_ = -1;       // its timestamp
  uint64_t bytes_since_entry_ = 0;
  OffsetIndex offsets_;
  TimeIndex times_;
  FileCache::Slot log_file_;
  FileCache::Slot offset_file_;
  FileCache::Slot time_file_;
};

}  // namespace strom::log
