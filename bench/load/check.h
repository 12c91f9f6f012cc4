#pragma once

#include <string>

namespace strom::bench {

/// Starts the strom binary `server` on two free ports and runs each workload of the program `self` once, tiny, against it. Gives
/// the exit status: 0 when all passed.
int RunCheck(const std::string& server, const std::string& self);

}  // namespace strom::bench
