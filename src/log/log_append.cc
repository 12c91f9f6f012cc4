#include <algorithm>
#include <array>

#include "base/endian.h"
#include "format/log_batch.h"
#include "log/log.h"

namespace strom::log {

/// What one append needs; its memory is used again, so that an append allocates nothing once it is warm.
struct Log::AppendScratch {
  struct Batch {
    uint64_t position = 0;  // in the request
    uint32_t size = 0;
    int32_t last_offset_delta = 0;
    WriterId writer;
    int32_t sequence = 0;
    LogOffset base_offset;    // to be, or the earlier one of a duplicate
    TimestampMs timestamp;
    bool duplicate = false;
  };
  static constexpr size_t kKeptMax = 1024;  // batches

  std::vector<Batch> batches;
  std::vector<std::array<uint8_t, format::kBatchStampSize>> heads;
  std::vector<ByteView> pieces;
  uint64_t new_bytes = 0;
  LogOffset end;  // the log end after the append
  size_t new_batches = 0;

  static AppendScratch& OfThread() {
    thread_local AppendScratch scratch;
    scratch.batches.clear();
    return scratch;
  }
  void ReleaseExcess() {
    if (batches.capacity() <= kKeptMax) return;
    batches = {};
    heads = {};
    pieces = {};
  }
};

/// Checks each batch of the request by itself: sizes, CRC, and that it goes on where the one before ended (a follower's).
Status Log::ParseAppend(const Buffer& records, bool as_leader, AppendScratch& scratch) const {
  const ByteView bytes = records.view();
  LogOffset expected = log_end_;
  TimestampMs newest = max_timestamp_;
  size_t position = 0;
  while (bytes.size() - position >= format::kBatchPeekSize) {
    const ByteView rest = bytes.subspan(position);
    const int64_t total = int64_t{LoadLe<int32_t>(rest.data() + 8)} + static_cast<int64_t>(format::kBatchLengthEnd);
    const size_t header_size = format::BatchHeaderSize(rest[12]);
    if (header_size != 0 && total >= static_cast<int64_t>(header_size) && total > static_cast<int64_t>(rest.size())) break;
    Result<format::LogBatchHeader> decoded = format::DecodeLogBatchHeader(rest);
    if (!decoded.ok()) {
      return MakeError(ErrorCode::kCorruptRecord, "{}: batch {} of the request: {}", bucket_.ToString(), scratch.batches.size(),
                       decoded.error().message);
    }
    const format::LogBatchHeader& header = *decoded;
    if (header.magic > options_.magic_max) {
      return MakeError(ErrorCode::kCorruptRecord, "{}: batch {} of the request has magic {}; this table takes at most {}",
                       bucket_.ToString(), scratch.batches.size(), header.magic, options_.magic_max);
    }
    const Status checked = format::CheckLogBatch(header, rest.first(header.total_size));
    if (!checked.ok()) {
      return MakeError(ErrorCode::kCorruptRecord, "{}: batch {} of the request: {}", bucket_.ToString(), scratch.batches.size(),
                       checked.error().message);
    }
    if (as_leader && header.last_offset_delta != std::max(header.record_count - 1, 0)) {
      return MakeError(ErrorCode::kCorruptRecord, "{}: batch {} of the request has {} records but a last offset delta of {}",
                       bucket_.ToString(), scratch.batches.size(), header.record_count, header.last_offset_delta);
    }
    if (!as_leader) {
      if (header.base_offset != expected) {
        return MakeError(scratch.batches.empty() ? ErrorCode::kLogOffsetOutOfRange : ErrorCode::kCorruptRecord,
                         "{}: a fetched batch begins at offset {} where {} must be", bucket_.ToString(), header.base_offset, expected);
      }
      if (header.commit_timestamp < newest && !scratch.batches.empty()) {
        return MakeError(ErrorCode::kCorruptRecord, "{}: the fetched batch at offset {} is stamped {}, before its predecessor's {}",
                         bucket_.ToString(), header.base_offset, header.commit_timestamp, newest);
      }
      expected = header.next_offset();
      newest = header.commit_timestamp;
    }
    scratch.batches.push_back({.position = position,
                               .size = header.total_size,
                               .last_offset_delta = header.last_offset_delta,
                               .writer = header.writer_id,
                               .sequence = header.batch_sequence,
                               .base_offset = header.base_offset,
                               .timestamp = header.commit_timestamp});
    position += header.total_size;
  }
  if (scratch.batches.empty() && !bytes.empty()) {
    return MakeError(ErrorCode::kCorruptRecord, "{}: {} bytes that form no record batch", bucket_.ToString(), bytes.size());
  }
  if (position > static_cast<size_t>(INT32_MAX)) {
    return MakeError(ErrorCode::kRecordTooLarge, "{}: {} bytes in one append; a segment holds {}", bucket_.ToString(), position, INT32_MAX);
  }
  return Status::OK();
}

/// Gives every batch its offsets, finds duplicates, and takes the rest into the writer state (to be committed or rolled back).
Status Log::CheckWriters(bool as_leader, AppendScratch& scratch) {
  const WriterState::Origin origin = as_leader ? WriterState::Origin::kLeader : WriterState::Origin::kReplica;
  scratch.end = log_end_;
  scratch.new_bytes = 0;
  scratch.new_batches = 0;
  writers_.Begin();
  for (AppendScratch::Batch& batch : scratch.batches) {
    const WriterBatch entry{batch.sequence, scratch.end + batch.last_offset_delta, batch.last_offset_delta, batch.timestamp};
    batch.duplicate = false;
    if (batch.writer != kNoWriterId) {
      Result<const WriterBatch*> earlier = writers_.Check(batch.writer, entry, origin);
      if (earlier.ok() && *earlier != nullptr) {
        if (!as_leader) {
          earlier = MakeError(ErrorCode::kDuplicateSequence, "{}: batch sequence {} of writer {} is in the log at offset {} already",
                              bucket_.ToString(), batch.sequence, batch.writer, (*earlier)->first_offset());
        } else {
          batch.duplicate = true;
          batch.base_offset = (*earlier)->first_offset();
          batch.last_offset_delta = (*earlier)->offset_delta;
          batch.timestamp = (*earlier)->timestamp;
          continue;
        }
      }
      if (!earlier.ok()) {
        writers_.Rollback();
        return earlier.error();
      }
      writers_.Apply(batch.writer, entry);
    }
    batch.base_offset = scratch.end;
    scratch.end = entry.last_offset + 1;
    scratch.new_bytes += batch.size;
    ++scratch.new_batches;
  }
  return Status::OK();
}

/// Source: spec/server.md 8.2. Besides, a file never passes 2^31 - 1 bytes: positions in the index are 31 bits.
bool Log::MustRoll(uint64_t incoming_bytes, LogOffset last_offset) {
  const Segment& segment = active();
  if (segment.size() == 0) return false;
  const uint64_t size_max = std::min<uint64_t>(options_.segment_size_max, INT32_MAX);
  return segment.size() + incoming_bytes > size_max || segment.IndexFull(options_.index_file_size) ||
         last_offset - segment.base_offset() > INT32_MAX;
}

/// One write of all new batches: stamped copies of the heads, the rest from the request's own bytes.
Status Log::WriteBatches(const Buffer& records, bool as_leader, AppendScratch& scratch) {
  const ByteView bytes = records.view();
  scratch.pieces.clear();
  scratch.heads.resize(as_leader ? scratch.new_batches : 0);
  size_t head = 0;
  for (const AppendScratch::Batch& batch : scratch.batches) {
    if (batch.duplicate) continue;
    const ByteView whole = bytes.subspan(batch.position, batch.size);
    if (!as_leader) {
      scratch.pieces.push_back(whole);
      continue;
    }
    auto& stamped = scratch.heads[head++];
    std::copy_n(whole.data(), stamped.size(), stamped.data());
    format::StampLogBatch(stamped, batch.base_offset, batch.timestamp);
    scratch.pieces.emplace_back(stamped);
    scratch.pieces.push_back(whole.subspan(stamped.size()));
  }
  if (!as_leader && !scratch.pieces.empty()) {
    // A follower keeps the bytes as they are: they lie side by side.
    const ByteView all = bytes.first(scratch.new_bytes);
    scratch.pieces.assign(1, all);
  }
  STROM_ASSIGN(rt::File* const file, active().LogFile(context()));
  const uint64_t position = active().size();
  const Status written = file->WriteAt(position, scratch.pieces);
  if (written.ok()) return written;
  const Status undone = file->Truncate(position);
  if (!undone.ok()) {
    Fail(MakeError(undone.code(), "a failed write ({}) could not be undone: {}", written.error().message, undone.error().message));
  }
  return written;
}

Result<LogAppendInfo> Log::Append(const Buffer& records, bool as_leader, AppendScratch& scratch) {
  STROM_TRY(ParseAppend(records, as_leader, scratch));
  if (scratch.batches.empty()) return LogAppendInfo{log_end_, log_end_ + -1, max_timestamp_, false};
  if (as_leader) {
    const TimestampMs stamp = std::max(max_timestamp_, environment_.wall_clock());
    for (AppendScratch::Batch& batch : scratch.batches) batch.timestamp = stamp;
  }
  STROM_TRY(CheckWriters(as_leader, scratch));
  if (scratch.new_batches > 0 && MustRoll(scratch.new_bytes, scratch.end + -1)) {
    // The snapshot of the roll must not know what is not written yet.
    writers_.Rollback();
    STROM_TRY(Roll());
    STROM_TRY(CheckWriters(as_leader, scratch));
  }
  const AppendScratch::Batch& first = scratch.batches.front();
  const AppendScratch::Batch& last = scratch.batches.back();
  const LogAppendInfo info{first.base_offset, last.base_offset + last.last_offset_delta, last.timestamp, scratch.new_batches == 0};
  if (scratch.new_batches == 0) return info;
  const Status written = WriteBatches(records, as_leader, scratch);
  if (!written.ok()) {
    writers_.Rollback();
    return written.error();
  }
  writers_.Commit();

  uint64_t position = active().size();
  LogOffset first_of_newest = scratch.end;
  TimestampMs newest = max_timestamp_;
  for (const AppendScratch::Batch& batch : scratch.batches) {
    if (batch.duplicate) continue;
    if (first_of_newest == scratch.end || batch.timestamp > newest) {
      newest = batch.timestamp;
      first_of_newest = batch.base_offset;
    }
    tail_.Push({batch.base_offset, static_cast<uint32_t>(position), batch.size});
    position += batch.size;
  }
  active().NoteAppend(context(), first_of_newest, scratch.end + -1, scratch.new_bytes, newest);
  log_end_ = scratch.end;
  max_timestamp_ = std::max(max_timestamp_, newest);
  return info;
}

Result<LogAppendInfo> Log::AppendAsLeader(const Buffer& records, LeaderEpoch epoch) {
  STROM_TRY(failure_);
  if (const auto latest = epochs_.latest(); !latest || epoch > *latest) {
    STROM_TRY(BeginLeaderEpoch(epoch));
  } else if (epoch < *latest) {
    return MakeError(ErrorCode::kFencedLeaderEpoch, "{}: an append of leader epoch {}, but epoch {} has begun", bucket_.ToString(), epoch,
                     *latest);
  }
  AppendScratch& scratch = AppendScratch::OfThread();
  Result<LogAppendInfo> info = Append(records, /*as_leader=*/true, scratch);
  scratch.ReleaseExcess();
  return info;
}

Result<LogAppendInfo> Log::AppendAsFollower(const Buffer& records) {
  STROM_TRY(failure_);
  AppendScratch& scratch = AppendScratch::OfThread();
  Result<LogAppendInfo> info = Append(records, /*as_leader=*/false, scratch);
  scratch.ReleaseExcess();
  return info;
}

}  // namespace strom::log
