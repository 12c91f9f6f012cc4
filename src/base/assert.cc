#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace strom {

void AssertFailed(const char* file, int line, const char* expression, const std::string& message) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s %s\n", file, line, expression, message.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace strom
