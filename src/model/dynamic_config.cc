#include "model/dynamic_config.h"

#include <algorithm>

#include "model/config_value.h"
#include "model/json_writer.h"
#include "model/names.h"

namespace strom::model {

namespace {

template <typename... Args>
Error Refused(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(ErrorCode::kConfigException, format, std::forward<Args>(args)...);
}

/// The value that a list or map operation starts from.
std::string BaseValue(const DynamicConfig& current, const Configuration& file, const std::string& key) {
  if (const auto found = current.find(key); found != current.end()) return found->second.value_or("");
  const auto found = file.values().find(key);
  return found == file.values().end() ? "" : found->second;
}

std::vector<std::string> SplitItems(std::string_view text) {
  std::vector<std::string> items;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string_view item = Trimmed(text.substr(start, end - start));
    if (!item.empty()) items.emplace_back(item);
    start = end + 1;
  }
  return items;
}

std::string JoinItems(const std::vector<std::string>& items) { return fmt::format("{}", fmt::join(items, ",")); }

std::string_view EntryKey(std::string_view entry) { return entry.substr(0, std::min(entry.find(':'), entry.size())); }

/// An emptied list or map is stored without a value, which hides the file's.
std::optional<std::string> StoredItems(const std::vector<std::string>& items) {
  return items.empty() ? std::nullopt : std::optional<std::string>(JoinItems(items));
}

Status Append(const Option& option, const std::string& key, const std::string& base, const std::string& value,
              DynamicConfig* changed) {
  if (option.type == OptionType::kMap) {
    for (const std::string& entry : SplitItems(base)) {
      if (EntryKey(entry) == EntryKey(value))
        return Refused("the option '{}' has an entry '{}' already", key, EntryKey(value));
    }
  }
  (*changed)[key] = base.empty() ? value : base + "," + value;
  return Status::OK();
}

void Subtract(const Option& option, const std::string& key, const std::string& base, const std::string& value,
              DynamicConfig* changed) {
  std::vector<std::string> items = SplitItems(base);
  const size_t count = items.size();
  std::erase_if(items, [&](const std::string& item) {
    return option.type == OptionType::kMap ? EntryKey(item) == EntryKey(value) : item == value;
  });
  if (items.size() != count) (*changed)[key] = StoredItems(items);
}

/// The checks that SET, APPEND and SUBTRACT share.
Status CheckChange(const PropertyChange& change, const Option* option) {
  if (!change.value) return Refused("the option {} cannot be changed: a value is missing", Shown(change.key));
  if (!IsUtf8(*change.value) || !IsUtf8(change.key))
    return Refused("the option {} cannot be changed: it is not UTF-8 text", Shown(change.key));
  if (change.value->find("${") != std::string::npos) {
    return Refused("the option '{}' cannot be changed: markers of secret providers ('${{') are read at the start only",
                   change.key);
  }
  if (option == nullptr) return Status::OK();
  if (option->kind == OptionKind::kRefused) {
    return Refused("the option '{}' cannot be changed: {}", change.key, NotBuiltSentence(*option));
  }
  return Status::OK();
}

Status CheckValue(const Option* option, const std::string& key, const std::string& value) {
  if (option == nullptr) return Status::OK();
  const Status checked = CheckOptionValue(*option, key, value);
  if (checked.ok()) return checked;
  if (ShownConfigValue(key, value) != value) return Refused("the option '{}': its value is not valid", key);
  return Refused("{}", checked.error().message);
}

Status ApplyChange(const PropertyChange& change, const Configuration& file, DynamicConfig* changed) {
  const Option* option = FindOption(change.key);
  if (!IsDynamicKey(change.key)) {
    const std::string hint =
        option != nullptr ? "" : NearestKeyHint(change.key, [](const Option& o) { return o.dynamic; });
    return Refused("the option {} cannot be changed while the cluster runs{}{}", Shown(change.key),
                   hint.empty() ? "" : "; ", hint);
  }
  if (change.op == ConfigOp::kDelete) {
    changed->erase(change.key);
    return Status::OK();
  }
  STROM_TRY(CheckChange(change, option));
  STROM_TRY(CheckValue(option, change.key, *change.value));
  if (change.op == ConfigOp::kSet) {
    (*changed)[change.key] = *change.value;
    return Status::OK();
  }
  if (option == nullptr || (option->type != OptionType::kList && option->type != OptionType::kMap)) {
    return Refused("the option '{}' is neither a list nor a map, so nothing can be appended or subtracted", change.key);
  }
  const std::string base = BaseValue(*changed, file, change.key);
  if (change.op == ConfigOp::kAppend) {
    STROM_TRY(Append(*option, change.key, base, *change.value, changed));
    return CheckValue(option, change.key, (*changed)[change.key].value_or(""));
  }
  if (change.op != ConfigOp::kSubtract)
    return Refused("the operation {} on the option '{}' is not known", static_cast<int>(change.op), change.key);
  Subtract(*option, change.key, base, *change.value, changed);
  return Status::OK();
}

}  // namespace

bool IsDynamicKey(std::string_view key) {
  if (key.starts_with("datalake.")) return true;
  const Option* option = FindOption(key);
  return option != nullptr && option->dynamic && !option->is_pattern && option->key == key;
}

Result<DynamicConfig> ApplyConfigChanges(const DynamicConfig& current, const Configuration& file,
                                         std::span<const PropertyChange> changes) {
  DynamicConfig changed = current;
  for (const PropertyChange& change : changes) STROM_TRY(ApplyChange(change, file, &changed));
  const Status consistent = MergeConfig(file, changed).configuration.CheckBuilt();
  if (!consistent.ok()) return Refused("{}", consistent.error().message);
  return changed;
}

EffectiveConfig MergeConfig(const Configuration& file, const DynamicConfig& dynamic) {
  EffectiveConfig merged{file, {}};
  for (const auto& [key, value] : dynamic) {
    if (!value) {
      merged.configuration.Unset(key);
    } else if (!IsDynamicKey(key)) {
      merged.skipped.push_back(fmt::format("the stored option {} cannot change while the cluster runs", Shown(key)));
    } else if (const Status set = merged.configuration.Set(key, *value); !set.ok()) {
      merged.skipped.push_back(set.error().message);
    }
  }
  return merged;
}

std::vector<ConfigEntry> DescribeConfig(const Configuration& file, const DynamicConfig& dynamic) {
  std::map<std::string, ConfigEntry> entries;
  const auto add = [&](const std::string& key, const std::optional<std::string>& value, bool is_dynamic) {
    const auto shown = value ? std::optional<std::string>(ShownConfigValue(key, *value)) : std::nullopt;
    entries[key] = ConfigEntry{key, shown, is_dynamic};
  };
  for (const Option& option : AllOptions()) {
    if (!option.is_server_option() || option.is_pattern || option.deprecated) continue;
    const std::string key(option.key);
    if (option.has_default || key == "bind.listeners") add(key, file.Find(key), false);
  }
  for (const auto& [key, value] : file.values()) add(key, value, false);
  for (const auto& [key, value] : dynamic) add(key, value, true);
  std::vector<ConfigEntry> described;
  for (auto& [key, entry] : entries) described.push_back(std::move(entry));
  return described;
}

}  // namespace strom::model
