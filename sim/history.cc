#include "sim/history.h"

#include <cstdio>

namespace strom::sim {

void History::AddLine(const std::string& line) {
  ++count_;
  const std::string stamped = fmt::format("{:>12.6f} {}", static_cast<double>(time_) / 1e9, line);
  for (const char each : stamped) digest_ = (digest_ ^ static_cast<uint8_t>(each)) * 0x100000001B3ULL;
  if (verbose_) std::printf("%s\n", stamped.c_str());
  tail_.push_back(stamped);
  if (tail_.size() > kTailMax) tail_.pop_front();
}

void History::AddViolation(std::string text) {
  if (failed()) return;
  AddLine("VIOLATION " + text);
  violation_ = std::move(text);
}

}  // namespace strom::sim
