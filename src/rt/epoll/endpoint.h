#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "rt/connection.h"

namespace strom::rt {

/// An address as the kernel takes it, IPv4 or IPv6.
struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

/// "127.0.0.1:9123", "[::1]:9123"; an IPv4 address that came in over an IPv6 socket is shown as IPv4.
std::string ToText(const Endpoint& endpoint);
Address ToAddress(const Endpoint& endpoint);
std::string ToText(const Address& address);

/// Numeric hosts only; never blocks. kNotFound for a name.
Result<std::vector<Endpoint>> ResolveNumeric(const Address& address);
/// Numbers and names; a name may block on the network. IPv4 first: that is what most clients try first for a name.
Result<std::vector<Endpoint>> Resolve(const Address& address);

/// The local end of a socket.
Result<Endpoint> LocalEndpoint(int descriptor);

}  // namespace strom::rt
