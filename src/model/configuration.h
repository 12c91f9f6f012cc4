#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/option_table.h"

namespace strom::model {

/// The configuration of a server: keys that are set, over the defaults of the option table. A plain value.
///
/// The getters are for keys of our own table with the fitting type: another key or type is our mistake and asserts. Values were
/// checked when they were set, so a getter cannot fail.
class Configuration {
 public:
  /// Sets a key, also by an older name. kInvalidConfig for a bad value, with key, value and what is allowed. An unknown key is kept
  /// and adds a warning with the nearest known name.
  Status Set(std::string_view key, std::string_view value);
  void Unset(std::string_view key);

  /// Warnings so far, one for each key that is unknown, of another program, deprecated, or accepted without effect.
  std::vector<std::string> Warnings() const;

  /// OK, or the first setting that this build cannot honour (kInvalidConfig, a sentence that names the key and the step), or that
  /// contradicts another one.
  Status CheckBuilt() const;

  bool Has(std::string_view key) const { return values_.contains(CanonicalKey(key)); }
  bool GetBool(std::string_view key) const;
  int64_t GetInt(std::string_view key) const;  // Integer and Long
  double GetDouble(std::string_view key) const;
  int64_t GetDurationMs(std::string_view key) const;  // milliseconds
  int64_t GetBytes(std::string_view key) const;       // memory sizes
  std::string GetEnum(std::string_view key) const;    // upper case
  std::vector<std::string> GetList(std::string_view key) const;
  std::map<std::string, std::string> GetMap(std::string_view key) const;
  /// The text of the set value or of the default, of any type; empty when there is neither.
  std::string GetString(std::string_view key) const;
  /// The same, and nothing when there is neither.
  std::optional<std::string> Find(std::string_view key) const;

  /// What was set, by canonical key.
  const std::map<std::string, std::string>& values() const { return values_; }

 private:
  static std::string CanonicalKey(std::string_view key);
  std::string Text(std::string_view key, OptionType type) const;

  std::map<std::string, std::string> values_;
};

/// `value` as it may be shown: passwords, credentials and the like are hidden. Source: spec/server.md 15.3.
std::string ShownConfigValue(std::string_view key, std::string_view value);

}  // namespace strom::model
