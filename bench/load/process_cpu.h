#pragma once

#include <sys/types.h>

#include <vector>

namespace strom::bench {

/// CPU seconds that the processes' threads have run so far, from the scheduler's nanosecond counts (/proc/PID/task/*/schedstat).
/// Threads that have ended are not in it: measure between two calls around which no thread ends.
double CpuSeconds(const std::vector<pid_t>& processes);

}  // namespace strom::bench
