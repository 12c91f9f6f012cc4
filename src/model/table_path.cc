#include "model/table_path.h"

#include "model/json_writer.h"
#include "model/names.h"

namespace strom::model {

namespace {

constexpr size_t kNameLengthMax = 200;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

std::string Shown(std::string_view text) {
  constexpr size_t kShownMax = 80;
  std::string shown = "'";
  for (const char c : text.substr(0, kShownMax)) shown += static_cast<uint8_t>(c) < 0x20 || c == 0x7F ? '?' : c;
  // A cut or foreign UTF-8 sequence must not reach a message: messages are UTF-8 text.
  if (text.size() > kShownMax) shown += "...";
  shown += "'";
  return IsUtf8(shown) ? shown : fmt::format("(a name of {} bytes that is not plain text)", text.size());
}

std::optional<std::string> WhatIsWrongWithName(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > kNameLengthMax) {
    return fmt::format("it has {} characters; at most {} are allowed", name.size(), kNameLengthMax);
  }
  if (name == "." || name == "..") return "'.' and '..' are not allowed";
  for (const char c : name) {
    if (!IsNameCharacter(c)) return "only ASCII letters, digits, '_' and '-' are allowed";
  }
  return std::nullopt;
}

Status ValidateName(std::string_view kind, std::string_view name, ErrorCode code) {
  std::optional<std::string> wrong = WhatIsWrongWithName(name);
  if (!wrong && name.starts_with("__")) wrong = "names that start with '__' are reserved";
  if (!wrong) return Status::OK();
  return MakeError(code, "the {} name {} is not valid: {}", kind, Shown(name), *wrong);
}

}  // namespace strom::model
