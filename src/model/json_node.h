#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strom::model {

/// One place in a JSON document, read with checks: every error names the place ("columns[2].data_type.length") and carries the
/// document's error code. A node points to its parent and into the document: both must outlive it. JSON null counts as absent.
class JsonNode {
 public:
  JsonNode(const nlohmann::json& value, ErrorCode code) : value_(&value), code_(code) {}

  /// A member of this object.
  Result<JsonNode> Required(std::string_view key) const;
  Result<std::optional<JsonNode>> Optional(std::string_view key) const;

  Result<std::string> String() const;
  Result<int64_t> Int(int64_t min, int64_t max) const;
  Result<bool> Bool() const;
  Result<std::vector<std::string>> Strings() const;
  Result<std::map<std::string, std::string>> StringMap() const;
  /// Calls `visit` for each element of this array, in order, until one fails.
  Status ForEach(const std::function<Status(const JsonNode&)>& visit) const;

  /// Shorthands for members.
  Result<std::string> RequiredString(std::string_view key) const;
  Result<std::optional<std::string>> OptionalString(std::string_view key) const;
  Result<int32_t> RequiredInt32(std::string_view key, int32_t min, int32_t max) const;
  Result<std::optional<int32_t>> OptionalInt32(std::string_view key, int32_t min, int32_t max) const;

  /// An error about this place.
  Error Wrong(std::string_view what) const;
  std::string Place() const;

 private:
  JsonNode(const nlohmann::json& value, const JsonNode* parent, std::string_view key)
      : value_(&value), parent_(parent), key_(key), code_(parent->code_) {}
  JsonNode(const nlohmann::json& value, const JsonNode* parent, size_t index)
      : value_(&value), parent_(parent), index_(index), code_(parent->code_) {}

  const nlohmann::json* value_;
  const JsonNode* parent_ = nullptr;
  std::string_view key_;
  size_t index_ = 0;
  ErrorCode code_;
};

/// The deepest nesting of objects and arrays that ParseJson reads: 64 levels of types, each at most three levels of JSON, and what
/// stands around them.
inline constexpr size_t kJsonDepthMax = 3 * 64 + 16;

/// Parses a whole document; `code` is the code of every error. The depth is checked before anything is built.
Result<std::shared_ptr<const nlohmann::json>> ParseJson(std::string_view text, ErrorCode code);

}  // namespace strom::model
