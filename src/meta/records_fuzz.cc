#include "meta/records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  (void)strom::meta::ParseDatabaseRecord(json);
  (void)strom::meta::ParseTableRecord(json);
  (void)strom::meta::ParsePartitionRecord(json);
  (void)strom::meta::ParseCoordinatorRecord(json);
  (void)strom::meta::ParseTabletServerRecord(json);
  (void)strom::meta::ParseAssignmentRecord(json);
  auto record = strom::meta::ParseLeaderAndIsr(json);
  if (record.ok() && !(*strom::meta::ParseLeaderAndIsr(strom::meta::ToJson(*record)) == *record)) __builtin_trap();
  (void)strom::meta::ParseConfig(json);
  (void)strom::meta::ParseEndpoints(json);
  return 0;
}
