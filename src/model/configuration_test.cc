#include "model/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "model/config_value.h"
#include "model/dynamic_config.h"
#include "model/names.h"

namespace strom::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ConfigValues, DurationsAreANumberAndAUnit) {
  const std::map<std::string, int64_t> good = {
      {"500ms", 500},       {" 1 min ", 60000}, {"30s", 30000},
      {"2 hours", 7200000}, {"7 d", 604800000}, {"7 DAYS", 604800000},
      {"1500us", 1},        {"999999ns", 0},    {"9223372036854775807ns", 9223372036854},
      {"0 d", 0},           {"3\xC2\xB5s", 0},  {"1m", 60000},
      {"100 millis", 100}};
  for (const auto& [text, milliseconds] : good) {
    const auto parsed = ParseDurationMs(text);
    ASSERT_TRUE(parsed.ok()) << text << parsed.ToString();
    EXPECT_EQ(*parsed, milliseconds) << text;
  }
  for (const std::string bad :
       {"", " ", "soon", "5", "-1s", "1.5s", "9223372036854775807d", "99999999999999999999s", "5 fortnights", "s"}) {
    EXPECT_EQ(ParseDurationMs(bad).code(), ErrorCode::kInvalidConfig) << bad;
  }
  EXPECT_THAT(ParseDurationMs("soon").ToString(), HasSubstr("'soon' is not a duration"));
}

TEST(ConfigValues, SizesAreBytesOrCarryAUnitOf1024) {
  const std::map<std::string, int64_t> good = {{"0", 0},
                                               {"17", 17},
                                               {"1b", 1},
                                               {"1 kb", 1024},
                                               {"4k", 4096},
                                               {"10m", 10 << 20},
                                               {"100 MiB", 100 << 20},
                                               {"1gb", 1 << 30},
                                               {"2 gibibytes", 2LL << 30},
                                               {"1T", 1LL << 40}};
  for (const auto& [text, bytes] : good) {
    const auto parsed = ParseMemorySize(text);
    ASSERT_TRUE(parsed.ok()) << text << parsed.ToString();
    EXPECT_EQ(*parsed, bytes) << text;
  }
  for (const std::string bad : {"", "much", "-1kb", "1.5mb", "9007199254740993kb", "1 parsec"}) {
    EXPECT_FALSE(ParseMemorySize(bad).ok()) << bad;
  }
}

TEST(ConfigValues, FormattedDurationsAndSizesReadBackAsTheSame) {
  Random random(99);
  for (int i = 0; i < 2000; ++i) {
    const int64_t number =
        static_cast<int64_t>(random.Next() >> (random.Below(48) + 13)) * (random.OneIn(2) ? 1000 : 1024);
    EXPECT_EQ(*ParseDurationMs(FormatDuration(number)), number);
    EXPECT_EQ(*ParseMemorySize(FormatMemorySize(number)), number);
  }
  EXPECT_EQ(FormatDuration(604800000), "7 d");
  EXPECT_EQ(FormatMemorySize(64 << 20), "64 mb");
}

TEST(ConfigValues, ListsMayQuoteTheDelimiterAndMapsHavePairs) {
  EXPECT_THAT(*ParseListValue("a, b ,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*ParseListValue("'a,b','it''s',\"x\""), ElementsAre("a,b", "it's", "x"));
  EXPECT_THAT(*ParseListValue(""), IsEmpty());
  EXPECT_FALSE(ParseListValue("'open").ok());
  EXPECT_FALSE(ParseListValue("'a'b").ok());
  EXPECT_EQ(ParseMapValue("a:1, b:2")->at("b"), "2");
  EXPECT_EQ(ParseMapValue("'http://x':y").ok(), false);  // the inner ':' needs quotes of its own
  EXPECT_FALSE(ParseMapValue("a").ok());
  EXPECT_FALSE(ParseMapValue("a:1,a:2").ok());
}

