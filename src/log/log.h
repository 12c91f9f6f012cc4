#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/file_cache.h"
#include "log/leader_epoch_history.h"
#include "log/read_cursors.h"
#include "log/segment.h"
#include "log/sync_plan.h"
#include "log/tail_batches.h"
#include "log/writer_state.h"
#include "model/ids.h"
#include "model/table_bucket.h"
#include "rt/file.h"
#include "rt/time.h"

namespace strom::log {

struct SegmentScan;

/// What the log of a bucket is set to (spec/server.md 8, config.tsv `log.*`). A plain value, the same for all logs of a server.
struct LogOptions {
  uint64_t segment_size_max = 1ULL << 30;         // bytes; log.segment.file-size
  uint32_t index_interval = 4096;                 // bytes; log.index.interval-size
  uint64_t index_file_size = 10ULL << 20;         // bytes; log.index.file-size: a full index rolls the segment. Nothing is preallocated
  int64_t flush_interval_messages = INT64_MAX;    // log.flush.interval-messages; 1 is group commit
  uint8_t magic_max = 2;                          // of batches. 0 where only that is written (row formats, changelogs): the CRC does not cover the magic
  int64_t writer_expiry_ms = 7LL * 24 * 3600 * 1000;  // server.writer-id.expiration-time, by log time
};

/// What a log needs of its surroundings. All must outlive it.
struct LogEnvironment {
  rt::FileSystem* files = nullptr;
  FileCache* file_cache = nullptr;                          // of the shard that owns the log
  std::function<TimestampMs()> wall_clock = rt::WallClockNow;  // for commit stamps; tests put their own
};

/// How the last process left the log (design.md 3, "What a bad batch means").
struct OpenMode {
  bool clean = false;                // the clean mark was there: nothing is scanned when the log ends at the recovery point
  LogOffset recovery_point{0};       // of the checkpoint: everything below was flushed
  bool power_loss_possible = true;   // false: only the process died since the last start (same boot id)
};

struct LogAppendInfo {
  LogOffset first_offset;
  LogOffset last_offset;    // of the last record; first_offset - 1 when the request held no batch
  TimestampMs timestamp;    // the commit timestamp of every batch of the append
  bool duplicated = false;  // nothing was written: the offsets are those of the first time
};

/// Whole batches of one segment. The file stays readable while the slice is held, also when its segment is deleted or truncated (W10).
struct LogSlice {
  std::shared_ptr<const rt::File> file;  // null when size is 0
  uint64_t position = 0;
  uint64_t size = 0;
  LogOffset first_batch_offset;  // may lie before the offset asked for: clients skip leading records
  LogOffset next_offset;         // after the last batch of the slice; the offset asked for when the slice is empty
};

struct ReadRequest {
  LogOffset offset;
  LogOffset bound;             // exclusive: high watermark for clients, log end offset for followers
  uint64_t max_bytes = 0;
  bool min_one_batch = false;  // the first batch may be larger than max_bytes
};

/// What expires (spec/server.md 8.7).
struct RetentionRequest {
  TimestampMs now;            // of a RetentionClock, so that a jump of the wall clock does not expire everything at once
  int64_t ttl_ms = -1;        // <= 0: never
  LogOffset bound;            // the high watermark (or what is copied to remote): nothing at or above is deleted
  bool roll_active = false;   // log.retention.roll-active-segment.enabled
};

/// One bucket's local log: segments, indexes, writer state, epoch history (spec/server.md 8, formats.md 10).
///
/// Single owner, synchronous: everything but SyncPlan::Run() and Open() is called on the owning shard. Once the log has failed (its disk lied
/// about committed data, a sync failed, a torn write could not be undone) every call answers with that first error: the bucket is *refused*.
///
/// Invariants: (1) offsets are dense over batches and segments; (2) commit timestamps never decrease in what this leader appends;
/// (3) log_start <= flushed_offset <= log_end; (4) an error of an append leaves log and writer state as they were.
class Log {
 public:
  /// Opens or makes the log in `directory`. Touches only `files` (not the shard's cache), so it may run on a blocking thread and be handed over.
  /// kCorruptData: committed data is bad; nothing on disk was changed; the message names file and position.
  static Result<std::unique_ptr<Log>> Open(LogEnvironment environment, std::string directory, model::TableBucket bucket,
                                           const LogOptions& options, OpenMode mode);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // --- append (log_append.cc)

