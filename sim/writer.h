#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "sim/world.h"

namespace strom::sim {

/// A client that appends to one bucket as the official ones do: up to five batches on their way, lost answers are sent again in order, and an
/// idempotent one numbers its batches. Besides, the network delivers old copies once more, and now and then a batch is sent that leaves a gap.
/// Checks the answers: L5 (a retry of the last five gets its first offset, a gap is refused), L12 (no acknowledgement times out).
class Writer {
 public:
  struct Traits {
    int number = 0;
    int32_t bucket = 0;
    bool idempotent = true;
    int32_t acks = -1;
  };

  Writer(World& world, Traits traits) : world_(world), traits_(traits) {}

  /// Sends something: a new batch, what must be sent again, an old copy, a gap.
  void Step();
  /// Sends again what is not acknowledged. Nothing new.
  void Retry();
  /// Looks at the answers that have come.
  void Settle();
  bool idle() const { return window_.empty() && answers_.empty(); }
  /// A power loss may have taken what the server had acknowledged to this writer.
  void DoubtServerAfterPowerLoss() { in_doubt_ = in_doubt_ || !world_.settings.group_commit || traits_.acks != -1; }
  std::string ToString() const;

 private:
  static constexpr size_t kWindow = 5;
  enum class Kind { kRegular, kCopy, kGap };
  struct Entry {
    std::vector<SentBatch*> batches;  // one; several only without a writer id
    uint64_t attempt = 0;
    bool on_its_way = false;
  };
  struct Answer {
    Kind kind = Kind::kRegular;
    std::vector<SentBatch*> batches;
    uint64_t attempt = 0;
    bool was_first = false;  // of the window: all before it were acknowledged when it was sent
    bool known = false;      // a copy of an acknowledged batch that was among the writer's last five
    Result<Buffer> body = Buffer();
  };

  bool Open();
  SentBatch* MakeBatch(int32_t sequence, int rows);
  int DrawRows();
  void SendNew();
  void SendCopy();
  void SendGap();
  void Send(Entry& entry);
  void SendBytes(Answer answer);
  void Check(const Answer& answer);
  void Acknowledge(const Answer& answer, int64_t base);
  void Refused(const Answer& answer, ErrorCode code, std::string_view message);
  void StartAnew();

  World& world_;
  const Traits traits_;
  WriterId id_ = kNoWriterId;
  int32_t next_sequence_ = 0;
  uint64_t attempts_ = 0;
  std::deque<Entry> window_;
  std::deque<Entry> recent_;  // acknowledged ones
  std::deque<Answer> answers_;
  bool in_doubt_ = false;
};

}  // namespace strom::sim
