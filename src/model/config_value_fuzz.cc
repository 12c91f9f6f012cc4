// covers: src/model/config_value.cc
#include "model/auto_partition.h"
#include "model/config_value.h"
#include "model/configuration.h"

using namespace strom::model;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto ms = ParseDurationMs(text); ms.ok())
    STROM_ASSERT(*ParseDurationMs(FormatDuration(*ms)) == *ms, "{} ms", *ms);
  if (const auto bytes = ParseMemorySize(text); bytes.ok())
    STROM_ASSERT(*ParseMemorySize(FormatMemorySize(*bytes)) == *bytes, "{} b", *bytes);
  (void)ParseBoolValue(text).ok();
  (void)ParseIntValue(text).ok();
  (void)ParseListValue(text).ok();
  (void)ParseMapValue(text).ok();
  (void)ParseDoubleValue(text).ok();
  (void)TimeZone::Find(text, "/nowhere").ok();
  (void)ValidateTimeFormat(text, PartitionTimeUnit::kDay).ok();
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return 0;
  Configuration configuration;
  if (configuration.Set(text.substr(0, equals), text.substr(equals + 1)).ok()) (void)configuration.Warnings();
  return 0;
}
