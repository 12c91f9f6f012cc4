#include <cstdio>

#include "cli/commands.h"
#include "server/server.h"

namespace strom::cli {

namespace {

int Fail(const Status& status) {
  std::fprintf(stderr, "strom: the server cannot start: %s\n", status.error().message.c_str());
  return 1;
}

/// What the command line says goes over the file.
Status Collect(const ServerArguments& arguments, model::Configuration* configuration) {
  if (!arguments.config_file.empty()) STROM_TRY(server::ReadConfigurationFile(arguments.config_file, configuration));
  if (!arguments.listen.empty()) {
    STROM_ASSIGN(const rt::Address address, server::ParseAddress("--listen", arguments.listen));
    const std::string name = configuration->GetString("internal.listener.name");
    STROM_TRY(configuration->Set("bind.listeners", name + "://" + server::ToString(address)));
  }
  for (const std::string& setting : arguments.settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return MakeError(ErrorCode::kInvalidConfig, "-D {}: key=value is expected", setting);
    }
    STROM_TRY(configuration->Set(setting.substr(0, equals), setting.substr(equals + 1)));
  }
  return Status::OK();
}

}  // namespace

int RunServerCommand(const ServerArguments& arguments) {
  model::Configuration configuration;
  const Status collected = Collect(arguments, &configuration);
  if (!collected.ok()) return Fail(collected);
  auto options = server::MakeServerOptions(std::move(configuration));
  if (!options.ok()) return Fail(options.status());
  options->data_dir = arguments.data_dir;
  options->ready_file = arguments.ready_file;
  return server::RunServer(std::move(options).value());
}

}  // namespace strom::cli
