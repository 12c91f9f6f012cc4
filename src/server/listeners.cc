#include "server/listeners.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace strom::server {

namespace {

constexpr uint16_t kDefaultPort = 9123;
constexpr std::string_view kDefaultHost = "127.0.0.1";

Error BadAddress(std::string_view key, std::string_view text, std::string_view why) {
  return MakeError(ErrorCode::kInvalidConfig, "{}: '{}' {}", key, text, why);
}

bool IsWildcard(const std::string& host) { return host.empty() || host == "0.0.0.0" || host == "::"; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Status CheckDistinct(const std::vector<ListenerOptions>& listeners) {
  std::set<std::string> names;
  std::set<uint16_t> ports;
  for (const ListenerOptions& each : listeners) {
    if (!names.insert(each.name).second) return BadAddress("bind.listeners", each.name, "is named twice");
    if (each.bind.port == 0) continue;
    // The tablet server's port is the next one.
    if (!ports.insert(each.bind.port).second || !ports.insert(static_cast<uint16_t>(each.bind.port + 1)).second) {
      return BadAddress("bind.listeners", each.name,
                        "shares a port with another listener: each takes its port and the next one");
    }
  }
  return Status::OK();
}

}  // namespace

std::string ToString(const rt::Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

Result<rt::Address> ParseAddress(std::string_view key, std::string_view text) {
  rt::Address address;
  std::string_view rest = text;
  if (rest.starts_with("[")) {
    const size_t end = rest.find(']');
    if (end == std::string_view::npos) return BadAddress(key, text, "lacks the ']' of an IPv6 address");
    address.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    const size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) return BadAddress(key, text, "is not host:port");
    address.host = rest.substr(0, colon);
    if (address.host.find(':') != std::string::npos) {
      return BadAddress(key, text, "has an IPv6 address without [ and ]");
    }
    rest.remove_prefix(colon);
  }
  uint32_t port = 0;
  if (!rest.starts_with(":")) return BadAddress(key, text, "is not host:port");
  rest.remove_prefix(1);
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), port);
  if (rest.empty() || parsed.ec != std::errc() || parsed.ptr != rest.data() + rest.size() || port > 65535) {
    return BadAddress(key, text, "has no port between 0 and 65535");
  }
  address.port = static_cast<uint16_t>(port);
  return address;
}

Result<std::vector<ListenerOptions>> ParseListeners(std::string_view key, std::string_view text) {
  std::vector<ListenerOptions> listeners;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view part = Trim(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const size_t scheme = part.find("://");
    if (scheme == std::string_view::npos || scheme == 0) {
      return BadAddress(key, part, "is not of the form NAME://host:port");
    }
    ListenerOptions listener;
    listener.name = part.substr(0, scheme);
    STROM_ASSIGN(listener.bind, ParseAddress(key, part.substr(scheme + 3)));
    if (listener.bind.port == 65535) return BadAddress(key, part, "leaves no port above it for the tablet server");
    listeners.push_back(std::move(listener));
  }
  return listeners;
}

Result<std::vector<ListenerOptions>> ListenersOf(const model::Configuration& configuration) {
  const std::string internal_name = configuration.GetString("internal.listener.name");
  std::vector<ListenerOptions> listeners;
  if (const auto bound = configuration.Find("bind.listeners"); bound && !bound->empty()) {
    STROM_ASSIGN(listeners, ParseListeners("bind.listeners", *bound));
  } else {
    listeners.push_back({internal_name, {std::string(kDefaultHost), kDefaultPort}, std::nullopt, true});
  }
  STROM_TRY(CheckDistinct(listeners));

  std::vector<ListenerOptions> advertised;
  if (const auto text = configuration.Find("advertised.listeners"); text && !text->empty()) {
    STROM_ASSIGN(advertised, ParseListeners("advertised.listeners", *text));
  }
  bool internal_found = false;
  for (ListenerOptions& listener : listeners) {
    listener.internal = listener.name == internal_name;
    internal_found = internal_found || listener.internal;
    const auto shown = std::find_if(advertised.begin(), advertised.end(),
                                    [&listener](const ListenerOptions& each) { return each.name == listener.name; });
    if (shown != advertised.end()) listener.advertised = shown->bind;
    if (IsWildcard(listener.bind.host) && !listener.advertised) {
      return MakeError(ErrorCode::kInvalidConfig,
                       "bind.listeners: {} binds to every address, and clients cannot be told '{}': add a line\n"
                       "  advertised.listeners: {}://<host that clients reach>:{}",
                       listener.name, listener.bind.host, listener.name, listener.bind.port);
    }
  }
  for (const ListenerOptions& each : advertised) {
    const bool bound = std::any_of(listeners.begin(), listeners.end(),
                                   [&each](const ListenerOptions& listener) { return listener.name == each.name; });
    if (!bound) return BadAddress("advertised.listeners", each.name, "is no listener of bind.listeners");
  }
  if (!internal_found) {
    return MakeError(ErrorCode::kInvalidConfig, "internal.listener.name: '{}' is no listener of bind.listeners", internal_name);
  }
  return listeners;
}

}  // namespace strom::server
