#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strom::sim {

/// What became of one run.
struct RunResult {
  bool passed = false;
  std::string settings;
  std::string violation;           // which rule, and what was seen
  std::vector<std::string> trace;  // the last events
  uint64_t digest = 0;             // of all events: the same for every run of a seed
  int crashes = 0;
  int power_losses = 0;
  int clean_stops = 0;
  uint64_t events = 0;
};

/// Runs the simulation of one seed. `verbose` prints every event as it happens.
RunResult RunSeed(uint64_t seed, bool verbose);

}  // namespace strom::sim
