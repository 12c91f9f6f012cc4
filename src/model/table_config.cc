#include "model/config_value.h"
#include "model/names.h"
#include "model/table_descriptor.h"

namespace strom::model {

namespace {

/// Reads one property with one of the value parsers; the error gets the key.
template <typename T, typename Parse>
Status Read(const Properties& properties, const std::string& key, T* target, Parse parse) {
  const auto found = properties.find(key);
  if (found == properties.end()) return Status::OK();
  auto value = parse(found->second);
  if (!value.ok()) return MakeError(ErrorCode::kInvalidConfig, "the option '{}': {}", key, value.error().message);
  *target = std::move(value).value();
  return Status::OK();
}

template <typename T>
using Choices = std::vector<std::pair<std::string_view, T>>;

template <typename T>
Result<T> Choose(const Choices<T>& choices, std::string_view text) {
  const std::string upper = UpperCase(Trimmed(text));
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == upper) return value;
    names.emplace_back(name);
  }
  return MakeError(ErrorCode::kInvalidConfig, "{} is not allowed: one of {} is expected", Shown(text), Joined(names));
}

Result<LogFormat> ParseLogFormat(std::string_view text) {
  static const Choices<LogFormat> choices = {
      {"ARROW", LogFormat::kArrow}, {"INDEXED", LogFormat::kIndexed}, {"COMPACTED", LogFormat::kCompacted}};
  return Choose(choices, text);
}

Result<ArrowCompression> ParseCompression(std::string_view text) {
  static const Choices<ArrowCompression> choices = {
      {"NONE", ArrowCompression::kNone}, {"LZ4_FRAME", ArrowCompression::kLz4Frame}, {"ZSTD", ArrowCompression::kZstd}};
  return Choose(choices, text);
}

Result<KvFormat> ParseKvFormat(std::string_view text) {
  static const Choices<KvFormat> choices = {{"COMPACTED", KvFormat::kCompacted}, {"INDEXED", KvFormat::kIndexed}};
  return Choose(choices, text);
}

Result<MergeEngine> ParseMergeEngine(std::string_view text) {
  static const Choices<MergeEngine> choices = {{"FIRST_ROW", MergeEngine::kFirstRow},
                                               {"VERSIONED", MergeEngine::kVersioned},
                                               {"AGGREGATION", MergeEngine::kAggregation}};
  return Choose(choices, text);
}

Result<DeleteBehavior> ParseDeleteBehavior(std::string_view text) {
  static const Choices<DeleteBehavior> choices = {
      {"ALLOW", DeleteBehavior::kAllow}, {"IGNORE", DeleteBehavior::kIgnore}, {"DISABLE", DeleteBehavior::kDisable}};
  return Choose(choices, text);
}

Result<ChangelogImage> ParseChangelogImage(std::string_view text) {
  static const Choices<ChangelogImage> choices = {{"FULL", ChangelogImage::kFull}, {"WAL", ChangelogImage::kWal}};
  return Choose(choices, text);
}

template <int32_t kMin, int32_t kMax>
Result<int32_t> ParseInt32(std::string_view text) {
  STROM_ASSIGN(const int64_t number, ParseIntValue(text, kMin, kMax));
  return static_cast<int32_t>(number);
}

/// What concerns tables with a primary key.
Status ReadKeyed(const Properties& properties, TableConfig* config) {
  STROM_TRY(Read(properties, "table.kv.format", &config->kv_format, ParseKvFormat));
  STROM_TRY(Read(properties, "table.kv.format-version", &config->kv_format_version, ParseInt32<1, 2>));
  STROM_TRY(Read(properties, "table.merge-engine", &config->merge_engine, ParseMergeEngine));
  if (config->merge_engine != MergeEngine::kDefault) config->delete_behavior = DeleteBehavior::kIgnore;
  if (const auto found = properties.find("table.merge-engine.versioned.ver-column"); found != properties.end()) {
    config->versioned_column = found->second;
  }
  STROM_TRY(Read(properties, "table.delete.behavior", &config->delete_behavior, ParseDeleteBehavior));
  STROM_TRY(Read(properties, "table.changelog.image", &config->changelog_image, ParseChangelogImage));
  return Read(properties, "table.auto-increment.cache-size", &config->auto_increment_cache_size,
              [](std::string_view text) { return ParseIntValue(text, 1, INT64_MAX); });
}

}  // namespace

Result<TableConfig> ParseTableConfig(const Properties& properties) {
  TableConfig config;
  STROM_TRY(Read(properties, "table.log.format", &config.log_format, ParseLogFormat));
  STROM_TRY(Read(properties, "table.log.arrow.compression.type", &config.arrow_compression, ParseCompression));
  STROM_TRY(Read(properties, "table.log.arrow.compression.zstd.level", &config.zstd_level, ParseInt32<1, 22>));
  STROM_TRY(Read(properties, "table.log.ttl", &config.log_ttl_ms, ParseDurationMs));
  config.local_log_ttl_ms = config.log_ttl_ms;
  STROM_TRY(Read(properties, "table.log.local-ttl", &config.local_log_ttl_ms, ParseDurationMs));
  STROM_TRY(Read(properties, "table.replication.factor", &config.replication_factor, ParseInt32<1, INT16_MAX>));
  STROM_TRY(Read(properties, "table.datalake.enabled", &config.datalake_enabled, ParseBoolValue));
  STROM_TRY(Read(properties, "table.auto-partition.enabled", &config.auto_partition_enabled, ParseBoolValue));
  if (const auto found = properties.find("table.statistics.columns"); found != properties.end()) {
    config.statistics_columns = found->second;
  }
  STROM_TRY(ReadKeyed(properties, &config));
  return config;
}

}  // namespace strom::model
