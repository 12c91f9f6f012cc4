#pragma once

#include <set>
#include <vector>

#include "sim/world.h"

namespace strom::sim {

/// Looks at start, high watermark and end of every bucket after each step: L3 (the high watermark never goes back and is never above the end), L8
/// (retention takes whole expired segments from the front, never the active one, never what is not committed), and that every bucket serves.
class BoundsChecker {
 public:
  explicit BoundsChecker(World& world) : world_(world), seen_(world.buckets.size()) {}

  /// What changed since the last time?
  void Observe();
  /// When the last request has ended, and when the next process serves.
  void BeforeRestart();
  void AfterRestart(Death death, bool clean);
  /// The wall clock jumps forward in a moment.
  void BeforeJump();

 private:
  struct Seen {
    int64_t start = 0;
    int64_t high_watermark = 0;
    int64_t end = 0;
    int64_t active_base = 0;
    std::set<int64_t> bases;  // segments that there were
  };
  Seen Look(const replica::Replica& replica, const Seen& before) const;
  void CheckRetention(int32_t bucket, const Seen& before, const Seen& now);
  int64_t BelievableTime() const;

  World& world_;
  std::vector<Seen> seen_;
  int64_t wall_max_ = 0;  // since the last look
  rt::MonotonicTime started_;
  rt::MonotonicTime jumped_;          // last time
  struct Guard {
    int64_t wall = 0;
    rt::MonotonicTime at;
  };
  std::optional<Guard> guard_;  // before the first jump of this life: retention may believe at most twice the time since then
};

}  // namespace strom::sim
