#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config_change.h"
#include "model/configuration.h"

namespace strom::model {

/// The settings of the cluster that changed while it runs, over the file's. A key without a value hides the file's value.
/// Source: spec/server.md 15.3.
using DynamicConfig = std::map<std::string, std::optional<std::string>>;

/// True for the keys that may change while the cluster runs.
bool IsDynamicKey(std::string_view key);

/// The settings after a request's changes, all or none. kConfigException names the key, the value and what is allowed.
Result<DynamicConfig> ApplyConfigChanges(const DynamicConfig& current, const Configuration& file,
                                         std::span<const PropertyChange> changes);

struct EffectiveConfig {
  Configuration configuration;
  std::vector<std::string> skipped;  // a sentence for each stored setting that is not valid any more
};
/// The file's settings with the dynamic ones over them. A stored setting that is not valid is left out, never fatal.
EffectiveConfig MergeConfig(const Configuration& file, const DynamicConfig& dynamic);

struct ConfigEntry {
  std::string key;
  std::optional<std::string> value;  // hidden where it is a secret
  bool is_dynamic = false;
  /// "DYNAMIC_SERVER_CONFIG" or "INITIAL_SERVER_CONFIG", as clients expect it (spec/wire-protocol.md 6.17).
  std::string_view source() const { return is_dynamic ? "DYNAMIC_SERVER_CONFIG" : "INITIAL_SERVER_CONFIG"; }
};
/// Every server option that is set or has a default, and bind.listeners in any case; ordered by key.
std::vector<ConfigEntry> DescribeConfig(const Configuration& file, const DynamicConfig& dynamic);

}  // namespace strom::model
