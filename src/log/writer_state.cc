#include "log/writer_state.h"

#include <algorithm>

namespace strom::log {

void WriterEntry::Add(const WriterBatch& batch) {
  if (count_ == kBatchesMax) {
    std::move(batches_.begin() + 1, batches_.end(), batches_.begin());
    --count_;
  }
  batches_[count_++] = batch;
}

const WriterBatch* WriterEntry::Find(int32_t sequence) const {
  for (size_t i = count_; i > 0; --i) {
    if (batches_[i - 1].sequence == sequence) return &batches_[i - 1];
  }
  return nullptr;
}

void WriterState::Begin() {
  undo_.clear();
  ++transaction_;
}

Result<const WriterBatch*> WriterState::Check(WriterId writer, const WriterBatch& batch, Origin origin) const {
  const auto found = writers_.find(writer);
  const bool known = found != writers_.end() && !IsExpired(found->second, batch.timestamp);
  if (!known) {
    if (batch.sequence == 0 || origin == Origin::kReplica) return nullptr;
    return MakeError(ErrorCode::kOutOfOrderSequence,
                     "writer {} sends batch sequence {}, but nothing is known of it here: the first one must be 0", writer, batch.sequence);
  }
  if (const WriterBatch* earlier = found->second.Find(batch.sequence)) return earlier;
  const int32_t last = found->second.last().sequence;
  if (last == INT32_MAX ? batch.sequence == 0 : batch.sequence == last + 1) return nullptr;
  return MakeError(ErrorCode::kOutOfOrderSequence, "writer {} sends batch sequence {} after {} at offset {}", writer, batch.sequence, last,
                   found->second.last().last_offset);
}

void WriterState::Apply(WriterId writer, const WriterBatch& batch) {
  WriterEntry& entry = writers_[writer];
  if (entry.saved_in_ != transaction_) {
    undo_.push_back({writer, entry});
    entry.saved_in_ = transaction_;
  }
  if (!entry.empty() && IsExpired(entry, batch.timestamp)) entry.count_ = 0;
  entry.Add(batch);
}

void WriterState::Rollback() {
  for (const Undo& undo : undo_) {
    if (undo.entry.empty()) {
      writers_.erase(undo.writer);
    } else {
      writers_[undo.writer] = undo.entry;
    }
  }
  undo_.clear();
}

void WriterState::Replay(WriterId writer, const WriterBatch& batch) {
  WriterEntry& entry = writers_[writer];
  if (!entry.empty() && IsExpired(entry, batch.timestamp)) entry.count_ = 0;
  // A Java server that restarted may have let a gap through (its window is one batch deep): what is in the log is the truth.
  entry.Add(batch);
}

void WriterState::Restore(WriterId writer, std::span<const WriterBatch> batches) {
  WriterEntry& entry = writers_[writer];
  entry.count_ = 0;
  for (const WriterBatch& batch : batches) entry.Add(batch);
}

void WriterState::RemoveExpired(TimestampMs log_time) {
  std::erase_if(writers_, [&](const auto& writer) { return IsExpired(writer.second, log_time); });
}

void WriterState::Clear() {
  writers_.clear();
  undo_.clear();
}

const WriterEntry* WriterState::Find(WriterId writer) const {
  const auto found = writers_.find(writer);
  return found == writers_.end() ? nullptr : &found->second;
}

}  // namespace strom::log
