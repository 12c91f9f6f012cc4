#pragma once

#include <deque>
#include <map>

#include "sim/read_checker.h"

namespace strom::sim {

/// All clients that read: at the tail and from any offset, with and without a long wait, some columns only, filtered; and those who ask for the
/// offset of a time. Checks that a fetch that waits is answered by the append that satisfies it, in no time.
class Readers {
 public:
  Readers(World& world, ReadChecker& checker) : world_(world), checker_(checker) {}

  void SendFetch();
  /// Asks for the offset of a time, and compares with what is known to be there (L10).
  void CheckTimes();
  void Settle();
  /// Nothing is ready to run: whoever still waits must have nothing to get.
  void CheckWaits();

 private:
  FetchWish DrawWish();
  format::Predicate DrawFilter(int depth);
  format::Predicate DrawLeaf();
  Result<int64_t> AskTime(int32_t bucket, int64_t time);

  World& world_;
  ReadChecker& checker_;
  std::map<int32_t, int64_t> tails_;  // where sequential readers go on
  std::map<uint64_t, FetchWish> waiting_;
  std::deque<ReadChecker::Answer> answers_;
  uint64_t fetches_ = 0;
};

}  // namespace strom::sim
