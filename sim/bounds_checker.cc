#include "sim/bounds_checker.h"

#include <algorithm>

#include "model/layout.h"

namespace strom::sim {

BoundsChecker::Seen BoundsChecker::Look(const replica::Replica& replica, const Seen& before) const {
  log::Log& log = *const_cast<replica::Replica&>(replica).log();
  Seen now;
  now.start = log.log_start_offset().value();
  now.high_watermark = replica.high_watermark().value();
  now.end = log.log_end_offset().value();
  now.active_base = log.active_base_offset().value();
  now.bases = before.bases;
  if (now.active_base != before.active_base || now.start != before.start || now.bases.empty()) {
    for (const std::string& path : world_.machine.disk().FilesBelow(log.directory())) {
      const auto base = model::ParseOffsetFileName(path.substr(path.rfind('/') + 1), model::kSegmentSuffix);
      if (base) now.bases.insert(base->value());
    }
  }
  return now;
}

int64_t BoundsChecker::BelievableTime() const {
  const int64_t wall = std::max(wall_max_, world_.machine.executor().WallClockNow().value());
  if (!guard_) return wall;
  const rt::Duration passed = world_.machine.executor().Now() - guard_->at + Machine::kRetentionInterval;
  return std::min(wall, guard_->wall + 2 * std::chrono::duration_cast<std::chrono::milliseconds>(passed).count() + 1);
}

void BoundsChecker::Observe() {
  for (int32_t bucket = 0; bucket < world_.settings.buckets && !world_.history.failed(); ++bucket) {
    const std::shared_ptr<replica::Replica> replica = world_.machine.FindReplica(bucket);
    if (replica == nullptr || replica->refused() || replica->log() == nullptr) {
      world_.history.Fail("every bucket serves", "bucket {}: {}", bucket,
                          replica != nullptr && replica->refused() ? replica->refused()->message : "it has no replica");
      return;
    }
    Seen& before = seen_[static_cast<size_t>(bucket)];
    const Seen now = Look(*replica, before);
    if (now.high_watermark > now.end || now.high_watermark < now.start) {
      world_.history.Fail("L3 start <= high watermark <= end", "bucket {}: start {}, high watermark {}, end {}", bucket, now.start, now.high_watermark, now.end);
    }
    if (now.high_watermark < before.high_watermark || now.end < before.end || now.start < before.start) {
      world_.history.Fail("L3 bounds never go back", "bucket {}: start {} to {}, high watermark {} to {}, end {} to {}", bucket, before.start, now.start,
                          before.high_watermark, now.high_watermark, before.end, now.end);
    }
    if (now.active_base != before.active_base && now.end == before.end && !world_.disk_is_full) {
      world_.history.Fail("L8 only appends roll", "bucket {}: the segment of {} was rolled at the end {}", bucket, before.active_base, now.end);
    }
    if (now.start != before.start) CheckRetention(bucket, before, now);
    before = now;
  }
  wall_max_ = world_.machine.executor().WallClockNow().value();
}

void BoundsChecker::CheckRetention(int32_t bucket, const Seen& before, const Seen& now) {
  BucketHistory& known = world_.buckets[static_cast<size_t>(bucket)];
  world_.history.Note("bucket {} starts at {} (was {})", bucket, now.start, before.start);
  if (!before.bases.contains(now.start) && !now.bases.contains(now.start)) {
    world_.history.Fail("L8 whole segments", "bucket {} starts at {}, where no segment begins", bucket, now.start);
  }
  if (now.start > now.active_base || (now.end == before.end && now.start > before.active_base)) {
    world_.history.Fail("L8 never the active segment", "bucket {} starts at {}, its active segment was {}", bucket, now.start, before.active_base);
  }
  for (const auto& [base, place] : known.places()) {
    if (base >= now.start) break;
    if (place.timestamp && *place.timestamp + world_.settings.ttl_ms >= BelievableTime()) {
      world_.history.Fail("L8 only what is expired", "bucket {}: {} at offset {}, stamped {}, is gone; retention may believe that it is {} now", bucket,
                          place.batch->ToString(), base, *place.timestamp, BelievableTime());
      break;
    }
  }
  known.StartAt(now.start);
}

void BoundsChecker::BeforeJump() {
  const rt::MonotonicTime now = world_.machine.executor().Now();
  wall_max_ = std::max(wall_max_, world_.machine.executor().WallClockNow().value());
  const rt::Duration quiet = 2 * Machine::kRetentionInterval;
  if (!guard_ && now - started_ > quiet && now - jumped_ > quiet) guard_ = Guard{world_.machine.executor().WallClockNow().value(), now};
  jumped_ = now;
}

void BoundsChecker::BeforeRestart() {
  for (int32_t bucket = 0; bucket < world_.settings.buckets; ++bucket) {
    const std::shared_ptr<replica::Replica> replica = world_.machine.FindReplica(bucket);
    if (replica == nullptr || replica->log() == nullptr) continue;
    Seen& seen = seen_[static_cast<size_t>(bucket)];
    seen.end = std::max(seen.end, replica->log()->log_end_offset().value());
  }
}

void BoundsChecker::AfterRestart(Death death, bool clean) {
  guard_.reset();
  started_ = jumped_ = world_.machine.executor().Now();
  for (int32_t bucket = 0; bucket < world_.settings.buckets && !world_.history.failed(); ++bucket) {
    const std::shared_ptr<replica::Replica> replica = world_.machine.FindReplica(bucket);
    if (replica == nullptr || replica->refused() || replica->log() == nullptr) {
      world_.history.Fail("L6 every bucket comes up", "bucket {}: {}", bucket,
                          replica != nullptr && replica->refused() ? replica->refused()->message : "it has no replica");
      return;
    }
    BucketHistory& known = world_.buckets[static_cast<size_t>(bucket)];
    Seen& before = seen_[static_cast<size_t>(bucket)];
    const Seen now = Look(*replica, before);
    world_.history.Note("bucket {} is back: start {} high watermark {} end {} (was start {} end {})", bucket, now.start, now.high_watermark, now.end,
                        before.start, before.end);
    if (clean && (now.end != before.end || now.start != before.start)) {
      world_.history.Fail("L7 a clean stop changes nothing", "bucket {}: start {} to {}, end {} to {}", bucket, before.start, now.start, before.end, now.end);
    }
    if (now.end < known.least_end(death)) {
      world_.history.Fail("L6 nothing acknowledged is lost", "bucket {} ends at {} after a {}, and it must reach {}", bucket, now.end,
                          death == Death::kProcessCrash ? "process crash" : "power loss", known.least_end(death));
    }
    if (now.start != before.start) {
      // An unfinished or unsynced deletion of segments: they may be back, and some more may be gone.
      const bool back = now.start < before.start;
      if (back && death != Death::kPowerLoss) {
        world_.history.Fail("L8 the start never goes back", "bucket {}: {} to {}", bucket, before.start, now.start);
      }
      CheckRetention(bucket, before, now);
    }
    known.CutAt(now.end);
    before = now;
    before.bases.clear();
    before = Look(*replica, before);
  }
  wall_max_ = world_.machine.executor().WallClockNow().value();
}

}  // namespace strom::sim
