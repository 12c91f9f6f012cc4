#pragma once

#include "server/server_options.h"

namespace strom::server {

/// Runs a server in this process until SIGTERM or SIGINT: coordinator and tablet server on two listeners each. Returns the process's exit
/// status: 0 after a clean stop, 1 when the start failed (a sentence is on standard error).
///
/// Start: lock the data directory, open the metadata store, bind the listeners (requests wait in a StartGate), tablet server, coordinator, leadership of
/// all buckets, then the ready line. Stop: listeners, coordinator, tablet server (sync, checkpoints, clean mark), store, lock. A second signal
/// ends the process at once, as a crash would.
int RunServer(ServerOptions options);

}  // namespace strom::server
