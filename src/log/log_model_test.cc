// Seeded random histories of one log against a naive twin, with process crashes, power losses and full disks at random places. A failing seed is
// printed; STROM_LOG_SEED=n runs one alone, STROM_LOG_SEEDS=n more of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>

#include "base/random.h"
#include "format/log_batch.h"
#include "log/testing/log_fixture.h"

namespace strom::log {
namespace {

using namespace testing;

struct TwinBatch {
  int64_t base = 0;
  int64_t next = 0;
  int64_t time = 0;
  std::vector<uint8_t> bytes;
  WriterId writer;
  int32_t sequence = -1;
};

class History {
 public:
  explicit History(uint64_t seed) : random_(seed), machine_(seed * 7 + 1, 4 + random_.Below(8)) {
    machine_.options.segment_size_max = 600 + random_.Below(3000);
    machine_.options.index_interval = static_cast<uint32_t>(random_.Below(400));
    machine_.options.index_file_size = random_.OneIn(3) ? 120 : 10 << 20;
    machine_.options.magic_max = 0;
  }

  void Run(int steps) {
    ASSERT_OK(machine_.Open());
    for (step_ = 0; step_ < steps && !::testing::Test::HasFailure(); ++step_) {
      if (random_.OneIn(12)) machine_.disk->CrashAfter(random_.Below(8));
      Step();
      if (machine_.disk->crashed()) Restart();
    }
    if (::testing::Test::HasFailure()) return;
    if (machine_.disk->crashed()) Restart();
    CheckAll();
  }

 private:
  void Step() {
    machine_.now_ms += static_cast<int64_t>(random_.Below(20)) - 3;
    switch (random_.Below(16)) {
      case 0: return Sync();
      case 1: return CleanRestart();
      case 2: return (void)machine_.log->Roll();
      case 3: return Truncate();
      case 4: return Expire();
      case 5: return CheckAll();
      case 6: return machine_.log->DropCaches();
      case 7: return CheckTimes();
      case 8: return FullDisk();
      case 9:
      case 10:
      case 11: return CheckRead();
      default: return Append();
    }
  }

  int64_t end() const { return twin_.empty() ? empty_at_ : twin_.back().next; }
  int64_t start() const { return twin_.empty() ? empty_at_ : twin_.front().base; }

  TwinBatch NewBatch(int64_t base) {
    TwinBatch batch;
    batch.base = base;
    const int32_t records = static_cast<int32_t>(random_.Below(5));
    batch.next = base + std::max(records, 1);
    if (random_.OneIn(2)) {
      batch.writer = WriterId(static_cast<int64_t>(random_.Below(3)));
      batch.sequence = next_sequence_[batch.writer]++;
    } else {
      batch.writer = kNoWriterId;
    }
    const Buffer made = MakeBatch(records, random_.Below(60), static_cast<uint8_t>(random_.Next()), batch.writer, batch.sequence);
    batch.bytes.assign(made.data(), made.data() + made.size());
    return batch;
  }

  void Append() {
    if (random_.OneIn(5)) return Retry();
    const auto sequences_before = next_sequence_;
    std::vector<TwinBatch> added;
    MutableBuffer request;
    for (uint64_t count = 1 + random_.Below(3); count > 0; --count) {
      added.push_back(NewBatch(added.empty() ? end() : added.back().next));
      request.Append(added.back().bytes);
    }
    const int64_t time = std::max(machine_.now_ms, max_time_);
    for (TwinBatch& batch : added) {
      batch.time = time;
      format::StampLogBatch(batch.bytes, LogOffset(batch.base), TimestampMs(time));
    }
    const Result<LogAppendInfo> info = machine_.Append(request.Freeze());
    if (machine_.disk->crashed()) {
      in_flight_ = added;
      return;
    }
    if (!info.ok()) {
      ASSERT_TRUE(info.code() == ErrorCode::kNoSpace) << info.ToString();
      next_sequence_ = sequences_before;
      ASSERT_EQ(machine_.log->log_end_offset().value(), end());
      return;
    }
    ASSERT_FALSE(info->duplicated);
    ASSERT_EQ(info->first_offset.value(), added.front().base);
    ASSERT_EQ(info->last_offset.value() + 1, added.back().next);
    ASSERT_EQ(info->timestamp.value(), time);
    max_time_ = time;
    twin_.insert(twin_.end(), added.begin(), added.end());
  }

