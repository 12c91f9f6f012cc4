#include "sim/bucket_history.h"

#include <algorithm>

namespace strom::sim {

const BucketHistory::Place* BucketHistory::Find(int64_t base) const {
  const auto found = places_.find(base);
  return found == places_.end() ? nullptr : &found->second;
}

void BucketHistory::Acknowledge(SentBatch* batch, int64_t base, bool synced) {
  Put(batch, base, std::nullopt, "acknowledged");
  known_end_ = std::max(known_end_, base + batch->offsets_count());
  if (synced) synced_end_ = std::max(synced_end_, base + batch->offsets_count());
}

void BucketHistory::Read(SentBatch* batch, int64_t base, int64_t timestamp, bool synced) {
  Put(batch, base, timestamp, "read");
  known_end_ = std::max(known_end_, base + batch->offsets_count());
  if (synced) synced_end_ = std::max(synced_end_, base + batch->offsets_count());
}

void BucketHistory::Put(SentBatch* batch, int64_t base, std::optional<int64_t> timestamp, const char* how) {
  if (batch->forbidden) history_.Fail("L5 a gap is refused", "{} is {} at offset {}", batch->ToString(), how, base);
  if (batch->idempotent()) {
    if (batch->bucket != bucket_) history_.Fail("L4 right bucket", "{} is {} in bucket {}", batch->ToString(), how, bucket_);
    const auto [at, fresh] = sequences_.try_emplace({batch->writer.value(), batch->sequence}, base, batch);
    if (!fresh && at->second != std::pair<int64_t, const SentBatch*>(base, batch)) {
      history_.Fail("L5 each sequence once", "{} is {} at offset {}, and {} of that sequence at offset {}", batch->ToString(), how, base,
                    at->second.second->ToString(), at->second.first);
    }
    batch->offset = base;
  }
  if (base < start_) return;  // an answer that retention overtook
  const auto found = places_.find(base);
  if (found != places_.end()) {
    Place& place = found->second;
    if (place.batch != batch) {
      history_.Fail("L3 what is known stays", "bucket {} offset {}: {} is {} where {} was", bucket_, base, batch->ToString(), how,
                    place.batch->ToString());
    }
    if (timestamp && place.timestamp && *timestamp != *place.timestamp) {
      history_.Fail("L3 what is known stays", "bucket {} offset {}: stamped {} where {} was read before", bucket_, base, *timestamp, *place.timestamp);
    }
    if (timestamp) place.timestamp = timestamp;
    return;
  }
  const auto above = places_.lower_bound(base);
  if (above != places_.end() && base + batch->offsets_count() > above->first) {
    history_.Fail("L4 offsets are dense", "bucket {}: {} {} at {} reaches into {} at {}", bucket_, batch->ToString(), how, base,
                  above->second.batch->ToString(), above->first);
  }
  if (above != places_.begin()) {
    const auto below = std::prev(above);
    if (below->second.end(below->first) > base) {
      history_.Fail("L4 offsets are dense", "bucket {}: {} {} at {}, inside of {} at {}", bucket_, batch->ToString(), how, base,
                    below->second.batch->ToString(), below->first);
    }
  }
  if (++batch->places > batch->deliveries) {
    history_.Fail("L5 each delivery once", "{} was sent {} times, and is {} at a {}th place, offset {}", batch->ToString(), batch->deliveries, how,
                  batch->places, base);
  }
  places_.emplace(base, Place{batch, timestamp});
}

void BucketHistory::CutAt(int64_t end) {
  for (auto at = places_.lower_bound(end); at != places_.end();) {
    --at->second.batch->places;
    at->second.batch->offset.reset();
    at = places_.erase(at);
  }
  std::erase_if(sequences_, [end](const auto& each) { return each.second.first >= end; });
  known_end_ = std::min(known_end_, end);
}

void BucketHistory::StartAt(int64_t start) {
  start_ = start;
  // A power loss may bring them back: then they are found anew.
  while (!places_.empty() && places_.begin()->first < start) {
    --places_.begin()->second.batch->places;
    places_.erase(places_.begin());
  }
}

}  // namespace strom::sim