TEST(ConfigValues, NumbersAndBooleans) {
  EXPECT_EQ(*ParseIntValue(" -5 "), -5);
  EXPECT_EQ(*ParseIntValue("9223372036854775807"), INT64_MAX);
  EXPECT_FALSE(ParseIntValue("9223372036854775808").ok());
  EXPECT_FALSE(ParseIntValue("12x").ok());
  EXPECT_FALSE(ParseIntValue("").ok());
  EXPECT_FALSE(ParseIntValue("+-1").ok());
  EXPECT_TRUE(*ParseBoolValue("True"));
  EXPECT_FALSE(ParseBoolValue("1").ok());
  EXPECT_DOUBLE_EQ(*ParseDoubleValue("0.85"), 0.85);
  EXPECT_FALSE(ParseDoubleValue("nan").ok());
}

TEST(OptionTable, EveryDefaultIsAValidValueAndKeysAreOrdered) {
  const auto options = AllOptions();
  ASSERT_GT(options.size(), 250u);
  for (size_t i = 0; i < options.size(); ++i) {
    EXPECT_TRUE(i == 0 || options[i - 1].key < options[i].key) << options[i].key;
    EXPECT_TRUE(options[i].is_pattern || FindOption(options[i].key) == &options[i]) << options[i].key;
    if (!options[i].has_default) continue;
    const Status checked = CheckOptionValue(options[i], options[i].key, options[i].default_value);
    EXPECT_TRUE(checked.ok()) << checked.ToString();
  }
}

TEST(OptionTable, KeysAreFoundByOlderNamesAndPatterns) {
  EXPECT_EQ(FindOption("log.fetch.max-bytes")->key, "log.replica.fetch.max-bytes");
  EXPECT_EQ(FindOption("fs.s3a.endpoint")->key, "fs.<option>");
  EXPECT_EQ(FindOption("datalake.paimon.warehouse")->key, "datalake.<format>.<catalog option>");
  EXPECT_EQ(FindOption("security.sasl.listener.name.client.plain.jaas.config")->key,
            "security.sasl.listener.name.<listener>.<mechanism>.jaas.config");
  EXPECT_EQ(FindOption("paimon.file.format")->key, "<paimon|iceberg|hudi>.<option>");
  EXPECT_EQ(FindOption("lance.x"), nullptr);
  EXPECT_EQ(FindOption("fs."), nullptr);
  EXPECT_TRUE(MatchesPattern("a.<x>.b.<y>", "a.1.2.b.3"));
  EXPECT_FALSE(MatchesPattern("a.<x>.b", "a..b"));
}

TEST(Configuration, GettersGiveDefaultsAndWhatWasSet) {
  Configuration configuration;
  EXPECT_EQ(configuration.GetBytes("log.segment.file-size"), 1LL << 30);
  EXPECT_EQ(configuration.GetDurationMs("netty.connection.max-idle-time"), 600000);
  EXPECT_EQ(configuration.GetInt("log.flush.interval-messages"), INT64_MAX);
  EXPECT_EQ(configuration.GetInt("max.bucket.num"), 4096);
  EXPECT_TRUE(configuration.GetBool("allow.create.log.tables"));
  EXPECT_DOUBLE_EQ(configuration.GetDouble("server.data-disk.write-limit-ratio"), 0.85);
  EXPECT_EQ(configuration.GetString("internal.listener.name"), "FLUSS");
  EXPECT_EQ(configuration.GetEnum("strom.log.level"), "INFO");
  EXPECT_THAT(configuration.GetList("data.dirs"), IsEmpty());
  EXPECT_THAT(configuration.GetMap("security.protocol.map"), IsEmpty());
  EXPECT_FALSE(configuration.Find("bind.listeners").has_value());
  EXPECT_FALSE(configuration.Has("log.segment.file-size"));
  ASSERT_TRUE(configuration.Set("log.segment.file-size", "64mb").ok());
  ASSERT_TRUE(configuration.Set("data.dirs", "/a, /b").ok());
  ASSERT_TRUE(configuration.Set("log.replica.fetch-backoff-interval", "2s").ok());
  EXPECT_TRUE(configuration.Has("log.segment.file-size"));
  EXPECT_EQ(configuration.GetBytes("log.segment.file-size"), 64 << 20);
  EXPECT_THAT(configuration.GetList("data.dirs"), ElementsAre("/a", "/b"));
  EXPECT_EQ(configuration.GetDurationMs("log.replica.fetch.backoff-interval"), 2000);
  configuration.Unset("log.segment.file-size");
  EXPECT_EQ(configuration.GetBytes("log.segment.file-size"), 1LL << 30);
}

