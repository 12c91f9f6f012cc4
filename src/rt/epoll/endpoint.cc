#include "rt/epoll/endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cstring>

#include "rt/epoll/system_error.h"

namespace strom::rt {

namespace {

Result<std::vector<Endpoint>> Ask(const Address& address, int flags) {
  addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", address.port);
  const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return MakeError(ErrorCode::kNotFound, "cannot resolve the host '{}': {}", address.host,
                     error == EAI_SYSTEM ? SystemErrorText(errno) : ::gai_strerror(error));
  }
  std::vector<Endpoint> endpoints;
  for (const bool want_v4 : {true, false}) {
    for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
      if ((info->ai_family == AF_INET) != want_v4) continue;
      Endpoint& endpoint = endpoints.emplace_back();
      std::memcpy(&endpoint.storage, info->ai_addr, info->ai_addrlen);
      endpoint.size = info->ai_addrlen;
    }
  }
  ::freeaddrinfo(found);
  return endpoints;
}

}  // namespace

Address ToAddress(const Endpoint& endpoint) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (endpoint.family() == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(endpoint.storage);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return {text, ntohs(v4.sin_port)};
  }
  if (endpoint.family() == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(endpoint.storage);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
      ::inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof text);
    } else {
      ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    }
    return {text, ntohs(v6.sin6_port)};
  }
  return {text, 0};
}

std::string ToText(const Address& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address.host, address.port) : fmt::format("{}:{}", address.host, address.port);
}

std::string ToText(const Endpoint& endpoint) { return ToText(ToAddress(endpoint)); }

Result<std::vector<Endpoint>> ResolveNumeric(const Address& address) {
  return Ask(address, AI_NUMERICHOST | AI_NUMERICSERV);
}

Result<std::vector<Endpoint>> Resolve(const Address& address) { return Ask(address, AI_NUMERICSERV); }

Result<Endpoint> LocalEndpoint(int descriptor) {
  Endpoint endpoint;
  endpoint.size = sizeof endpoint.storage;
  if (::getsockname(descriptor, endpoint.get(), &endpoint.size) != 0) {
    return MakeError(ErrorCode::kIoError, "cannot ask for the address of a socket: {}", SystemErrorText(errno));
  }
  return endpoint;
}

}  // namespace strom::rt
