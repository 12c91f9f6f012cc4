#include "model/json_node.h"

#include <nlohmann/json.hpp>

namespace strom::model {

namespace {

/// Depth of brackets outside of strings; malformed text is the parser's to refuse.
size_t BracketDepth(std::string_view text) {
  size_t depth = 0;
  size_t deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<std::shared_ptr<const nlohmann::json>> ParseJson(std::string_view text, ErrorCode code) {
  if (const size_t depth = BracketDepth(text); depth > kJsonDepthMax) {
    return MakeError(code, "the JSON document nests {} levels deep; at most {} are read", depth, kJsonDepthMax);
  }
  try {
    return std::shared_ptr<const nlohmann::json>(std::make_shared<nlohmann::json>(nlohmann::json::parse(text)));
  } catch (const nlohmann::json::exception& e) {
    return MakeError(code, "not a JSON document: {}", e.what());
  }
}

std::string JsonNode::Place() const {
  if (parent_ == nullptr) return "";
  std::string place = parent_->Place();
  if (key_.data() == nullptr) return fmt::format("{}[{}]", place, index_);
  if (!place.empty()) place += ".";
  place += key_;
  return place;
}

Error JsonNode::Wrong(std::string_view what) const {
  const std::string place = Place();
  return MakeError(code_, "{}: {}", place.empty() ? "the document" : place, what);
}

Result<JsonNode> JsonNode::Required(std::string_view key) const {
  STROM_ASSIGN(const std::optional<JsonNode> member, Optional(key));
  if (!member) return Wrong(fmt::format("the key \"{}\" is missing", key));
  return *member;
}

Result<std::optional<JsonNode>> JsonNode::Optional(std::string_view key) const {
  if (!value_->is_object()) return Wrong("an object was expected");
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::optional<JsonNode>();
  return std::optional<JsonNode>(JsonNode(*found, this, key));
}

Result<std::string> JsonNode::String() const {
  const auto* text = value_->get_ptr<const nlohmann::json::string_t*>();
  if (text == nullptr) return Wrong("a string was expected");
  return *text;
}

Result<int64_t> JsonNode::Int(int64_t min, int64_t max) const {
  if (!value_->is_number_integer()) return Wrong("an integer was expected");
  // nlohmann keeps what does not fit in int64 as unsigned.
  const bool too_large = value_->is_number_unsigned() && *value_->get_ptr<const nlohmann::json::number_unsigned_t*>() >
                                                             static_cast<uint64_t>(INT64_MAX);
  const int64_t number = too_large ? 0 : value_->get<int64_t>();
  if (too_large || number < min || number > max) {
    return Wrong(fmt::format("{} is outside of {} to {}", value_->dump(), min, max));
  }
  return number;
}

Result<bool> JsonNode::Bool() const {
  if (!value_->is_boolean()) return Wrong("true or false was expected");
  return value_->get<bool>();
}

Status JsonNode::ForEach(const std::function<Status(const JsonNode&)>& visit) const {
  if (!value_->is_array()) return Wrong("an array was expected");
  for (size_t i = 0; i < value_->size(); ++i) STROM_TRY(visit(JsonNode((*value_)[i], this, i)));
  return Status::OK();
}

Result<std::vector<std::string>> JsonNode::Strings() const {
  std::vector<std::string> strings;
  STROM_TRY(ForEach([&](const JsonNode& element) -> Status {
    STROM_ASSIGN(std::string text, element.String());
    strings.push_back(std::move(text));
    return Status::OK();
  }));
  return strings;
}

Result<std::map<std::string, std::string>> JsonNode::StringMap() const {
  if (!value_->is_object()) return Wrong("an object of strings was expected");
  std::map<std::string, std::string> strings;
  for (auto it = value_->begin(); it != value_->end(); ++it) {
    STROM_ASSIGN(std::string text, JsonNode(it.value(), this, it.key()).String());
    strings.emplace(it.key(), std::move(text));
  }
  return strings;
}

Result<std::string> JsonNode::RequiredString(std::string_view key) const {
  STROM_ASSIGN(const JsonNode member, Required(key));
  return member.String();
}

Result<std::optional<std::string>> JsonNode::OptionalString(std::string_view key) const {
  STROM_ASSIGN(const std::optional<JsonNode> member, Optional(key));
  if (!member) return std::optional<std::string>();
  STROM_ASSIGN(std::string text, member->String());
  return std::optional<std::string>(std::move(text));
}

Result<int32_t> JsonNode::RequiredInt32(std::string_view key, int32_t min, int32_t max) const {
  STROM_ASSIGN(const JsonNode member, Required(key));
  STROM_ASSIGN(const int64_t number, member.Int(min, max));
  return static_cast<int32_t>(number);
}

Result<std::optional<int32_t>> JsonNode::OptionalInt32(std::string_view key, int32_t min, int32_t max) const {
  STROM_ASSIGN(const std::optional<JsonNode> member, Optional(key));
  if (!member) return std::optional<int32_t>();
  STROM_ASSIGN(const int64_t number, member->Int(min, max));
  return std::optional<int32_t>(static_cast<int32_t>(number));
}

}  // namespace strom::model
