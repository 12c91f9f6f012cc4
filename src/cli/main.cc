#include <CLI/CLI.hpp>

#include "cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app("strom: streaming storage for real-time analytics, on the Fluss protocol");
  app.require_subcommand(1);
  int status = 0;

  strom::cli::ServerArguments server;
  CLI::App* server_command = app.add_subcommand("server", "run a server: coordinator and tablet server in one process");
  server_command->add_option("--data-dir", server.data_dir, "where everything is kept")->capture_default_str();
  server_command->add_option("--listen", server.listen,
                             "HOST:PORT of the coordinator (bootstrap); the tablet server takes the next port; port 0: two free ones. Default 127.0.0.1:9123");
  server_command->add_option("--config", server.config_file, "a Fluss server.yaml");
  server_command->add_option("--ready-file", server.ready_file, "written once the server serves, removed when it stops");
  server_command->add_option("-D", server.settings, "key=value: overrides the configuration file; may be repeated")->allow_extra_args(false);
  server_command->callback([&] { status = strom::cli::RunServerCommand(server); });

  strom::cli::InspectArguments inspect;
  CLI::App* inspect_command = app.add_subcommand("inspect", "print what is in log directories and files, offline");
  inspect_command->add_option("path", inspect.path, "a data directory, a log directory or one file")->required();
  inspect_command->add_flag("--verify", inspect.verify, "check every checksum; the exit status is 1 when something is damaged");
  inspect_command->callback([&] { status = strom::cli::RunInspectCommand(inspect); });

  CLI::App* version_command = app.add_subcommand("version", "print the version");
  version_command->callback([&] { status = strom::cli::RunVersionCommand(); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help is no error; everything else has printed its sentence and is one status for scripts.
    return app.exit(error) == 0 ? 0 : strom::cli::kUsageStatus;
  }
  return status;
}
