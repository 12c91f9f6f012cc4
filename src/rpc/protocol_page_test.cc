#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "rpc/api_versions.h"

namespace strom::rpc {
namespace {

std::string ServedText(ServedBy served) {
  return served == ServedBy::kBoth ? "both" : served == ServedBy::kCoordinator ? "coordinator" : "tablet server";
}

std::string ProtocolPage() {
  std::ostringstream page;
  page << "# Protocol support\n\n"
          "Which requests of the Fluss protocol this build answers, and in which versions. This page is made from the version table\n"
          "(`src/rpc/api_versions.cc`); a test checks that it is current. What is not built yet answers with UNSUPPORTED_VERSION and a\n"
          "sentence, and the connection goes on.\n\n"
          "| key | request | versions | served by | state |\n|---|---|---|---|---|\n";
  for (const ApiDefinition& api : ApiDefinitions()) {
    page << "| " << static_cast<int>(api.key) << " | " << api.name() << " | ";
    if (api.built()) {
      page << api.version_min << "-" << api.version_max;
    } else {
      page << "-";
    }
    page << " | " << ServedText(api.served_by) << " | " << (api.built() ? "works" : "comes with " + std::string(api.comes_with)) << " |\n";
  }
  return page.str();
}

// STROM_WRITE_DOCS=1 build/release/bin/rpc_test --gtest_filter='ProtocolPage.*' writes the page anew.
TEST(ProtocolPage, IsCurrent) {
  const std::string path = std::string(STROM_SOURCE_DIR) + "/docs/protocol.md";
  if (std::getenv("STROM_WRITE_DOCS") != nullptr) {
    std::ofstream(path) << ProtocolPage();
  }
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), ProtocolPage());
}

}  // namespace
}  // namespace strom::rpc