  /// Appends one or several concatenated batches as the leader of `epoch`. All are checked before any is written, with one write.
  /// Trailing bytes that form no batch are cut; no batch at all in non-empty bytes is kCorruptRecord; empty bytes do nothing.
  /// The first append of an epoch syncs the epoch history first (it blocks; BeginLeaderEpoch() takes that out of the way).
  /// kCorruptRecord, kOutOfOrderSequence, kRecordTooLarge, kFencedLeaderEpoch (epoch below the history's), kNoSpace, kIoError.
  Result<LogAppendInfo> AppendAsLeader(const Buffer& records, LeaderEpoch epoch);
  /// Appends batches as the leader stamped them; they must go on at the log end. kDuplicateSequence, kLogOffsetOutOfRange, kCorruptRecord.
  Result<LogAppendInfo> AppendAsFollower(const Buffer& records);
  /// Books `epoch` from the log end on, durably, unless it is there already. May run on a blocking thread while no other call does.
  Status BeginLeaderEpoch(LeaderEpoch epoch);

  // --- read (log_read.cc)

  /// Empty when offset >= bound. kLogOffsetOutOfRange outside [local_start, log_end]; kCorruptData when the chain of headers is broken:
  /// the log is refused from then on.
  Result<LogSlice> Read(const ReadRequest& request);
  /// The base offset of the first batch stamped at or after `time`; `high_watermark` when every batch is older; kInvalidTimestamp
  /// for the future. Source: spec/server.md 8.9, formats.md 10.2.
  Result<LogOffset> OffsetForTimestamp(TimestampMs time, LogOffset high_watermark);

  // --- durability (log_sync.cc)

  /// True when flush_interval_messages are not flushed yet, or a segment was rolled and is not flushed: the owner should run a sync.
  bool sync_due() const;
  /// A plan that makes everything appended so far durable.
  SyncPlan PrepareSync();
  /// Moves flushed_offset after plan.Run(). A failed sync is final: the log is refused.
  void FinishSync(const SyncPlan& plan, const Status& status);
  /// Sync, writer snapshot at the log end; no call but the destructor after it. Cheap when everything is flushed and nothing was appended.
  Status Close();

  // --- retention and truncation (log_retention.cc)

  /// Deletes whole expired segments from the front (spec/server.md 8.7). With more than one it syncs the directory in between.
  Status DeleteExpired(const RetentionRequest& request);
  /// Drops every batch that reaches `offset` or above. Whoever calls writes the lower recovery point to its checkpoint first. Blocks for a sync.
  Status TruncateTo(LogOffset offset);
  /// Drops everything; the next append gets `offset`. Whoever calls writes the recovery point 0 first and the new one afterwards. Blocks for a
  /// sync of the directory.
  Status TruncateFullyAndStartAt(LogOffset offset);
  /// Starts a new segment at the log end, unless the active one is empty.
  Status Roll();

  // --- state

  const model::TableBucket& bucket() const { return bucket_; }
  const std::string& directory() const { return directory_; }
  const LogOptions& options() const { return options_; }
  LogOffset log_start_offset() const { return segments_.front()->base_offset(); }
  LogOffset local_start_offset() const { return segments_.front()->base_offset(); }
  LogOffset log_end_offset() const { return log_end_; }
  /// Everything below is on disk for good. This is what the recovery-point checkpoint holds.
  LogOffset flushed_offset() const { return flushed_; }
  LogOffset recovery_point() const { return flushed_; }
  TimestampMs max_timestamp() const { return max_timestamp_; }
  /// Base offset of the active segment: a read below it that waits at the bound never gets more from its own segment.
  LogOffset active_base_offset() const { return segments_.back()->base_offset(); }
  const LeaderEpochHistory& leader_epochs() const { return epochs_; }
  WriterState& writers() { return writers_; }
  size_t segments_count() const { return segments_.size(); }
  /// Bytes of all .log files.
  Result<uint64_t> size_bytes();
  /// Not OK: the log is refused, and why.
  const Status& failure() const { return failure_; }
  /// Frees what an idle bucket need not hold: descriptors, cached headers, spare capacity.
  void DropCaches();
  /// Refuses the log from now on: the first error wins.
  void Fail(Error error);

