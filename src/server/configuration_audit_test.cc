#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "model/configuration.h"
#include "model/option_table.h"
#include "server/server_options.h"

namespace strom::server {
namespace {

using model::Option;
using model::OptionKind;
using model::OptionType;

/// The product's sources one after the other, without tests and without the generated table itself.
std::string AllSources() {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(STROM_SOURCE_DIR) + "/src")) {
    const std::string name = entry.path().filename().string();
    const bool is_source = name.ends_with(".cc") || name.ends_with(".h");
    if (!is_source || name.ends_with("_test.cc")) continue;
    std::ifstream file(entry.path());
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

/// The key stands there whole, or as a prefix that ends with '.' and the rest.
bool Names(const std::string& sources, std::string_view key) {
  const auto has = [&](std::string_view text) { return sources.find('"' + std::string(text) + '"') != std::string::npos; };
  if (has(key)) return true;
  for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1)) {
    if (has(key.substr(0, dot + 1)) && has(key.substr(dot + 1))) return true;
  }
  return false;
}

/// A value that the option takes and that is not its default.
std::optional<std::string> AnotherValue(const Option& option) {
  std::vector<std::string> candidates = {"true", "false", "7", "12345", "0.7", "7s", "7min", "3mb", "CLIENT:SASL", "a"};
  std::string_view choices = option.choices;
  while (!choices.empty()) {
    const size_t end = std::min(choices.find('|'), choices.size());
    candidates.emplace_back(choices.substr(0, end));
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  for (const std::string& each : candidates) {
    if (option.has_default && each == option.default_value) continue;
    if (option.type == OptionType::kBoolean && option.default_value != "true" && each == "false") continue;
    if (model::CheckOptionValue(option, option.key, each).ok()) return each;
  }
  return std::nullopt;
}

TEST(ConfigurationAudit, EveryKeyThatWorksIsReadSomewhere) {
  const std::string sources = AllSources();
  ASSERT_FALSE(Names(sources, "no.such" ".option"));
  for (const Option& option : model::AllOptions()) {
    if (option.kind != OptionKind::kWorks || option.is_pattern) continue;
    EXPECT_TRUE(Names(sources, option.key)) << option.key << " is said to work, and nothing reads it";
  }
}

TEST(ConfigurationAudit, EveryHarmlessKeyOfAServerWarnsAndLetsItStart) {
  int seen = 0;
  for (const Option& option : model::AllOptions()) {
    if (option.kind != OptionKind::kHarmless || !option.is_server_option() || option.is_pattern) continue;
    SCOPED_TRACE(option.key);
    const std::optional<std::string> value = AnotherValue(option);
    ASSERT_TRUE(value.has_value()) << "no value of this test fits";
    model::Configuration configuration;
    ASSERT_TRUE(configuration.Set(option.key, *value).ok());
    const std::vector<std::string> warnings = configuration.Warnings();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings.front().find(option.key), std::string::npos) << warnings.front();
    EXPECT_TRUE(MakeServerOptions(std::move(configuration)).ok());
    ++seen;
  }
  EXPECT_GT(seen, 50);
}

TEST(ConfigurationAudit, EveryRefusedKeyOfAServerStopsTheStart) {
  int seen = 0;
  for (const Option& option : model::AllOptions()) {
    if (option.kind != OptionKind::kRefused || !option.is_server_option() || option.is_pattern) continue;
    SCOPED_TRACE(option.key);
    const std::optional<std::string> value = AnotherValue(option);
    ASSERT_TRUE(value.has_value()) << "no value of this test fits";
    model::Configuration configuration;
    ASSERT_TRUE(configuration.Set(option.key, *value).ok());
    const auto refused = MakeServerOptions(std::move(configuration));
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find(option.key), std::string::npos) << refused.error().message;
    ++seen;
  }
  EXPECT_GT(seen, 10);
}

}  // namespace
}  // namespace strom::server
