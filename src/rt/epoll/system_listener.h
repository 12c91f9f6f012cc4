#pragma once

#include <memory>

#include "rt/connection.h"
#include "rt/epoll/endpoint.h"

namespace strom::rt {

class EpollExecutor;

/// Listens on one endpoint; the calling shard is the acceptor. kIoError names the address and the reason.
Result<std::unique_ptr<Listener>> ListenOn(EpollExecutor& executor, const Endpoint& endpoint,
                                           Listener::OnConnection on_connection);

}  // namespace strom::rt
