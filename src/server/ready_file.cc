#include "server/ready_file.h"

#include <unistd.h>

#include <cstdio>

#include "rt/file.h"
#include "server/listeners.h"

namespace strom::server {

namespace {

std::string Join(const std::vector<meta::Endpoint>& endpoints) {
  std::string joined;
  for (const meta::Endpoint& endpoint : endpoints) {
    if (!joined.empty()) joined += ",";
    joined += ToString(rt::Address{endpoint.host, static_cast<uint16_t>(endpoint.port)});
  }
  return joined;
}

}  // namespace

std::string ReadyLine(const DataDirectory& directory, const std::vector<meta::Endpoint>& coordinator,
                      const std::vector<meta::Endpoint>& tablet) {
  return fmt::format("ready: bootstrap {} tablet {} data {} pid {}", Join(coordinator), Join(tablet), directory.path(), getpid());
}

Status AnnounceReady(const std::string& line, const std::string& path) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  if (path.empty()) return Status::OK();
  return rt::SystemFiles().ReplaceFile(path, AsBytes(line + "\n"));
}

void RemoveReadyFile(const std::string& path) {
  if (!path.empty()) unlink(path.c_str());
}

}  // namespace strom::server
