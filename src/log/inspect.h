#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rt/file.h"

namespace strom::log {

struct InspectOptions {
  bool verify = false;   // check the CRC of every batch, and that indexes point where they should
  bool batches = true;   // a line for each batch
};

struct InspectResult {
  uint64_t segments = 0;
  uint64_t batches = 0;
  uint64_t bytes = 0;
  uint64_t problems = 0;  // each was printed with file and position
};

/// Prints, line by line, what the files of a log hold: `path` is a data directory, a bucket's log directory, or one file of either (segment, index,
/// writer snapshot, offset checkpoint, epoch history). Only reads. Works on directories of Java servers too.
/// Lines that begin with "BAD" are problems. An error when the path itself cannot be read or is nothing that we know.
Result<InspectResult> Inspect(rt::FileSystem& files, const std::string& path, const InspectOptions& options,
                              const std::function<void(std::string_view line)>& print);

}  // namespace strom::log
