// A PutKv batch as a client may send it, and what the replay makes of its changelog. covers: change_planner changelog_builder changelog_replay
#include "format/log_batch.h"
#include "kv/change_planner.h"
#include "kv/changelog_replay.h"
#include "kv/testing/tables.h"

namespace {

using namespace strom;
using model::DataType;
using model::TypeRoot;

std::shared_ptr<const kv::KvTable> MakeTable(uint8_t choice) {
  kv::testing::TableSpec spec;
  spec.schemas = {kv::testing::MakeSchema({{"k", DataType::Of(TypeRoot::kInteger)},
                                           {"v", DataType::Of(TypeRoot::kString)},
                                           {"d", DataType::Decimal(30, 4)},
                                           {"a", DataType::Array(DataType::Of(TypeRoot::kInteger))}},
                                          {"k"})};
  const char* const log_formats[] = {"arrow", "indexed", "compacted"};
  spec.properties = {{"table.log.format", log_formats[choice % 3]},
                     {"table.kv.format", choice % 2 == 0 ? "compacted" : "indexed"}};
  return kv::testing::MakeTable(spec);
}

}  // namespace

/// The first byte chooses the formats, the rest is a PutKv batch. What is taken must be replayed as it was planned.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto table = MakeTable(data[0]);
  const ByteView batch(data + 1, size - 1);
  const auto header = format::DecodeKvBatchHeader(batch);
  if (!header.ok() || header->total_size != batch.size()) return 0;
  kv::ChangePlanner planner(table);
  if (!planner.Read(*header, batch).ok()) return 0;
  const auto merger = kv::MakeMerger(table, {}, kv::MergeMode::kTable).value();
  const std::vector<std::optional<ByteView>> nothing(planner.keys().size());
  const auto plan = planner.Plan(*merger, nothing, nullptr);
  if (!plan.ok()) return 0;
  const auto entries = kv::ChangelogReplay(table).Read(format::DecodeLogBatchHeader(plan->changelog.view()).value(),
                                                       plan->changelog.view());
  STROM_ASSERT(entries.ok(), "{}", entries.ToString());
  STROM_ASSERT(entries->size() == plan->entries.size(), "{} entries planned, {} replayed", plan->entries.size(),
               entries->size());
  return 0;
}