TEST(Configuration, BadValuesNameKeyValueAndWhatIsAllowed) {
  Configuration configuration;
  const auto message = [&](std::string_view key, std::string_view value) {
    return configuration.Set(key, value).ToString();
  };
  EXPECT_THAT(message("default.bucket.number", "0"),
              HasSubstr("'default.bucket.number': '0' is not allowed: an integer from 1 to"));
  EXPECT_THAT(message("log.segment.file-size", "4gb"), HasSubstr("1 kb to 2147483647 b is expected"));
  EXPECT_THAT(message("strom.log.level", "loud"), HasSubstr("one of DEBUG, INFO, WARN, ERROR, OFF is expected"));
  EXPECT_THAT(message("server.data-disk.write-limit-ratio", "1.5"), HasSubstr("a number from 0 to 1"));
  EXPECT_THAT(message("allow.create.log.tables", "yes"), HasSubstr("true or false"));
  EXPECT_THAT(message("kv.rocksdb.compression.per.level", "LZ4,RAR"), HasSubstr("'RAR' is not allowed"));
  EXPECT_EQ(message("security.sasl.plain.credentials", "secret-without-colon").find("secret-without"),
            std::string::npos);
  EXPECT_TRUE(configuration.values().empty());
}

TEST(Configuration, UnknownAndIdleKeysAreWarnedAboutOnce) {
  Configuration configuration;
  ASSERT_TRUE(configuration.Set("log.segment.flie-size", "1gb").ok());
  ASSERT_TRUE(configuration.Set("kv.snapshot.interval", "2s").ok());
  ASSERT_TRUE(configuration.Set("table.log.ttl", "1d").ok());
  ASSERT_TRUE(configuration.Set("client.id", "x").ok());
  ASSERT_TRUE(configuration.Set("max.bucket.num", "7").ok());
  ASSERT_TRUE(configuration.Set("kv.snapshot.num-retained", "2").ok());  // its default
  const auto warnings = configuration.Warnings();
  ASSERT_EQ(warnings.size(), 4u);
  EXPECT_THAT(warnings[2], HasSubstr("did you mean 'log.segment.file-size'?"));
  EXPECT_THAT(warnings[1], HasSubstr("step 2 builds it"));
  EXPECT_THAT(warnings[3], HasSubstr("belongs to tables"));
  EXPECT_TRUE(configuration.CheckBuilt().ok());
}

TEST(Configuration, WhatIsNotBuiltStopsTheStartUnlessItAsksForNothing) {
  const auto built = [](std::string_view key, std::string_view value) {
    Configuration configuration;
    EXPECT_TRUE(configuration.Set(key, value).ok()) << key;
    return configuration.CheckBuilt();
  };
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"authorizer.enabled", "true"},
                                                        {"zookeeper.address", "localhost:2181"},
                                                        {"kafka.enabled", "true"},
                                                        {"datalake.format", "paimon"},
                                                        {"datalake.paimon.warehouse", "/w"},
                                                        {"security.protocol.map", "CLIENT:SASL"},
                                                        {"security.sasl.enabled.mechanisms", "PLAIN"},
                                                        {"coordinator.port", "9999"}}) {
    const Status refused = built(key, value);
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidConfig) << key;
    EXPECT_THAT(refused.ToString(), HasSubstr(key));
  }
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"authorizer.enabled", "false"},
                                                        {"kafka.enabled", "FALSE"},
                                                        {"datalake.enabled", "false"},
                                                        {"coordinator.port", "9123"},
                                                        {"security.protocol.map", "CLIENT:PLAINTEXT,FLUSS:plaintext"},
                                                        {"zookeeper.path.root", "/x"}}) {
    EXPECT_TRUE(built(key, value).ok()) << built(key, value).ToString();
  }
  EXPECT_THAT(built("zookeeper.address", "x").ToString(), HasSubstr("step 5"));
  EXPECT_FALSE(built("server.data-disk.write-recover-ratio", "0.9").ok());
}

