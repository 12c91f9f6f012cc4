#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strom::model {

enum class OptionType : uint8_t {
  kBoolean,
  kInteger,  // 32 bits
  kLong,     // 64 bits
  kDouble,
  kString,
  kPassword,    // a string that is never shown
  kDuration,    // milliseconds
  kMemorySize,  // bytes
  kList,        // of strings, or of `choices`
  kMap,         // of strings
  kEnum,        // one of `choices`, in any letter case
};

enum class OptionScope : uint8_t { kCommon, kCoordinator, kTablet, kTable, kClient, kTiering, kStrom };

/// What setting a key does (design: configuration keys).
enum class OptionKind : uint8_t {
  kWorks,
  kHarmless,  // not built, and nobody relies on it: accepted with one warning
  kRefused,   // not built, and a user would rely on it: another value than the default stops the start
};

/// One configuration key. The table is generated from docs/spec/config.tsv, docs/strom-config.tsv and docs/config-kinds.tsv.
struct Option {
  std::string_view key;  // a pattern has parts in <angle brackets>
  OptionType type;
  OptionScope scope;
  OptionKind kind;
  std::string_view default_value;
  bool has_default;
  bool dynamic;  // may change while the cluster runs (spec/server.md 15.3)
  bool deprecated;
  bool alterable;  // a table property that may change (spec/server.md 14.1)
  bool is_pattern;
  std::string_view aliases;  // older names, with ',' between
  std::string_view choices;  // of an enum or of a list's items: "A|B|C"
  int64_t min;               // of numbers, milliseconds, bytes
  int64_t max;
  std::string_view step;  // the step that builds it, or nothing
  std::string_view note;
  std::string_view description;

  /// A key that a server reads from its own configuration.
  bool is_server_option() const {
    return scope == OptionScope::kCommon || scope == OptionScope::kCoordinator || scope == OptionScope::kTablet ||
           scope == OptionScope::kStrom;
  }
};

/// All keys, ordered by key.
std::span<const Option> AllOptions();

/// The option of a key: by its name, an older name, or a pattern. Null when there is none.
const Option* FindOption(std::string_view key);

/// True where `key` is of the form of `pattern` ("fs.<option>"): each part in brackets stands for one character or
/// more, or for one of the names in it ("<paimon|iceberg>").
bool MatchesPattern(std::string_view pattern, std::string_view key);

/// OK, or what is wrong with a value of an option: kInvalidConfig, with key, value and what is allowed.
Status CheckOptionValue(const Option& option, std::string_view key, std::string_view value);

/// "did you mean 'x'?" for an unknown key, from the keys for which `wanted` holds; empty when nothing is near.
std::string NearestKeyHint(std::string_view key, bool (*wanted)(const Option&));

/// "comes with step 7" or "is not built"
std::string NotBuiltSentence(const Option& option);

namespace internal {
extern const Option kOptionRows[];
extern const size_t kOptionRowCount;
}  // namespace internal

}  // namespace strom::model
