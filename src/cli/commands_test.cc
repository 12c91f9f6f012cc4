#include "cli/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/strom_process.h"

namespace strom::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CommandLine, PrintsVersionAndHelp) {
  const testing::Ended version = testing::RunStrom({"version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_THAT(version.out, AllOf(StartsWith("strom "), HasSubstr("Apache Fluss 0.9.1 and 1.0.0")));
  const testing::Ended help = testing::RunStrom({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("server"), HasSubstr("inspect"), HasSubstr("version")));
  const testing::Ended server = testing::RunStrom({"server", "--help"});
  EXPECT_EQ(server.status, 0);
  EXPECT_THAT(server.out, AllOf(HasSubstr("--data-dir"), HasSubstr("--listen"), HasSubstr("--config"), HasSubstr("--ready-file"), HasSubstr("-D")));
}

TEST(CommandLine, RefusesArgumentsThatItDoesNotUnderstand) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "A subcommand is required"},
      {{"serve"}, ""},
      {{"server", "--frob"}, "--frob"},
      {{"server", "stray"}, "stray"},
      {{"server", "--data-dir"}, "--data-dir"},
      {{"server", "-D"}, "-D"},
      {{"inspect"}, "path is required"},
      {{"inspect", "a", "b"}, "b"},
      {{"inspect", "--verify=maybe", "a"}, "verify"},
      {{"version", "--long"}, "--long"},
  };
  for (const auto& [arguments, sentence] : cases) {
    const testing::Ended ended = testing::RunStrom(arguments);
    EXPECT_EQ(ended.status, kUsageStatus) << ::testing::PrintToString(arguments);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, AllOf(HasSubstr(sentence), HasSubstr("--help"))) << ::testing::PrintToString(arguments);
  }
}

class ServerCommand : public ::testing::Test {
 protected:
  std::vector<std::string> Arguments(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"server", "--data-dir", directory_.Path("data"), "--listen", "127.0.0.1:0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  testing::TemporaryDirectory directory_;
};

TEST_F(ServerCommand, StopsTheStartAtAWrongValue) {
  directory_.Write("a-file", "");
  directory_.Write("list.yaml", "- a\n- b\n");
  directory_.Write("broken.yaml", "a: [1, 2\n");
  directory_.Write("value.yaml", "# a comment\nlog:\n  segment:\n    file-size: much\n");
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--listen", "9123"}, "--listen: '9123' is not host:port"},
      {{"--listen", "127.0.0.1:99999"}, "'127.0.0.1:99999' has no port between 0 and 65535"},
      {{"-D", "strom.shards"}, "-D strom.shards: key=value is expected"},
      {{"-D", "=1"}, "-D =1: key=value is expected"},
      {{"-D", "strom.shards=many"}, "'strom.shards': 'many' is not allowed: an integer from 0 to 1024 is expected"},
      {{"-D", "log.segment.file-size=-1"}, "'log.segment.file-size': '-1' is not a memory size"},
      {{"--config", directory_.Path("missing.yaml")}, "missing.yaml cannot be read"},
      {{"--config", directory_.Path("list.yaml")}, "list.yaml: lines of the form 'key: value' are expected"},
      {{"--config", directory_.Path("broken.yaml")}, "broken.yaml line "},
      {{"--config", directory_.Path("value.yaml")}, "value.yaml line 4: the option 'log.segment.file-size': 'much'"},
      {{"--data-dir", directory_.Path("a-file")}, "cannot create the directory " + directory_.Path("a-file")},
  };
  for (const auto& [more, sentence] : cases) {
    std::vector<std::string> arguments{"server"};
    if (more[0] != "--data-dir") arguments.insert(arguments.end(), {"--data-dir", directory_.Path("data")});
    if (more[0] != "--listen") arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const testing::Ended ended = testing::RunStrom(arguments);
    EXPECT_EQ(ended.status, 1) << sentence << "\n" << ended.err;
    EXPECT_EQ(ended.out, "") << "no ready line";
    EXPECT_THAT(ended.err, AllOf(HasSubstr("strom: the server cannot start: "), HasSubstr(sentence)));
  }
}

TEST_F(ServerCommand, SaysWhenItServesAndStopsCleanly) {
  testing::StromProcess server(Arguments({"--ready-file", directory_.Path("ready")}));
  const std::string line = server.ReadLine();
  EXPECT_THAT(line, StartsWith("ready: bootstrap 127.0.0.1:"));
  EXPECT_THAT(line, HasSubstr(fmt::format("data {} pid {}", directory_.Path("data"), server.pid())));
  // The file is written after the line: whoever waits for the file has the line, too. A second server is refused meanwhile.
  const testing::Ended second = testing::RunStrom(Arguments());
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr(fmt::format("{} is in use by another server (process {})", directory_.Path("data"), server.pid())));
  EXPECT_EQ(directory_.Read("ready"), line + "\n");
  server.Signal(SIGTERM);
  const testing::Ended ended = server.Wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_FALSE(*rt::SystemFiles().Exists(directory_.Path("ready")));
  EXPECT_TRUE(*rt::SystemFiles().Exists(directory_.Path("data/tablet/.fluss_cleanshutdown")));
  EXPECT_EQ(testing::RunStrom({"inspect", "--verify", directory_.Path("data")}).status, 0);
}

TEST_F(ServerCommand, StartsAgainAfterAKillAndRefusesADamagedStamp) {
  {
    testing::StromProcess server(Arguments());
    EXPECT_THAT(server.ReadLine(), StartsWith("ready: "));
    server.Signal(SIGKILL);
    EXPECT_EQ(server.Wait().status, 128 + SIGKILL);
  }
  {
    testing::StromProcess server(Arguments());
    EXPECT_THAT(server.ReadLine(), StartsWith("ready: "));
    server.Signal(SIGINT);
    EXPECT_EQ(server.Wait().status, 0);
  }
  directory_.Write("data/STROM", "format 9\nserver 0\n");
  const testing::Ended ended = testing::RunStrom(Arguments());
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("strom: the server cannot start: "), HasSubstr(directory_.Path("data")), HasSubstr("9")));
}

TEST_F(ServerCommand, TakesTheCommandLineOverTheFileAndWarnsOfUnknownKeys) {
  directory_.Write("server.yaml", "tablet-server.id: 4\nbind.listeners: FLUSS://127.0.0.1:1\nlog.segment.file-siz: 1mb\n");
  testing::StromProcess server(Arguments({"--config", directory_.Path("server.yaml"), "-D", "tablet-server.id=5"}));
  EXPECT_THAT(server.ReadLine(), StartsWith("ready: bootstrap 127.0.0.1:"));
  server.Signal(SIGTERM);
  const testing::Ended ended = server.Wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(directory_.Read("data/STROM"), "format 1\nserver 5\n");
  EXPECT_THAT(ended.err, HasSubstr("'log.segment.file-siz' is not known and has no effect; did you mean 'log.segment.file-size'?"));
}

}  // namespace
}  // namespace strom::cli