  /// One of the last five batches of a writer again.
  void Retry() {
    std::map<WriterId, int> newer;
    std::vector<const TwinBatch*> candidates;
    for (auto batch = twin_.rbegin(); batch != twin_.rend(); ++batch) {
      if (batch->writer != kNoWriterId && newer[batch->writer]++ < 5) candidates.push_back(&*batch);
    }
    if (candidates.empty()) return;
    const TwinBatch& batch = *candidates[random_.Below(candidates.size())];
    const Result<LogAppendInfo> info = machine_.Append(Buffer::CopyOf(ByteView(batch.bytes)));
    if (machine_.disk->crashed()) return;
    if (info.code() == ErrorCode::kNoSpace && machine_.log->leader_epochs().starts().empty()) return;  // no room to book the epoch
    ASSERT_TRUE(info.ok()) << info.ToString() << " for sequence " << batch.sequence << " of writer " << batch.writer.value() << " at "
                           << batch.base;
    ASSERT_TRUE(info->duplicated) << "batch at " << batch.base;
    ASSERT_EQ(info->first_offset.value(), batch.base);
    ASSERT_EQ(info->last_offset.value() + 1, batch.next);
  }

  void Sync() {
    const int64_t target = end();
    const Status status = machine_.Sync();
    if (machine_.disk->crashed()) return;
    ASSERT_OK(status);
    synced_ = target;
    ASSERT_EQ(machine_.log->flushed_offset().value(), target);
    if (random_.OneIn(2)) checkpoint_ = target;
  }

  void CleanRestart() {
    const Status closed = machine_.log->Close();
    if (machine_.disk->crashed()) return;
    ASSERT_OK(closed);
    synced_ = checkpoint_ = end();
    const Status opened = machine_.Open({true, LogOffset(checkpoint_), false});
    if (machine_.disk->crashed()) return;
    ASSERT_OK(opened);
    CheckEnds();
    max_time_ = machine_.log->max_timestamp().value();
    if (!twin_.empty()) {
      ASSERT_EQ(max_time_, twin_.back().time);
    }
  }

  /// The machine comes back; the twin learns what survived, after a check that it may have.
  void Restart() {
    const bool power_loss = random_.OneIn(2);
    if (power_loss) {
      machine_.log.reset();
      machine_.disk->RestartAfterPowerLoss();
    } else {
      machine_.disk->RestartAfterProcessCrash();
    }
    ASSERT_OK(machine_.Open({false, LogOffset(checkpoint_), power_loss}));
    std::deque<TwinBatch> possible = twin_;
    const int64_t acknowledged = end();
    possible.insert(possible.end(), in_flight_.begin(), in_flight_.end());
    const int64_t found_end = machine_.log->log_end_offset().value();
    const int64_t must = power_loss ? std::min(synced_, truncating_to_) : std::min(acknowledged, truncating_to_);
    if (std::getenv("STROM_LOG_SEED") != nullptr) {
      fmt::print("step {}: {}, acknowledged {}, in flight {} batches, synced {}, checkpoint {}, truncating to {}: found [{}, {})\n", step_,
                 power_loss ? "power loss" : "process crash", acknowledged, in_flight_.size(), synced_, checkpoint_,
                 truncating_to_ == INT64_MAX ? -1 : truncating_to_, machine_.log->local_start_offset(), found_end);
    }
    ASSERT_GE(found_end, must) << (power_loss ? "power loss" : "process crash");
    while (!possible.empty() && possible.back().base >= found_end) possible.pop_back();
    // Retention may have reached the disk or not.
    const int64_t found_start = machine_.log->local_start_offset().value();
    while (!possible.empty() && possible.front().next <= found_start) possible.pop_front();
    if (possible.empty()) empty_at_ = found_end;
    twin_ = possible;
    ASSERT_EQ(end(), found_end);
    if (start() != found_start) {
      // What retention had deleted is back.
      ASSERT_LT(found_start, start());
      ASSERT_TRUE(power_loss || expiring_) << found_start;
      while (!deleted_.empty() && deleted_.back().base >= start()) deleted_.pop_back();
      while (!deleted_.empty() && start() > found_start) {
        twin_.push_front(deleted_.back());
        deleted_.pop_back();
      }
    }
    in_flight_.clear();
    truncating_to_ = INT64_MAX;
    expiring_ = false;
    // Only what was recovered is flushed for sure.
    synced_ = std::min(synced_, found_end);
    next_sequence_.clear();
    for (const TwinBatch& batch : twin_) {
      if (batch.writer != kNoWriterId) next_sequence_[batch.writer] = batch.sequence + 1;
    }
    if (!twin_.empty()) {
      max_time_ = twin_.back().time;
    } else {
      max_time_ = machine_.log->max_timestamp().value();
    }
    for (const auto& [writer, entry] : machine_.log->writers().writers()) {
      next_sequence_[writer] = std::max(next_sequence_[writer], entry.last().sequence + 1);
    }
    CheckAll();
  }

