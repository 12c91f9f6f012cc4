#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "base/result.h"

namespace strom::bench {

/// A child process that sends back what it receives on one loopback connection after the other: the yardstick of a latency. It is a
/// blocking read and write with nothing between them. It ends with this object, and with its parent.
class EchoProcess {
 public:
  /// To be called before the process has threads.
  static Result<std::unique_ptr<EchoProcess>> Start();
  ~EchoProcess();
  EchoProcess(const EchoProcess&) = delete;
  EchoProcess& operator=(const EchoProcess&) = delete;

  uint16_t port() const { return port_; }

 private:
  EchoProcess(pid_t child, uint16_t port) : child_(child), port_(port) {}
  const pid_t child_;
  const uint16_t port_;
};

}  // namespace strom::bench
