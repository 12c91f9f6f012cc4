#pragma once

#include <string>
#include <vector>

namespace strom::cli {

// The subcommands of `strom`: arguments parsed, to exit status.

/// Of a command line that nobody understands.
inline constexpr int kUsageStatus = 2;

struct ServerArguments {
  std::string data_dir = "./strom-data";
  std::string listen;       // HOST:PORT
  std::string config_file;
  std::string ready_file;
  std::vector<std::string> settings;  // key=value
};
int RunServerCommand(const ServerArguments& arguments);

struct InspectArguments {
  std::string path;
  bool verify = false;
};
/// `path` may be the data directory of a server, too: its logs are inspected. 0; 1 when something is damaged (row bytes are looked at by --verify
/// only); 2 when there is nothing to inspect at the path.
int RunInspectCommand(const InspectArguments& arguments);

int RunVersionCommand();

}  // namespace strom::cli