PropertyChange Set(std::string key, std::string value) { return {std::move(key), std::move(value), ConfigOp::kSet}; }

TEST(DynamicConfig, OnlyDynamicKeysWithGoodValuesChange) {
  const Configuration file;
  const auto code = [&](PropertyChange change) {
    return ApplyConfigChanges({}, file, std::vector{std::move(change)}).code();
  };
  EXPECT_EQ(code(Set("kv.rocksdb.shared-rate-limiter.bytes-per-sec", "10mb")), ErrorCode::kNone);
  EXPECT_EQ(code(Set("kv.rocksdb.shared-rate-limiter.bytes-per-sec", "much")), ErrorCode::kConfigException);
  EXPECT_EQ(code(Set("no.such.option", "1")), ErrorCode::kConfigException);
  EXPECT_EQ(code(Set("bind.listeners", "X://a:1")), ErrorCode::kConfigException);
  EXPECT_EQ(code(Set("datalake.format", "paimon")), ErrorCode::kConfigException);
  EXPECT_EQ(code(Set("kv.snapshot.interval", "${env:X}")), ErrorCode::kConfigException);
  EXPECT_EQ(code({"kv.snapshot.interval", std::nullopt, ConfigOp::kSet}), ErrorCode::kConfigException);
  EXPECT_EQ(code({"kv.snapshot.interval", "1s", ConfigOp::kAppend}), ErrorCode::kConfigException);
  EXPECT_EQ(code({"kv.snapshot.interval", "1s", static_cast<ConfigOp>(9)}), ErrorCode::kConfigException);
  EXPECT_EQ(code(Set("server.data-disk.write-recover-ratio", "0.9")), ErrorCode::kConfigException);  // above the limit
  EXPECT_THAT(ApplyConfigChanges({}, file, std::vector{Set("kv.snapshot.intervall", "1s")}).ToString(),
              HasSubstr("did you mean 'kv.snapshot.interval'?"));
}

TEST(DynamicConfig, TheKeysAreThoseOfTheSpec) {
  std::vector<std::string> keys;
  for (const Option& option : AllOptions()) {
    if (IsDynamicKey(option.key) && !option.key.starts_with("datalake.")) keys.emplace_back(option.key);
  }
  EXPECT_THAT(
      keys,
      ElementsAre("kv.leader-replica.memory-reserved", "kv.rocksdb.shared-rate-limiter.bytes-per-sec",
                  "kv.snapshot.interval", "log.replica.min-in-sync-replicas-number",
                  "log.retention.roll-active-segment.enabled", "remote.data.dirs", "remote.data.dirs.strategy",
                  "remote.data.dirs.weights", "security.sasl.plain.credentials", "server.data-disk.write-limit-ratio",
                  "server.data-disk.write-recover-ratio", "server.historical-partition.lookup-cache.max-disk-ratio",
                  "server.historical-partition.lookuper-cache.expire-after-access"));
}