  void Truncate() {
    if (twin_.empty() || !random_.OneIn(3)) return;
    const size_t keep = random_.Below(twin_.size() + 1);
    if (keep == 0 || keep == twin_.size()) return;
    const int64_t to = twin_[keep].base;
    checkpoint_ = std::min(checkpoint_, to);
    // Anywhere inside of the batch cuts all of it.
    const int64_t asked = to + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(twin_[keep].next - to)));
    truncating_to_ = to;
    const Status truncated = machine_.log->TruncateTo(LogOffset(asked));
    if (machine_.disk->crashed()) return;
    truncating_to_ = INT64_MAX;
    ASSERT_OK(truncated);
    twin_.resize(keep);
    synced_ = std::min(synced_, to);
    next_sequence_.clear();
    for (const auto& [writer, entry] : machine_.log->writers().writers()) next_sequence_[writer] = entry.last().sequence + 1;
    CheckEnds();
  }

  void Expire() {
    if (!random_.OneIn(3)) return;
    const int64_t bound = start() + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(end() - start() + 1)));
    const int64_t now = machine_.now_ms + 50;
    const LogOffset before = machine_.log->log_start_offset();
    expiring_ = true;
    const Status expired = machine_.log->DeleteExpired({TimestampMs(now), 100, LogOffset(bound), random_.OneIn(2)});
    const int64_t new_start = machine_.log->log_start_offset().value();
    while (!twin_.empty() && twin_.front().next <= new_start) {
      empty_at_ = twin_.front().next;
      deleted_.push_back(twin_.front());
      twin_.pop_front();
    }
    if (machine_.disk->crashed()) return;
    expiring_ = false;
    ASSERT_OK(expired);
    ASSERT_GE(new_start, before.value());
    ASSERT_LE(new_start, std::max(bound, before.value()));
    if (!deleted_.empty()) {
      ASSERT_TRUE(now - deleted_.back().time > 100 || deleted_.back().next <= before.value());
    }
  }

  void FullDisk() {
    machine_.disk->SetCapacity(machine_.log->size_bytes().value() + random_.Below(400));
    for (int i = 0; i < 3 && !machine_.disk->crashed() && !::testing::Test::HasFailure(); ++i) Append();
    machine_.disk->SetCapacity(UINT64_MAX);
  }

  void CheckEnds() {
    ASSERT_EQ(machine_.log->log_end_offset().value(), end());
    if (!twin_.empty()) {
      ASSERT_EQ(machine_.log->local_start_offset().value(), start());
    }
    ASSERT_LE(machine_.log->flushed_offset(), machine_.log->log_end_offset());
    ASSERT_LE(machine_.cache->open_count(), machine_.cache->open_files_max());
  }

  void CheckRead() {
    if (twin_.empty()) return;
    const int64_t from = start() + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(end() - start())));
    const int64_t bound = random_.OneIn(2) ? end() : from + static_cast<int64_t>(random_.Below(10));
    const uint64_t max_bytes = random_.Below(2000);
    const bool min_one = random_.OneIn(2);
    const Result<LogSlice> slice = machine_.log->Read({LogOffset(from), LogOffset(bound), max_bytes, min_one});
    if (machine_.disk->crashed()) return;
    ASSERT_OK(slice);
    std::vector<uint8_t> expected;
    int64_t next = from;
    const LogOffset segment_limit = slice->next_offset;
    for (const TwinBatch& batch : twin_) {
      if (batch.next <= from) continue;
      if (batch.next > std::min(bound, end())) break;
      if (expected.size() + batch.bytes.size() > max_bytes && !(expected.empty() && min_one)) break;
      if (!expected.empty() && batch.base >= segment_limit.value()) break;  // a slice ends with its segment
      expected.insert(expected.end(), batch.bytes.begin(), batch.bytes.end());
      next = batch.next;
      if (expected.size() >= max_bytes) break;
    }
    ASSERT_EQ(Bytes(*slice), expected) << "from " << from << " bound " << bound << " max " << max_bytes;
    ASSERT_EQ(slice->next_offset.value(), next);
  }

  void CheckTimes() {
    const int64_t time = machine_.now_ms - static_cast<int64_t>(random_.Below(200));
    const Result<LogOffset> offset = machine_.log->OffsetForTimestamp(TimestampMs(time), LogOffset(end()));
    if (machine_.disk->crashed()) return;
    ASSERT_OK(offset);
    int64_t expected = end();
    for (const TwinBatch& batch : twin_) {
      if (batch.time < time) continue;
      expected = batch.base;
      break;
    }
    ASSERT_EQ(offset->value(), expected) << time;
  }

  void CheckAll() {
    CheckEnds();
    std::vector<uint8_t> expected;
    for (const TwinBatch& batch : twin_) expected.insert(expected.end(), batch.bytes.begin(), batch.bytes.end());
    LogOffset at = machine_.log->local_start_offset();
    std::vector<uint8_t> found;
    while (at < machine_.log->log_end_offset()) {
      const Result<LogSlice> slice = machine_.Read(at.value(), 700);
      if (machine_.disk->crashed()) return;
      ASSERT_OK(slice);
      const std::vector<uint8_t> bytes = Bytes(*slice);
      if (machine_.disk->crashed()) return;
      ASSERT_FALSE(bytes.empty());
      found.insert(found.end(), bytes.begin(), bytes.end());
      at = slice->next_offset;
    }
    ASSERT_EQ(found, expected);
  }

  Random random_;
  Machine machine_;
  std::deque<TwinBatch> twin_;
  std::deque<TwinBatch> deleted_;      // by retention
  std::vector<TwinBatch> in_flight_;   // of the append in which the disk died
  std::map<WriterId, int32_t> next_sequence_;
  int64_t empty_at_ = 0;
  int64_t max_time_ = -1;
  int64_t synced_ = 0;
  int64_t checkpoint_ = 0;
  int64_t truncating_to_ = INT64_MAX;
  bool expiring_ = false;
  int step_ = 0;
};

TEST(LogModel, RandomHistoriesWithCrashesAreThoseOfTheTwin) {
  const char* one = std::getenv("STROM_LOG_SEED");
  const char* many = std::getenv("STROM_LOG_SEEDS");
  const uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 0;
  const uint64_t last = one != nullptr ? first + 1 : many != nullptr ? std::strtoull(many, nullptr, 10) : 400;
  for (uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE(fmt::format("STROM_LOG_SEED={}", seed));
    History(seed).Run(120);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace strom::log
