#include <gtest/gtest.h>

#include "base/testing/allocation_counter.h"
#include "kv/merger.h"
#include "kv/testing/roaring_images.h"
#include "kv/testing/tables.h"

namespace strom::kv {
namespace {

using strom::testing::allocations;
using format::Value;
using model::DataType;
using model::TypeRoot;

/// Allocations of 100 merges and deletes after a first one has made the scratch memory.
uint64_t AllocationsPerHundred(const std::shared_ptr<const KvTable>& table, std::vector<int32_t> targets,
                               const std::vector<Value>& values) {
  const auto merger = MakeMerger(table, targets, MergeMode::kTable).value();
  const Buffer row = testing::EncodeRow(*table, 1, values);
  const RowView view = {1, row.view()};
  MutableBuffer out;
  uint64_t before = 0;
  for (int i = 0; i < 101; ++i) {
    if (i == 1) before = allocations;
    out.Clear();
    STROM_ASSERT(merger->Merge(view, view, &out).ok(), "merge");
    STROM_ASSERT(merger->Delete(view, &out).ok(), "delete");
  }
  return allocations - before;
}

TEST(MergerAllocations, AreNoneForARowInTheSteadyState) {
  testing::TableSpec spec;
  spec.schemas = {testing::MakeSchema({{"k", DataType::Of(TypeRoot::kInteger)},
                                       {"a", DataType::Of(TypeRoot::kString), "listagg"},
                                       {"b", DataType::Decimal(30, 4), "product"},
                                       {"c", DataType::Of(TypeRoot::kBytes), "rbm32"},
                                       {"d", DataType::Of(TypeRoot::kBytes), "rbm64"},
                                       {"e", DataType::Of(TypeRoot::kDouble), "max"}},
                                      {"k"})};
  std::set<uint32_t> narrow;
  std::vector<uint64_t> wide;
  for (uint32_t i = 0; i < 300; ++i) {
    narrow.insert(i * i);
    wide.push_back(uint64_t{i} << 20);
  }
  const std::vector<Value> row = {Value::Integer(1),
                                  Value::String("a text that is too long for a small string"),
                                  Value::Decimal(format::PowerOfTen(20)),
                                  Value::Bytes(testing::Roaring32Image(narrow).view()),
                                  Value::Bytes(testing::Roaring64Image(wide).view()),
                                  Value::Double(1.5)};
  for (const char* format : {"compacted", "indexed"}) {
    SCOPED_TRACE(format);
    spec.properties = {{"table.kv.format", format}};
    EXPECT_EQ(AllocationsPerHundred(testing::MakeTable(spec), {}, row), 0U);
    EXPECT_EQ(AllocationsPerHundred(testing::MakeTable(spec), {0, 1, 3}, row), 0U);
    spec.properties["table.merge-engine"] = "aggregation";
    EXPECT_EQ(AllocationsPerHundred(testing::MakeTable(spec), {}, row), 0U);
    EXPECT_EQ(AllocationsPerHundred(testing::MakeTable(spec), {0, 1, 3}, row), 0U);
  }
}

}  // namespace
}  // namespace strom::kv
