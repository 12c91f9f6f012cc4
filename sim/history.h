#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace strom::sim {

/// What happened in a run, a line an event: a digest of all of it (two runs of a seed are the same if their digests are), the last lines for
/// who looks for the cause of a failure, and the first violation that a checker found.
class History {
 public:
  explicit History(bool verbose) : verbose_(verbose) {}

  template <typename... Args>
  void Note(fmt::format_string<Args...> format, Args&&... args) {
    AddLine(fmt::format(format, std::forward<Args>(args)...));
  }
  /// A rule is broken. The first one counts; the run ends at the next step.
  template <typename... Args>
  void Fail(std::string_view rule, fmt::format_string<Args...> format, Args&&... args) {
    AddViolation(fmt::format("{}: {}", rule, fmt::format(format, std::forward<Args>(args)...)));
  }
  bool failed() const { return !violation_.empty(); }
  const std::string& violation() const { return violation_; }
  uint64_t digest() const { return digest_; }
  uint64_t count() const { return count_; }
  /// The last lines, oldest first.
  const std::deque<std::string>& tail() const { return tail_; }
  /// Set before each event: the simulated time in front of its line.
  void SetTime(int64_t nanoseconds) { time_ = nanoseconds; }

 private:
  static constexpr size_t kTailMax = 120;
  void AddLine(const std::string& line);
  void AddViolation(std::string text);

  const bool verbose_;
  int64_t time_ = 0;
  uint64_t count_ = 0;
  uint64_t digest_ = 0xCBF29CE484222325ULL;
  std::deque<std::string> tail_;
  std::string violation_;
};

}  // namespace strom::sim
