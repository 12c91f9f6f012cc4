#include "rpc/api_versions.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

namespace strom::rpc {
namespace {

std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  for (const char c : line.substr(1)) {
    if (c == '|') {
      cells.push_back(cell);
      cell.clear();
    } else if (c != ' ') {
      cell.push_back(c);
    }
  }
  return cells;
}

/// The table of wire-protocol.md 3, by key.
std::map<int, std::vector<std::string>> SpecTable() {
  std::map<int, std::vector<std::string>> rows;
  std::ifstream spec(std::string(STROM_SOURCE_DIR) + "/docs/spec/wire-protocol.md");
  for (std::string line; std::getline(spec, line);) {
    if (!line.starts_with("| 1")) continue;
    std::vector<std::string> cells = Cells(line);
    if (cells.size() == 8) rows[std::stoi(cells[0])] = cells;
  }
  return rows;
}

TEST(ApiVersions, TableIsTheOneOfTheSpec) {
  const auto rows = SpecTable();
  ASSERT_EQ(rows.size(), ApiDefinitions().size());
  const std::map<ServedBy, std::string> served{
      {ServedBy::kBoth, "both"}, {ServedBy::kCoordinator, "coordinator"}, {ServedBy::kTablet, "tablet"}};
  // Lower maxima until their meaning is built: historical partitions, bucket rescale.
  const std::map<ApiKey, std::string> lowered{
      {ApiKey::kProduceLog, "0-0"}, {ApiKey::kPutKv, "0-2"}, {ApiKey::kAlterTable, "0-0"}};
  for (const ApiDefinition& api : ApiDefinitions()) {
    const std::vector<std::string>& row = rows.at(static_cast<int>(api.key));
    EXPECT_EQ(api.name(), row[1]);
    const auto lower = lowered.find(api.key);
    EXPECT_EQ(fmt::format("{}-{}", api.version_min, api.version_max), lower == lowered.end() ? row[4] : lower->second) << api.name();
    EXPECT_EQ(served.at(api.served_by), row[5]) << api.name();
    EXPECT_EQ(api.is_public ? "public" : "private", row[6]) << api.name();
  }
}

TEST(ApiVersions, AdvertisesWhatIsBuiltAndServedThere) {
  std::set<int32_t> coordinator;
  for (const PbApiVersion& api : AdvertisedApis(ServerType::kCoordinator)) coordinator.insert(api.api_key);
  std::set<int32_t> tablet;
  for (const PbApiVersion& api : AdvertisedApis(ServerType::kTabletServer)) tablet.insert(api.api_key);
  EXPECT_TRUE(coordinator.contains(1005));   // CREATE_TABLE
  EXPECT_FALSE(tablet.contains(1005));
  EXPECT_TRUE(tablet.contains(1014));        // PRODUCE_LOG
  EXPECT_FALSE(coordinator.contains(1014));
  EXPECT_TRUE(coordinator.contains(1012) && tablet.contains(1012));  // GET_METADATA
  EXPECT_FALSE(tablet.contains(1016));       // PUT_KV
  EXPECT_FALSE(tablet.contains(1013));       // UPDATE_METADATA
}

TEST(ApiVersions, SaysWhyARequestIsNotServed) {
  EXPECT_TRUE(CheckApi(1014, 0, ServerType::kTabletServer).ok());
  const auto problem = [](int16_t key, int16_t version, ServerType type) {
    const Status status = CheckApi(key, version, type);
    EXPECT_EQ(status.code(), ErrorCode::kUnsupportedVersion);
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_EQ(problem(7, 0, ServerType::kTabletServer), "API key 7 is not known to this server");
  EXPECT_EQ(problem(-1, 0, ServerType::kTabletServer), "API key -1 is not known to this server");
  EXPECT_EQ(problem(1067, 0, ServerType::kTabletServer), "API key 1067 is not known to this server");
  EXPECT_EQ(problem(1014, 0, ServerType::kCoordinator), "PRODUCE_LOG (1014) is not served by a coordinator: ask a tablet server");
  EXPECT_EQ(problem(1005, 0, ServerType::kTabletServer), "CREATE_TABLE (1005) is not served by a tablet server: ask a coordinator");
  EXPECT_EQ(problem(1018, 0, ServerType::kTabletServer),
            "NOTIFY_LEADER_AND_ISR (1018) is not built yet: it comes with clusters of several servers (step 5)");
  EXPECT_EQ(problem(1014, 1, ServerType::kTabletServer), "PRODUCE_LOG (1014) is served in versions 0 to 0, not in version 1");
  EXPECT_EQ(problem(1014, -1, ServerType::kTabletServer), "PRODUCE_LOG (1014) is served in versions 0 to 0, not in version -1");
}

TEST(ApiVersions, AnswersTheQuestionForVersionsInAnyVersion) {
  EXPECT_TRUE(CheckApi(1000, 9, ServerType::kCoordinator).ok());
}

}  // namespace
}  // namespace strom::rpc
