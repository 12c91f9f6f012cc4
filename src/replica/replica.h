#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "log/log.h"
#include "model/leader_and_isr.h"
#include "model/table_bucket.h"
#include "model/table_descriptor.h"
#include "replica/fetch_waiter.h"
#include "replica/fetch_view.h"
#include "replica/offset_waiters.h"
#include "rt/pieces.h"
#include "rt/sync.h"
#include "rt/task.h"

namespace strom::replica {

/// What the replicas of a shard share. It outlives them.
struct ReplicaEnvironment {
  ServerId server_id;
  /// log.flush.interval-messages = 1: the acknowledgement and the high watermark wait for the sync.
  bool group_commit = false;
  size_t min_isr = 1;  // log.replica.min-in-sync-replicas-number
  /// Set while the disk is above its write limit or was found full: appends are refused, reads go on (spec/server.md 8.8).
  bool disk_write_locked = false;
};

struct AppendOutcome {
  LogOffset base_offset;
  LogOffset next_offset;  // acks = -1 waits until the high watermark is here
};

struct ReadRequest {
  LogOffset offset;
  uint64_t max_bytes = 0;
  bool min_one_batch = false;  // the first batch is answered even above max_bytes
};

struct ReadOutcome {
  rt::Pieces records;
  LogOffset high_watermark;
  LogOffset log_start_offset;
  /// Set when a filter left out the tail of what was scanned: the reader goes on from here (spec/formats.md 6).
  std::optional<LogOffset> filtered_end_offset;
};

/// One bucket on this server, owned by one shard: its log, who leads it, and who waits for it. Split by verb:
/// leadership.cc, leader_append.cc, leader_read.cc, log_sync.cc, offset_queries.cc.
///
/// Invariants: log start <= high watermark <= log end; the high watermark never goes back; whoever waits for it is woken by the
/// append or the sync that moves it, never by a timer.
class Replica {
 public:
  /// A replica whose log is open. Leads nothing yet.
  Replica(const ReplicaEnvironment* environment, model::TableBucket bucket, model::PhysicalTablePath path,
          std::shared_ptr<const model::TableInfo> table, std::unique_ptr<log::Log> log, LogOffset high_watermark);
  /// A replica that is refused: its data is damaged. Every use answers `why`; other buckets serve (design.md 3).
  Replica(const ReplicaEnvironment* environment, model::TableBucket bucket, model::PhysicalTablePath path,
          std::shared_ptr<const model::TableInfo> table, Error why);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  const model::TableBucket& bucket() const { return bucket_; }
  const model::PhysicalTablePath& path() const { return path_; }
  const model::TableInfo& table() const { return *table_; }
  void UpdateTable(std::shared_ptr<const model::TableInfo> table) { table_ = std::move(table); }

  // --- leadership.cc
  /// Takes or keeps the leadership that the notice gives. kFencedLeaderEpoch for an epoch below the known one,
  /// kUnknownTableOrBucket when this server is not among the replicas (spec/server.md 7.3).
  Status ApplyNotice(const model::LeaderAndIsrNotice& notice);
  bool is_leader() const { return state_.leader == environment_->server_id && !refused_; }
  const model::LeaderAndIsr& state() const { return state_; }
  /// The reason when the bucket is refused.
  const std::optional<Error>& refused() const { return refused_; }

  // --- leader_append.cc
  /// Appends one or several batches, in one step: when it returns, order and offsets are fixed. kNotLeaderOrFollower,
  /// kNotEnoughReplicas (acks = -1 and the ISR is too small), kDiskWriteLocked, and the log's errors. Duplicates of the last
  /// batches of a writer are a success with the first append's offsets.
  Result<AppendOutcome> Append(Buffer records, int32_t acks);
  /// Waits until everything below `next_offset` is committed; kRequestTimeOut at the deadline.
  rt::Task<Status> WaitCommitted(LogOffset next_offset, rt::MonotonicTime deadline);

  // --- leader_read.cc
  /// Whole committed batches from `request.offset` on, as `view` wants them (projected, filtered, rewritten).
  Result<ReadOutcome> Read(const ReadRequest& request, FetchView& view);
  /// The last `limit` committed rows, as whole batches (spec/wire-protocol.md 6.11).
  Result<rt::Pieces> ReadLast(int64_t limit, FetchView& view);
  FetchWaiterList& fetch_waiters() { return fetch_waiters_; }

  // --- offset_queries.cc
  Result<LogOffset> EarliestOffset() const;
  Result<LogOffset> LatestOffset() const;
  Result<LogOffset> OffsetForTimestamp(TimestampMs timestamp);
  Result<int64_t> RowCount() const;
  LogOffset high_watermark() const { return committed_.current(); }

  // --- log_sync.cc
  /// Makes what is appended durable, in the background; what is appended meanwhile goes with the next round.
  void StartSync();
  /// The same, and waits for the end of it.
  rt::Task<void> Sync();
  /// Deletes segments past their time to live, and lets go of what the log holds while nobody uses it.
  Status DeleteExpired(TimestampMs now, bool roll_active_segment);
  void ExpireWriters();
  log::Log* log() { return log_.get(); }
  /// Ends all waits and background work, then closes the log; `clean` writes what a quick start needs.
  rt::Task<Status> Stop(bool clean);

 private:
  Status CheckServing() const;
  void AdvanceHighWatermark();
  void Refuse(Error why);
  rt::Task<void> SyncUntilDone(rt::Gate::Holder holder);

  const ReplicaEnvironment* environment_;
  const model::TableBucket bucket_;
  const model::PhysicalTablePath path_;
  std::shared_ptr<const model::TableInfo> table_;
  std::unique_ptr<log::Log> log_;  // null when refused at open
  std::optional<Error> refused_;
  model::LeaderAndIsr state_;
  bool notified_ = false;  // a first notice has come: state_ means something
  OffsetWaiters committed_;  // moves with the high watermark
  FetchWaiterList fetch_waiters_;
  bool sync_running_ = false;
  rt::Event sync_done_;
  rt::Gate gate_;
};

}  // namespace strom::replica
