#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace strom::model {

/// Values as on the wire (spec/wire-protocol.md 6.17).
enum class ConfigOp : int32_t { kSet = 0, kDelete = 1, kAppend = 2, kSubtract = 3 };

/// A change of one property of a table, a database or the cluster.
struct PropertyChange {
  std::string key;
  std::optional<std::string> value;
  ConfigOp op = ConfigOp::kSet;
};

}  // namespace strom::model
