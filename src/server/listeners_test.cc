#include "server/listeners.h"

#include <gtest/gtest.h>

namespace strom::server {
namespace {

Result<std::vector<ListenerOptions>> Parse(std::string bind, std::string advertised = "", std::string internal = "") {
  model::Configuration configuration;
  const std::pair<const char*, std::string> settings[] = {
      {"bind.listeners", bind}, {"advertised.listeners", advertised}, {"internal.listener.name", internal}};
  for (const auto& [key, value] : settings) {
    const Status set = value.empty() ? Status() : configuration.Set(key, value);
    EXPECT_TRUE(set.ok()) << set.ToString();
  }
  return ListenersOf(configuration);
}

TEST(Listeners, NeedNoConfiguration) {
  const auto listeners = Parse("");
  ASSERT_TRUE(listeners.ok()) << listeners.ToString();
  ASSERT_EQ(listeners->size(), 1U);
  EXPECT_EQ((*listeners)[0].name, "FLUSS");
  EXPECT_EQ(ToString((*listeners)[0].bind), "127.0.0.1:9123");
  EXPECT_TRUE((*listeners)[0].internal);
}

TEST(Listeners, MayBeSeveralAndIPv6) {
  const auto listeners = Parse("FLUSS://127.0.0.1:9123, CLIENT://[::1]:9200");
  ASSERT_TRUE(listeners.ok()) << listeners.ToString();
  EXPECT_EQ(ToString((*listeners)[1].bind), "[::1]:9200");
  EXPECT_FALSE((*listeners)[1].internal);
}

TEST(Listeners, AWildcardNeedsAnAdvertisedAddressAndTheErrorHasTheLineToAdd) {
  for (const char* host : {"0.0.0.0", "[::]", ""}) {
    const auto refused = Parse("FLUSS://" + std::string(host) + ":9123");
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("advertised.listeners: FLUSS://"), std::string::npos) << refused.ToString();
    const auto taken = Parse("FLUSS://" + std::string(host) + ":9123", "FLUSS://db.example.org:9123");
    ASSERT_TRUE(taken.ok()) << taken.ToString();
    EXPECT_EQ((*taken)[0].advertised->host, "db.example.org");
  }
}

TEST(Listeners, RefuseWhatCannotBeMeant) {
  for (const char* bad : {"FLUSS", "FLUSS://host", "FLUSS://host:99999", "FLUSS://host:x", "FLUSS://[::1:9123", "FLUSS://::1:9123",
                          "://host:1", "FLUSS://a:1,FLUSS://b:9", "FLUSS://a:10,B://a:11", "FLUSS://a:65535", "OTHER://a:1"}) {
    EXPECT_EQ(Parse(bad).code(), ErrorCode::kInvalidConfig) << bad;
  }
  EXPECT_EQ(Parse("FLUSS://a:1", "NOBODY://b:2").code(), ErrorCode::kInvalidConfig);
}

}  // namespace
}  // namespace strom::server
