// A PutKv batch as a client may send it. covers: batch_keys change_planner
#include "base/assert.h"
#include "kv/change_planner.h"
#include "kv/testing/tables.h"

namespace {

std::shared_ptr<const strom::kv::KvTable> MakeFuzzTable() {
  using strom::model::DataType;
  using strom::model::TypeRoot;
  strom::kv::testing::TableSpec spec;
  spec.schemas.push_back(strom::kv::testing::MakeSchema({{"id", DataType::Of(TypeRoot::kInteger)},
                                                         {"name", DataType::Of(TypeRoot::kString)},
                                                         {"tags", DataType::Array(DataType::Of(TypeRoot::kInteger))}},
                                                        {"id"}));
  return strom::kv::testing::MakeTable(spec);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom;
  static const auto table = MakeFuzzTable();
  static kv::ChangePlanner planner(table);
  static const auto merger = kv::MakeMerger(table, {}, kv::MergeMode::kTable);
  const ByteView batch(data, size);
  const auto header = format::DecodeKvBatchHeader(batch);
  // A CRC that does not hold is let through: the planner must stand what a client means.
  if (!header.ok() || header->total_size != size || !planner.Read(*header, batch).ok()) return 0;
  const std::vector<std::optional<ByteView>> absent(planner.keys().size());
  const auto plan = planner.Plan(**merger, absent, nullptr);
  if (plan.ok()) STROM_ASSERT(plan->entries.size() <= static_cast<size_t>(plan->record_count), "more entries than changes");
  return 0;
}
