#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "sim/history.h"
#include "sim/machine.h"
#include "sim/table_data.h"

namespace strom::sim {

/// What is known of one bucket's log from outside, by acknowledgements and by reads, and the rules that this must keep (server.md 16.2):
/// what was acknowledged or read at an offset stays there (L3, L6), no two batches share an offset (L4), and a writer's sequence is in the log once (L5).
class BucketHistory {
 public:
  struct Place {
    SentBatch* batch = nullptr;
    std::optional<int64_t> timestamp;  // once it was read
    int64_t end(int64_t base) const { return base + batch->offsets_count(); }
  };

  BucketHistory(int32_t bucket, History& history) : bucket_(bucket), history_(history) {}

  int32_t bucket() const { return bucket_; }
  /// The server answered that `batch` is at `base`. `synced`: the answer says that it is on the disk.
  void Acknowledge(SentBatch* batch, int64_t base, bool synced);
  /// A client read `batch` at `base`. `synced`: what can be read is on the disk.
  void Read(SentBatch* batch, int64_t base, int64_t timestamp, bool synced);

  const std::map<int64_t, Place>& places() const { return places_; }
  /// The place that begins at `base`, or null.
  const Place* Find(int64_t base) const;
  int64_t start() const { return start_; }

  /// A crash of that kind must leave the log at least this long.
  int64_t least_end(Death death) const { return death == Death::kProcessCrash ? known_end_ : synced_end_; }
  /// Everything up to `end` is on the disk: a clean stop.
  void NoteSynced(int64_t end) { synced_end_ = std::max(synced_end_, end); }
  /// A power loss took what was at `end` and above.
  void CutAt(int64_t end);
  /// Retention: the log starts at `start` (or, after a power loss, again at an older segment).
  void StartAt(int64_t start);

 private:
  void Put(SentBatch* batch, int64_t base, std::optional<int64_t> timestamp, const char* how);

  const int32_t bucket_;
  History& history_;
  std::map<int64_t, Place> places_;  // by base offset
  std::map<std::pair<int64_t, int32_t>, std::pair<int64_t, const SentBatch*>> sequences_;  // of each writer, also below the start
  int64_t start_ = 0;
  int64_t known_end_ = 0;   // of what was acknowledged or read
  int64_t synced_end_ = 0;  // of that, what must be on the disk
};

}  // namespace strom::sim
