#include "model/configuration.h"

#include <algorithm>

#include "model/config_value.h"
#include "model/names.h"

namespace strom::model {

namespace {

constexpr std::string_view kHidden = "******";

/// True where a value says the same as the default, so that it asks for nothing that is not built.
bool AsksForNothing(const Option& option, std::string_view value) {
  if (option.has_default && value == option.default_value) return true;
  if (Trimmed(value).empty()) return true;
  if (option.type == OptionType::kBoolean) {
    const auto parsed = ParseBoolValue(value);
    return parsed.ok() && !*parsed && option.default_value != "true";
  }
  if (option.key == "security.protocol.map") {
    const auto protocols = ParseMapValue(value);
    return protocols.ok() && std::all_of(protocols->begin(), protocols->end(),
                                         [](const auto& entry) { return UpperCase(entry.second) == "PLAINTEXT"; });
  }
  return false;
}

std::string UnknownKeyWarning(std::string_view key) {
  const std::string hint = NearestKeyHint(key, [](const Option& option) { return option.is_server_option(); });
  return fmt::format("the option {} is not known and has no effect{}{}", Shown(key), hint.empty() ? "" : "; ", hint);
}

}  // namespace

std::string Configuration::CanonicalKey(std::string_view key) {
  const Option* option = FindOption(key);
  return std::string(option == nullptr || option->is_pattern ? key : option->key);
}

Status Configuration::Set(std::string_view key, std::string_view value) {
  if (const Option* option = FindOption(key); option != nullptr) {
    const Status checked = CheckOptionValue(*option, key, value);
    if (!checked.ok() && ShownConfigValue(key, value) != value) {
      return MakeError(ErrorCode::kInvalidConfig, "the option '{}': its value is not valid", key);
    }
    STROM_TRY(checked);
  }
  values_[CanonicalKey(key)] = value;
  return Status::OK();
}

void Configuration::Unset(std::string_view key) { values_.erase(CanonicalKey(key)); }

std::vector<std::string> Configuration::Warnings() const {
  std::vector<std::string> warnings;
  for (const auto& [key, value] : values_) {
    const Option* option = FindOption(key);
    if (option == nullptr) {
      warnings.push_back(UnknownKeyWarning(key));
    } else if (option->scope == OptionScope::kTable) {
      warnings.push_back(fmt::format("the option '{}' belongs to tables and has no effect on a server", key));
    } else if (option->scope == OptionScope::kClient || option->scope == OptionScope::kTiering) {
      warnings.push_back(fmt::format("the option '{}' is not one of servers and has no effect", key));
    } else if (option->kind == OptionKind::kHarmless && !(option->has_default && value == option->default_value)) {
      warnings.push_back(
          fmt::format("the option '{}' is accepted and has no effect: {}", key, NotBuiltSentence(*option)));
    }
  }
  return warnings;
}

Status Configuration::CheckBuilt() const {
  for (const auto& [key, value] : values_) {
    const Option* option = FindOption(key);
    if (option == nullptr || option->kind != OptionKind::kRefused || !option->is_server_option()) continue;
    if (AsksForNothing(*option, value)) continue;
    return MakeError(ErrorCode::kInvalidConfig, "the option '{}' ('{}') cannot be honoured: {}", key,
                     ShownConfigValue(key, value), NotBuiltSentence(*option));
  }
  const double limit = GetDouble("server.data-disk.write-limit-ratio");
  const double recover = GetDouble("server.data-disk.write-recover-ratio");
  if (recover > limit) {
    return MakeError(ErrorCode::kInvalidConfig,
                     "the option 'server.data-disk.write-recover-ratio' ({}) must not be above "
                     "'server.data-disk.write-limit-ratio' ({})",
                     recover, limit);
  }
  return Status::OK();
}

std::optional<std::string> Configuration::Find(std::string_view key) const {
  if (const auto found = values_.find(CanonicalKey(key)); found != values_.end()) return found->second;
  const Option* option = FindOption(key);
  if (option == nullptr || !option->has_default) return std::nullopt;
  return std::string(option->default_value);
}

std::string Configuration::GetString(std::string_view key) const { return Find(key).value_or(""); }

std::string Configuration::Text(std::string_view key, OptionType type) const {
  const Option* option = FindOption(key);
  STROM_ASSERT(option != nullptr, "the option '{}' is not in the table", key);
  STROM_ASSERT(option->type == type, "the option '{}' is of another type", key);
  const std::optional<std::string> text = Find(key);
  STROM_ASSERT(text.has_value() || type == OptionType::kList || type == OptionType::kMap,
               "the option '{}' has no value", key);
  return text.value_or("");
}

bool Configuration::GetBool(std::string_view key) const { return *ParseBoolValue(Text(key, OptionType::kBoolean)); }

int64_t Configuration::GetInt(std::string_view key) const {
  const Option* option = FindOption(key);
  const bool is_long = option != nullptr && option->type == OptionType::kLong;
  return *ParseIntValue(Text(key, is_long ? OptionType::kLong : OptionType::kInteger));
}

double Configuration::GetDouble(std::string_view key) const {
  return *ParseDoubleValue(Text(key, OptionType::kDouble));
}

int64_t Configuration::GetDurationMs(std::string_view key) const {
  return *ParseDurationMs(Text(key, OptionType::kDuration));
}

int64_t Configuration::GetBytes(std::string_view key) const {
  return *ParseMemorySize(Text(key, OptionType::kMemorySize));
}

std::string Configuration::GetEnum(std::string_view key) const {
  return UpperCase(Trimmed(Text(key, OptionType::kEnum)));
}

std::vector<std::string> Configuration::GetList(std::string_view key) const {
  return *ParseListValue(Text(key, OptionType::kList));
}

std::map<std::string, std::string> Configuration::GetMap(std::string_view key) const {
  return *ParseMapValue(Text(key, OptionType::kMap));
}

std::string ShownConfigValue(std::string_view key, std::string_view value) {
  const Option* option = FindOption(key);
  const std::string upper = UpperCase(key);
  if (option != nullptr && option->type == OptionType::kPassword) return std::string(kHidden);
  if (upper == "SECURITY.SASL.PLAIN.CREDENTIALS") {
    const auto users = ParseMapValue(value);
    if (!users.ok()) return std::string(kHidden);
    std::string shown;
    for (const auto& [user, password] : *users)
      shown += fmt::format("{}{}:{}", shown.empty() ? "" : ",", user, kHidden);
    return shown;
  }
  for (const std::string_view part :
       {"PASSWORD", "SECRET", "TOKEN", "JAAS.CONFIG", "CREDENTIAL", "ACCESS-KEY", "ACCESS.KEY", "ACCESS_KEY",
        "ACCESSKEY", "PRIVATE-KEY", "PRIVATE.KEY", "API-KEY", "APIKEY", "ACCOUNT.KEY"}) {
    if (upper.find(part) != std::string::npos) return std::string(kHidden);
  }
  return std::string(value);
}

}  // namespace strom::model
