#include <cstdio>

#include "cli/commands.h"

namespace strom::cli {

int RunVersionCommand() {
  std::printf("strom %s\nserves clients of Apache Fluss 0.9.1 and 1.0.0\n", STROM_VERSION);
  return 0;
}

}  // namespace strom::cli
