// strom_sim: runs seeds of the simulation. The last line is "N passed, N failed"; a failed seed says how to see it again.

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "sim/run.h"

namespace {

constexpr const char* kUsage =
    "usage: strom_sim [--seeds N] [--first S] [--seed S] [--fail-fast] [--verbose]\n"
    "  --seeds N     runs N seeds (default 200)\n"
    "  --first S     the first of them (default 1)\n"
    "  --seed S      runs this one only\n"
    "  --fail-fast   ends with the first seed that fails\n"
    "  --verbose     prints every event\n";

/// A run takes a fraction of a second; one that takes this long is caught in a loop.
constexpr unsigned kSecondsMax = 60;

uint64_t running_seed = 0;

/// An assertion, a wild pointer or an endless loop: says which seed it was. The sums are said, too: others read them.
void OnSignal(int signal) {
  char line[160];
  const int size = std::snprintf(line, sizeof line, "seed %llu: ended by signal %d (%s)\n  again: strom_sim --seed %llu --verbose\n0 passed, 1 failed\n",
                                 static_cast<unsigned long long>(running_seed), signal, signal == SIGALRM ? "it does not end" : "it broke down",
                                 static_cast<unsigned long long>(running_seed));
  (void)!write(STDOUT_FILENO, line, static_cast<size_t>(size));
  _exit(1);
}

std::optional<uint64_t> ToNumber(const char* text) {
  uint64_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

void Report(uint64_t seed, const strom::sim::RunResult& result, bool with_trace) {
  std::printf("seed %llu failed: %s\n", static_cast<unsigned long long>(seed), result.violation.c_str());
  if (with_trace) {
    std::printf("  %s\n  the last events:\n", result.settings.c_str());
    for (const std::string& line : result.trace) std::printf("    %s\n", line.c_str());
  }
  std::printf("  again: strom_sim --seed %llu --verbose\n", static_cast<unsigned long long>(seed));
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seeds = 200;
  uint64_t first = 1;
  bool verbose = false;
  bool fail_fast = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const std::optional<uint64_t> number = i + 1 < argc ? ToNumber(argv[i + 1]) : std::nullopt;
    if (option == "--verbose") {
      verbose = true;
    } else if (option == "--fail-fast") {
      fail_fast = true;
    } else if ((option == "--seeds" || option == "--first" || option == "--seed") && number) {
      if (option == "--seeds") seeds = *number;
      if (option != "--seeds") first = *number;
      if (option == "--seed") seeds = 1;
      ++i;
    } else {
      std::fputs(kUsage, option == "--help" ? stdout : stderr);
      return option == "--help" ? 0 : 2;
    }
  }
  strom::InitLog({.level = verbose ? strom::LogLevel::kWarn : strom::LogLevel::kOff, .file = {}});
  for (const int each : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM}) signal(each, OnSignal);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);

  uint64_t passed = 0;
  uint64_t failed = 0;
  strom::sim::RunResult sums;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    running_seed = seed;
    alarm(kSecondsMax);
    const strom::sim::RunResult result = strom::sim::RunSeed(seed, verbose);
    alarm(0);
    sums.crashes += result.crashes;
    sums.power_losses += result.power_losses;
    sums.clean_stops += result.clean_stops;
    sums.events += result.events;
    if (seeds == 1) std::printf("seed %llu: %s\ndigest %016llx\n", static_cast<unsigned long long>(seed), result.settings.c_str(),
                                static_cast<unsigned long long>(result.digest));
    if (result.passed) {
      ++passed;
      continue;
    }
    Report(seed, result, failed == 0);
    ++failed;
    if (fail_fast) break;
  }
  std::printf("%llu events, %d process crashes, %d power losses, %d clean stops\n", static_cast<unsigned long long>(sums.events), sums.crashes,
              sums.power_losses, sums.clean_stops);
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(passed), static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}
