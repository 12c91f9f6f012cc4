#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/configuration.h"
#include "rt/connection.h"

namespace strom::server {

/// One listener's name with where it binds and what clients are told. The coordinator has `bind.port`, the tablet server the next one, for
/// clients insist on one kind of server a port; port 0 takes two free ones.
struct ListenerOptions {
  std::string name;
  rt::Address bind;
  std::optional<rt::Address> advertised;  // nothing: what it is bound to
  bool internal = false;                  // internal.listener.name: servers among themselves
};

/// "NAME://host:port,NAME2://[::1]:port" (spec/wire-protocol.md 4.4). kInvalidConfig with key, value and what is allowed.
Result<std::vector<ListenerOptions>> ParseListeners(std::string_view key, std::string_view text);

/// "host:port", "[v6]:port" or ":port".
Result<rt::Address> ParseAddress(std::string_view key, std::string_view text);

/// bind.listeners with advertised.listeners and internal.listener.name, or one listener at 127.0.0.1:9123. A wildcard address needs an
/// advertised one: nobody could be told "0.0.0.0".
Result<std::vector<ListenerOptions>> ListenersOf(const model::Configuration& configuration);

/// "127.0.0.1:9123", "[::1]:9123"
std::string ToString(const rt::Address& address);

}  // namespace strom::server
