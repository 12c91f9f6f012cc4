// A changelog batch as the disk may hold it. covers: changelog_replay arrow_field_reader
#include "format/log_batch.h"
#include "kv/changelog_replay.h"
#include "kv/testing/tables.h"

/// The first byte chooses the formats, the rest is a changelog batch.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom;
  using model::DataType;
  using model::TypeRoot;
  if (size == 0) return 0;
  const char* const log_formats[] = {"arrow", "indexed", "compacted"};
  kv::testing::TableSpec spec;
  spec.schemas = {kv::testing::MakeSchema({{"k", DataType::Of(TypeRoot::kInteger)},
                                           {"v", DataType::Of(TypeRoot::kString)},
                                           {"d", DataType::Decimal(30, 4)},
                                           {"t", DataType::Timestamp(6)}},
                                          {"k"})};
  spec.properties = {{"table.log.format", log_formats[data[0] % 3]},
                     {"table.kv.format", data[0] % 2 == 0 ? "compacted" : "indexed"}};
  const auto table = kv::testing::MakeTable(spec);
  const ByteView batch(data + 1, size - 1);
  const auto header = format::DecodeLogBatchHeader(batch);
  if (!header.ok()) return 0;
  kv::ChangelogReplay replay(table);
  const auto entries = replay.Read(*header, batch);
  if (!entries.ok()) return 0;
  for (const kv::ReplayedEntry& entry : *entries) STROM_ASSERT(!entry.key.empty(), "an entry without a key");
  return 0;
}
