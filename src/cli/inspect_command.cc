#include <cstdio>

#include "cli/commands.h"
#include "log/inspect.h"
#include "rt/file.h"
#include "server/data_directory.h"

namespace strom::cli {

int RunInspectCommand(const InspectArguments& arguments) {
  const auto print = [](std::string_view line) { std::printf("%.*s\n", static_cast<int>(line.size()), line.data()); };
  const auto inspected = log::Inspect(rt::SystemFiles(), server::LogsBelow(arguments.path), {.verify = arguments.verify}, print);
  if (!inspected.ok()) {
    std::fprintf(stderr, "strom inspect: %s\n", inspected.error().message.c_str());
    return 2;
  }
  std::printf("%llu segments, %llu batches, %llu bytes, %llu problems\n", static_cast<unsigned long long>(inspected->segments),
              static_cast<unsigned long long>(inspected->batches), static_cast<unsigned long long>(inspected->bytes),
              static_cast<unsigned long long>(inspected->problems));
  return inspected->problems > 0 ? 1 : 0;
}

}  // namespace strom::cli
