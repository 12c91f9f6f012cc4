#include "load/check.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "load/server_process.h"

namespace strom::bench {

namespace {

constexpr int kReadyWithinMilliseconds = 30'000;

int Fail(const Error& error) {
  std::fprintf(stderr, "check: %s\n", error.message.c_str());
  return 1;
}

/// HOST:PORT behind "bootstrap" in the ready line of the server; empty when it did not come in time.
std::string AwaitBootstrap(const std::string& ready_file) {
  for (int waited = 0; waited < kReadyWithinMilliseconds; waited += 10) {
    std::ifstream ready(ready_file);
    for (std::string word; ready >> word;) {
      if (word == "bootstrap" && ready >> word) return word;
    }
    ::usleep(10'000);
  }
  return {};
}

int RunSelf(const std::string& self, const std::string& arguments) {
  const int status = std::system(("'" + self + "' " + arguments).c_str());  // NOLINT(cert-env33-c): our own words only
  if (status != 0) std::fprintf(stderr, "check: failed: %s\n", arguments.c_str());
  return status == 0 ? 0 : 1;
}

}  // namespace

int RunCheck(const std::string& server, const std::string& self) {
  const auto directory = ScratchDirectory::Make();
  if (!directory.ok()) return Fail(directory.error());
  const std::string start = server + " server --data-dir {dir}/data --listen ";
  std::string bootstrap;
  {
    const auto process = ServerProcess::Start(start + "127.0.0.1:0 --ready-file {dir}/ready", (*directory)->path());
    if (!process.ok()) return Fail(process.error());
    bootstrap = AwaitBootstrap((*directory)->path() + "/ready");
    if (bootstrap.empty()) return Fail(MakeError(ErrorCode::kUnknownServerError, "{} is not ready in time", server));
    const std::string at = " --bootstrap " + bootstrap + " --server-pids " + std::to_string((*process)->pid());
    int failed = RunSelf(self, "append --table a --rows 2000 --batch-rows 100 --producers 2" + at);
    failed |= RunSelf(self, "append --table b --rows 500 --batch-rows 10 --rate 5000" + at);
    failed |= RunSelf(self, "scan --table c --rows 2000 --batch-rows 100 --repeat 2" + at);
    failed |= RunSelf(self, "scan --table d --rows 2000 --batch-rows 100 --columns 0" + at);
    failed |= RunSelf(self, "tail --table e --batch-rows 1 --rate 200 --seconds 1 --warmup-seconds 0" + at);
    if (failed != 0) return failed;
  }
  // The ports were free a moment ago, and the server that had them is gone.
  const std::string again = " --repeat 2 --bootstrap " + bootstrap + " --exec '" + start + bootstrap + "'";
  int failed = RunSelf(self, "first-ack" + again);
  failed |= RunSelf(self, "restart --log-bytes 1000000" + again);
  failed |= RunSelf(self, "restart --log-bytes 1000000 --kill" + again);
  return failed;
}

}  // namespace strom::bench
