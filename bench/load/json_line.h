#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "load/histogram.h"

namespace strom::bench {

/// One flat JSON object on one line. Names and texts are our own words: nothing in them needs an escape.
class JsonLine {
 public:
  JsonLine& Add(std::string_view name, std::string_view text) { return Raw(name, fmt::format("\"{}\"", text)); }
  JsonLine& Add(std::string_view name, const char* text) { return Add(name, std::string_view(text)); }
  JsonLine& Add(std::string_view name, double number) { return Raw(name, fmt::format("{:.6g}", number)); }
  JsonLine& Add(std::string_view name, int64_t number) { return Raw(name, fmt::format("{}", number)); }
  /// "<name>_p50_ms", "_p99_ms", "_p999_ms", "_max_ms" and "_count".
  JsonLine& Add(std::string_view name, const Histogram& latencies) {
    const auto add = [&](std::string_view part, int64_t nanoseconds) {
      Add(fmt::format("{}_{}_ms", name, part), static_cast<double>(nanoseconds) / 1e6);
    };
    add("p50", latencies.At(0.5));
    add("p99", latencies.At(0.99));
    add("p999", latencies.At(0.999));
    add("max", latencies.max());
    return Add(fmt::format("{}_count", name), static_cast<int64_t>(latencies.count()));
  }
  /// "<name>_min_ms", "_median_ms" and "_max_ms" of figures in milliseconds; there is at least one.
  JsonLine& AddSpread(std::string_view name, std::vector<double> milliseconds) {
    std::sort(milliseconds.begin(), milliseconds.end());
    Add(fmt::format("{}_min_ms", name), milliseconds.front());
    Add(fmt::format("{}_median_ms", name), milliseconds[milliseconds.size() / 2]);
    return Add(fmt::format("{}_max_ms", name), milliseconds.back());
  }
  std::string ToString() const { return "{" + text_ + "}"; }

 private:
  JsonLine& Raw(std::string_view name, std::string_view value) {
    text_ += fmt::format("{}\"{}\":{}", text_.empty() ? "" : ",", name, value);
    return *this;
  }
  std::string text_;
};

}  // namespace strom::bench