 private:
  struct AppendScratch;  // log_append.cc
  class Recovery;        // log_recovery.cc

  Log(LogEnvironment environment, std::string directory, model::TableBucket bucket, const LogOptions& options);

  SegmentContext context() const { return {environment_.file_cache, &directory_, options_.index_interval, options_.magic_max}; }
  rt::FileSystem& files() const { return *environment_.files; }
  Segment& active() { return *segments_.back(); }
  LogOffset SegmentEnd(size_t index) const {
    return index + 1 < segments_.size() ? segments_[index + 1]->base_offset() : log_end_;
  }
  size_t SegmentIndexOf(LogOffset offset) const;
  /// Loads a segment that recovery left alone, and checks that it ends where the next begins.
  Status EnsureLoaded(size_t index);
  void NameChanged(std::string directory);

  Status ParseAppend(const Buffer& records, bool as_leader, AppendScratch& scratch) const;
  Status CheckWriters(bool as_leader, AppendScratch& scratch);
  Result<LogAppendInfo> Append(const Buffer& records, bool as_leader, AppendScratch& scratch);
  Status WriteBatches(const Buffer& records, bool as_leader, AppendScratch& scratch);
  bool MustRoll(uint64_t incoming_bytes, LogOffset last_offset);
  Status AddSegment(LogOffset base_offset);

  struct WalkResult {
    LogSlice slice;
    bool broken = false;  // the chain, or where the index sent us
    Error error;
  };
  LogSlice ReadTail(const ReadRequest& request, size_t first_batch);
  Result<WalkResult> WalkSlice(size_t index, const IndexFloor& from, LogOffset first, const ReadRequest& request);
  Result<LogSlice> ReadSegment(size_t index, const ReadRequest& request);
  Result<std::optional<LogOffset>> FindTimestamp(size_t index, uint64_t position, TimestampMs time, bool* may_be_late);
  /// Where the first batch that reaches `offset` begins in its segment, and its base offset.
  Result<std::pair<uint64_t, LogOffset>> LocateBatch(size_t index, LogOffset offset);
  void ForgetPositions();

  Status DropSegment(size_t index);
  Status WriteEpochs();
  Status TakeWriterSnapshot();
  Result<std::vector<LogOffset>> ListWriterSnapshots() const;
  Status DeleteWriterSnapshotsAbove(LogOffset offset);
  Status RebuildWriterState(const std::vector<SegmentScan>& scanned);
  Status ReplayWriters(LogOffset from, LogOffset to);

  LogEnvironment environment_;
  const std::string directory_;
  const model::TableBucket bucket_;
  const LogOptions options_;

  std::vector<std::unique_ptr<Segment>> segments_;  // by base offset; never empty once open
  LogOffset log_end_;
  LogOffset flushed_;
  TimestampMs max_timestamp_{-1};
  WriterState writers_;
  LeaderEpochHistory epochs_;
  TailBatches tail_;     // headers of the newest batches of the active segment
  ReadCursors cursors_;  // where recent readers will go on
  Status failure_;
  std::optional<LogOffset> newest_snapshot_;

  std::vector<std::string> names_to_sync_;  // directories whose names are not durable yet
  std::vector<std::string> files_to_sync_;  // writer snapshots that are not durable yet
  uint64_t names_version_ = 0;              // of the two lists
  bool rolled_unflushed_ = false;
  uint64_t truncations_ = 0;  // a sync plan made before a truncation proves nothing
};

}  // namespace strom::log
