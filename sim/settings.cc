#include "sim/settings.h"

#include <fmt/format.h>

namespace strom::sim {

namespace {

constexpr int64_t kMinute = 60'000;

template <typename T, size_t kCount>
T Choose(Random& random, const T (&values)[kCount]) {
  return values[random.Below(kCount)];
}

std::string_view CodecName(const std::optional<format::ArrowCodec>& codec) {
  if (!codec) return "none";
  return *codec == format::ArrowCodec::kZstd ? "zstd" : "lz4";
}

}  // namespace

Settings Settings::Draw(uint64_t seed) {
  Random random(seed * 0x9E3779B97F4A7C15ULL + 1);
  Settings settings;
  settings.seed = seed;
  settings.group_commit = random.OneIn(2);
  settings.flush_interval_messages = Choose<int64_t>(random, {5, 50, INT64_MAX});
  settings.segment_size = Choose<uint64_t>(random, {700, 1500, 3000, 8000, 40'000});
  settings.index_interval = Choose<uint32_t>(random, {50, 200, 700, 4096});
  settings.open_files_max = Choose<size_t>(random, {3, 8, 64});
  settings.blocking_time = Choose<rt::Duration>(
      random, {rt::Duration(0), std::chrono::microseconds(100), std::chrono::milliseconds(3), std::chrono::milliseconds(40)});
  settings.shuffled = random.OneIn(2);
  settings.buckets = static_cast<int32_t>(random.Between(1, 3));
  settings.statistics = !random.OneIn(3);
  settings.codec = Choose<std::optional<format::ArrowCodec>>(
      random, {std::nullopt, std::nullopt, format::ArrowCodec::kLz4Frame, format::ArrowCodec::kZstd});
  settings.ttl_ms = Choose<int64_t>(random, {kMinute, 10 * kMinute, 7 * 24 * 60 * kMinute});
  settings.steps = static_cast<int>(random.Between(250, 600));
  settings.writers = static_cast<int>(random.Between(2, 5));
  settings.crashes = !random.OneIn(5);
  settings.power_losses = !random.OneIn(3);
  settings.full_disks = random.OneIn(3);
  settings.clock_jumps = random.OneIn(2);
  settings.many_appends = random.OneIn(3);
  settings.checkpoint_interval = Choose<rt::Duration>(
      random, {std::chrono::milliseconds(40), std::chrono::milliseconds(400), std::chrono::seconds(7)});
  return settings;
}

std::string Settings::ToString() const {
  std::string flush = group_commit ? "group commit" : "page cache";
  if (!group_commit && flush_interval_messages != INT64_MAX) flush = fmt::format("flush after {} rows", flush_interval_messages);
  return fmt::format(
      "{}, segments of {} bytes, index every {}, {} open files, blocking work takes {} us, recovery points every {} ms, {}; {} buckets, statistics {}, codec {}, ttl {} s; "
      "{} steps, {} writers, crashes {}, power losses {}, full disks {}, clock jumps {}{}",
      flush, segment_size, index_interval, open_files_max, blocking_time.count() / 1000,
      checkpoint_interval.count() / 1'000'000, shuffled ? "shuffled" : "in order", buckets,
      statistics, CodecName(codec), ttl_ms / 1000, steps, writers, crashes, power_losses, full_disks, clock_jumps,
      many_appends ? ", many appends" : "");
}

}  // namespace strom::sim
