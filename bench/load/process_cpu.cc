#include "load/process_cpu.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace strom::bench {

double CpuSeconds(const std::vector<pid_t>& processes) {
  double seconds = 0;
  for (const pid_t process : processes) {
    std::error_code gone;
    const std::filesystem::directory_iterator threads("/proc/" + std::to_string(process) + "/task", gone);
    if (gone) continue;
    for (const auto& thread : threads) {
      std::ifstream counts(thread.path() / "schedstat");
      double nanoseconds = 0;
      if (counts >> nanoseconds) seconds += nanoseconds / 1e9;
    }
  }
  return seconds;
}

}  // namespace strom::bench
