#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "vector.h"

namespace strom::vectors {
namespace {

/// One vector as one test.
class VectorTest : public testing::Test {
 public:
  VectorTest(const Vector* vector, const Check* check) : vector_(vector), check_(check) {}
  void TestBody() override {
    SCOPED_TRACE(vector_->json.value("description", ""));
    (*check_)(*vector_);
  }

 private:
  const Vector* vector_;
  const Check* check_;
};

Checks AllChecks(const std::vector<Vector>& vectors) {
  Checks checks;
  AddRowChecks(&checks);
  AddKeyChecks(&checks);
  AddBatchChecks(&checks);
  AddArrowChecks(&checks);
  AddModelChecks(&checks);
  AddLogChecks(vectors, &checks);
  AddKvChecks(&checks);
  AddArrowChecks(&checks);
  AddModelChecks(&checks);
  AddLogChecks(vectors, &checks);
  return checks;
}

/// Registers the vectors that there is a check for; names the others, which later steps bring.
void Register(const std::vector<Vector>& vectors, const Checks& checks) {
  size_t skipped = 0;
  for (const Vector& vector : vectors) {
    const auto check = checks.find(vector.kind);
    if (check == checks.end()) {
      ++skipped;
      if (!GTEST_FLAG_GET(list_tests)) fmt::print("skipped: {} ({}), not built yet\n", vector.id, vector.kind);
      continue;
    }
    testing::RegisterTest(vector.kind.c_str(), vector.id.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&vector, run = &check->second]() -> testing::Test* { return new VectorTest(&vector, run); });
  }
  if (!GTEST_FLAG_GET(list_tests)) fmt::print("{} vectors, {} of them skipped\n", vectors.size(), skipped);
}

}  // namespace
}  // namespace strom::vectors

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* folder = std::getenv("STROM_VECTORS");
  auto vectors = strom::vectors::LoadVectors(folder != nullptr ? folder : STROM_VECTORS_DIR);
  if (!vectors.ok()) {
    fmt::print(stderr, "{}\n", vectors.ToString());
    return 1;
  }
  const strom::vectors::Checks checks = strom::vectors::AllChecks(*vectors);
  strom::vectors::Register(*vectors, checks);
  std::fflush(stdout);
  return RUN_ALL_TESTS();
}
