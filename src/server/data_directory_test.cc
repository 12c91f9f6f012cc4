#include "server/data_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "server/server_options.h"

namespace strom::server {
namespace {

class DataDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "strom-data-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void Write(const std::string& name, const std::string& text) { std::ofstream(path_ + "/" + name) << text; }

  std::string path_;
};

TEST_F(DataDirectoryTest, IsMadeStampedAndTellsACrashFromAPowerLoss) {
  {
    auto first = DataDirectory::Open(path_ + "/d", 0);
    ASSERT_TRUE(first.ok()) << first.ToString();
    EXPECT_TRUE((*first)->power_may_have_failed());  // nobody knows
  }
  auto second = DataDirectory::Open(path_ + "/d", 0);
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_FALSE((*second)->power_may_have_failed());  // the same boot
  second.value().reset();
  Write("d/boot-id", "another boot");
  auto third = DataDirectory::Open(path_ + "/d", 0);
  ASSERT_TRUE(third.ok());
  EXPECT_TRUE((*third)->power_may_have_failed());
}

TEST_F(DataDirectoryTest, HasOneOwnerAndNamesIt) {
  auto first = DataDirectory::Open(path_, 0);
  ASSERT_TRUE(first.ok());
  const auto second = DataDirectory::Open(path_, 0);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("process " + std::to_string(getpid())), std::string::npos) << second.ToString();
}

TEST_F(DataDirectoryTest, RefusesNewerForeignAndDamagedStamps) {
  Write("STROM", "format 2\nserver 0\n");
  EXPECT_NE(DataDirectory::Open(path_, 0).ToString().find("newer version"), std::string::npos);
  Write("STROM", "format 1\nserver 3\n");
  EXPECT_NE(DataDirectory::Open(path_, 0).ToString().find("belongs to server 3"), std::string::npos);
  for (const char* damaged : {"", "format\n", "format x\nserver 0\n", "format 1\n"}) {
    Write("STROM", damaged);
    EXPECT_NE(DataDirectory::Open(path_, 0).ToString().find("damaged"), std::string::npos) << damaged;
  }
}

TEST_F(DataDirectoryTest, ConfigurationFilesAreFlatOrNestedAndErrorsNameTheLine) {
  Write("server.yaml", "log:\n  segment:\n    file-size: 2mb\ndefault.bucket.number: 3\n");
  model::Configuration configuration;
  ASSERT_TRUE(ReadConfigurationFile(path_ + "/server.yaml", &configuration).ok());
  EXPECT_EQ(configuration.GetBytes("log.segment.file-size"), 2 << 20);
  EXPECT_EQ(configuration.GetInt("default.bucket.number"), 3);
  Write("bad.yaml", "default.bucket.number: 1\nlog.segment.file-size: many\n");
  const Status refused = ReadConfigurationFile(path_ + "/bad.yaml", &configuration);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("line 2"), std::string::npos) << refused.ToString();
  Write("broken.yaml", "a: [1\n");
  EXPECT_FALSE(ReadConfigurationFile(path_ + "/broken.yaml", &configuration).ok());
  EXPECT_FALSE(ReadConfigurationFile(path_ + "/missing.yaml", &configuration).ok());
}

TEST_F(DataDirectoryTest, SettingsThatThisBuildCannotHonourStopTheStart) {
  model::Configuration configuration;
  ASSERT_TRUE(configuration.Set("authorizer.enabled", "true").ok());
  const auto refused = MakeServerOptions(std::move(configuration));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("authorizer.enabled"), std::string::npos);
}

}  // namespace
}  // namespace strom::server
