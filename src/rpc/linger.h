#pragma once

#include "rt/connection.h"
#include "rt/task.h"
#include "rt/time.h"

namespace strom::rpc {

/// Reads and drops what the peer still sends, until it closes or for at most `limit`, then closes. A socket that is closed with unread
/// bytes resets the connection, and the peer may lose the last frame that was sent to it. Nobody else reads meanwhile.
rt::Task<void> LingerThenClose(rt::Connection* connection, rt::Duration limit);

}  // namespace strom::rpc
