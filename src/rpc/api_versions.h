#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rpc/messages.h"

namespace strom::rpc {

enum class ServedBy : uint8_t { kCoordinator, kTablet, kBoth };

/// One line of the protocol's version table. Source: spec/wire-protocol.md 3.
struct ApiDefinition {
  ApiKey key;
  int16_t version_min;
  int16_t version_max;  // what we advertise; smaller than a 1.0.0 server's where the newer meaning is not built
  ServedBy served_by;
  bool is_public;  // false: between servers (and the tiering job)
  std::string_view comes_with;  // empty: built; else what brings it, as the end of "it comes with ..."

  std::string_view name() const { return ApiKeyName(key); }
  bool built() const { return comes_with.empty(); }
  bool served_on(ServerType type) const {
    return served_by == ServedBy::kBoth || (type == ServerType::kCoordinator) == (served_by == ServedBy::kCoordinator);
  }
};

/// The whole table, in the order of keys: built or not.
std::span<const ApiDefinition> ApiDefinitions();
/// Null when the protocol has no such key.
const ApiDefinition* FindApi(int16_t key);

/// What ApiVersions answers on a port of this type: what is built and served there.
std::vector<PbApiVersion> AdvertisedApis(ServerType type);

/// kUnsupportedVersion with a sentence that says which of these it is: a key that the protocol does not have, an API that the other
/// kind of server serves, one that is not built and what brings it, a version outside of the range. ApiVersions is answered in any
/// version, because it is how a client finds out.
Status CheckApi(int16_t key, int16_t version, ServerType type);

/// "coordinator", "tablet server"
std::string_view ServerTypeName(ServerType type);

}  // namespace strom::rpc