TEST(DynamicConfig, ListsAreAppendedToAndSubtractedFromTheFilesValue) {
  Configuration file;
  ASSERT_TRUE(file.Set("remote.data.dirs", "/a").ok());
  const auto apply = [&](const DynamicConfig& current, std::vector<PropertyChange> changes) {
    auto changed = ApplyConfigChanges(current, file, changes);
    EXPECT_TRUE(changed.ok()) << changed.ToString();
    return *changed;
  };
  DynamicConfig config = apply({}, {{"remote.data.dirs", "/b", ConfigOp::kAppend}});
  EXPECT_EQ(config.at("remote.data.dirs"), "/a,/b");
  config = apply(config,
                 {{"remote.data.dirs", "/a", ConfigOp::kSubtract}, {"remote.data.dirs", "/zz", ConfigOp::kSubtract}});
  EXPECT_EQ(config.at("remote.data.dirs"), "/b");
  config = apply(config, {{"remote.data.dirs", "/b", ConfigOp::kSubtract}});
  EXPECT_EQ(config.at("remote.data.dirs"), std::nullopt);
  EXPECT_THAT(MergeConfig(file, config).configuration.GetList("remote.data.dirs"),
              IsEmpty());  // the file's value is hidden
  config = apply(config, {{"remote.data.dirs", "/c", ConfigOp::kAppend}});
  EXPECT_EQ(config.at("remote.data.dirs"), "/c");
  config = apply(config, {{"remote.data.dirs", std::nullopt, ConfigOp::kDelete}});
  EXPECT_THAT(MergeConfig(file, config).configuration.GetList("remote.data.dirs"), ElementsAre("/a"));
}

TEST(DynamicConfig, StoredSettingsThatAreNotValidAnyMoreAreSkipped) {
  const EffectiveConfig merged = MergeConfig(
      {},
      {{"kv.snapshot.interval", "soon"}, {"log.replica.min-in-sync-replicas-number", "2"}, {"max.bucket.num", "9"}});
  EXPECT_EQ(merged.skipped.size(), 2u);
  EXPECT_EQ(merged.configuration.GetInt("log.replica.min-in-sync-replicas-number"), 2);
  EXPECT_EQ(merged.configuration.GetInt("max.bucket.num"), 4096);
}

TEST(DynamicConfig, DescribingListsEachKeyOnceWithItsSourceAndHidesSecrets) {
  Configuration file;
  ASSERT_TRUE(file.Set("bind.listeners", "CLIENT://127.0.0.1:9123").ok());
  ASSERT_TRUE(file.Set("security.sasl.plain.credentials", "ann:pw,bob:pw2").ok());
  ASSERT_TRUE(file.Set("metrics.reporter.influxdb.token", "abc").ok());
  const auto entries = DescribeConfig(file, {{"kv.snapshot.interval", "1 min"}});
  std::map<std::string, ConfigEntry> by_key;
  for (const ConfigEntry& entry : entries) EXPECT_TRUE(by_key.emplace(entry.key, entry).second) << entry.key;
  EXPECT_EQ(by_key.at("bind.listeners").value, "CLIENT://127.0.0.1:9123");
  EXPECT_EQ(by_key.at("bind.listeners").source(), "INITIAL_SERVER_CONFIG");
  EXPECT_EQ(by_key.at("kv.snapshot.interval").source(), "DYNAMIC_SERVER_CONFIG");
  EXPECT_EQ(by_key.at("kv.snapshot.interval").value, "1 min");
  EXPECT_EQ(by_key.at("security.sasl.plain.credentials").value, "ann:******,bob:******");
  EXPECT_EQ(by_key.at("metrics.reporter.influxdb.token").value, "******");
  EXPECT_EQ(by_key.at("max.bucket.num").value, "4096");
  EXPECT_FALSE(by_key.contains("table.log.ttl"));
  EXPECT_TRUE(
      std::any_of(entries.begin(), entries.end(), [](const ConfigEntry& e) { return e.key == "bind.listeners"; }));
}

TEST(NearestName, IsTheOneWithTheFewestEditsIfThatIsNear) {
  const std::vector<std::string_view> names = {"table.log.ttl", "table.log.format", "table.kv.format"};
  EXPECT_EQ(NearestName("table.log.tll", names), "table.log.ttl");
  EXPECT_EQ(NearestName("table.lgo.format", names), "table.log.format");
  EXPECT_EQ(NearestName("something.else.entirely", names), std::nullopt);
  EXPECT_EQ(NearestName(std::string(100000, 'x'), names), std::nullopt);
}

}  // namespace
}  // namespace strom::model
