#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strom::model {

/// Writes JSON text without whitespace, keys in the order of the calls. Calls must nest properly; nothing is checked but the commas.
class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  JsonWriter& String(std::string_view value);
  JsonWriter& Int(int64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  JsonWriter& Strings(const std::vector<std::string>& values);
  JsonWriter& Strings(const std::map<std::string, std::string>& values);

  std::string Take() { return std::move(text_); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();

  std::string text_;
  bool needs_comma_ = false;
};

/// True where `text` is well-formed UTF-8 (no surrogates, no overlong forms).
bool IsUtf8(std::string_view text);

}  // namespace strom::model
