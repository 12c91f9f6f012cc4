#pragma once

#include "sim/fetch.h"
#include "sim/world.h"

namespace strom::sim {

/// Checks what fetches are answered: L3 (never above the high watermark, never something else than before), L4 (dense, stamps in order), L11 (a
/// projection and a filter change no value and drop no row that matches), and that nobody is sent away empty while there is something.
class ReadChecker {
 public:
  explicit ReadChecker(World& world) : world_(world) {}

  struct Answer {
    FetchWish wish;
    Result<Buffer> body = Buffer();
    rt::MonotonicTime asked;
    rt::MonotonicTime answered;
    bool stopping = false;  // the server ended all waits
  };
  /// False when it was no answer: the machine died.
  bool Check(const Answer& answer);
  /// Reads all of a bucket as a client would: what is known of it must be there, and nothing else. False when the machine died meanwhile.
  bool Audit(int32_t bucket);

 private:
  struct Batch {
    format::LogBatchHeader header;
    ByteView bytes;
  };
  std::vector<Batch> Split(const FetchedBucket& fetched);
  void CheckBucket(const FetchWish& wish, const FetchWish::Item& item, const FetchedBucket& fetched);
  void CheckChain(const FetchWish& wish, const FetchWish::Item& item, const FetchedBucket& fetched, const std::vector<Batch>& batches);
  void CheckPlain(const FetchedBucket& fetched, const Batch& batch);
  void CheckProjected(const FetchWish& wish, const FetchedBucket& fetched, const Batch& batch);
  void CheckDropped(const FetchWish& wish, int32_t bucket, int64_t from, int64_t to);
  const BucketHistory::Place* FindPlace(int32_t bucket, int64_t base);

  World& world_;
};

}  // namespace strom::sim
