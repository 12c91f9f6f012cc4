#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/timestamp.h"
#include "format/log_batch.h"
#include "log/stamp_age.h"
#include "model/ids.h"

namespace strom::log {

/// One remembered batch of a writer.
struct WriterBatch {
  int32_t sequence = -1;
  LogOffset last_offset{-1};
  int32_t offset_delta = 0;  // last offset - first offset
  TimestampMs timestamp;

  LogOffset first_offset() const { return LogOffset(last_offset.value() - offset_delta); }
  auto operator<=>(const WriterBatch&) const = default;
};

/// What is remembered of a batch of a log.
inline WriterBatch WriterBatchOf(const format::LogBatchHeader& header) {
  return {header.batch_sequence, header.last_offset(), header.last_offset_delta, header.commit_timestamp};
}

/// The last batches of one writer, oldest first.
class WriterEntry {
 public:
  static constexpr size_t kBatchesMax = 5;

  std::span<const WriterBatch> batches() const { return {batches_.data(), count_}; }
  const WriterBatch& last() const { return batches_[count_ - 1]; }
  bool empty() const { return count_ == 0; }
  void Add(const WriterBatch& batch);
  const WriterBatch* Find(int32_t sequence) const;

 private:
  friend class WriterState;
  std::array<WriterBatch, kBatchesMax> batches_;
  uint32_t count_ = 0;
  uint64_t saved_in_ = 0;  // the transaction that holds the state before itself
};

/// Who wrote what last: finds retries and gaps (spec/server.md 8.5). Time is log time, the commit timestamps, so that all replicas expire the
/// same writers at the same offset (W15): a writer is gone once the log has moved `expiry_ms` past its last batch.
///
/// Begin(), any number of Check() and Apply(), then Commit() or Rollback(): an append whose write fails leaves no trace.
class WriterState {
 public:
  explicit WriterState(int64_t expiry_ms) : expiry_ms_(expiry_ms) {}

  enum class Origin { kLeader, kReplica };  // kReplica: a follower's append or the replay of the log

  void Begin();
  /// The earlier batch when this one is a retry; nothing when it is new and in order; kOutOfOrderSequence. `batch.timestamp` is its stamp.
  Result<const WriterBatch*> Check(WriterId writer, const WriterBatch& batch, Origin origin) const;
  void Apply(WriterId writer, const WriterBatch& batch);
  void Commit() { undo_.clear(); }
  void Rollback();

  /// Takes a batch of the log, in its order, without a check: recovery and snapshots.
  void Replay(WriterId writer, const WriterBatch& batch);
  void Restore(WriterId writer, std::span<const WriterBatch> batches);
  /// Drops whoever wrote last before `log_time` - expiry.
  void RemoveExpired(TimestampMs log_time);
  void Clear();

  const WriterEntry* Find(WriterId writer) const;
  size_t size() const { return writers_.size(); }
  const std::unordered_map<WriterId, WriterEntry>& writers() const { return writers_; }
  int64_t expiry_ms() const { return expiry_ms_; }
  bool IsExpired(const WriterEntry& entry, TimestampMs log_time) const {
    return IsOlderThan(entry.last().timestamp, log_time, expiry_ms_);
  }

 private:
  struct Undo {
    WriterId writer;
    WriterEntry entry;  // empty: the writer was new
  };
  const int64_t expiry_ms_;
  std::unordered_map<WriterId, WriterEntry> writers_;
  std::vector<Undo> undo_;
  uint64_t transaction_ = 0;
};

}  // namespace strom::log
