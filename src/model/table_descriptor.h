#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/timestamp.h"
#include "model/ids.h"
#include "model/schema.h"
#include "model/table_path.h"

namespace strom::model {

using Properties = std::map<std::string, std::string>;

/// What a client asks for when it makes a table, and what it is told of one. Source: spec/json-formats.md 3.
struct TableDescriptor {
  Schema schema;
  std::optional<std::string> comment;
  std::vector<std::string> partition_keys;
  std::vector<std::string> bucket_keys;  // a log table without any: the client spreads rows
  bool has_distribution = false;         // bucket_key was in the JSON (it may be empty)
  std::optional<int32_t> bucket_count;   // nothing: the server's default
  Properties properties;                 // table.* options
  Properties custom_properties;

  bool is_partitioned() const { return !partition_keys.empty(); }
};

Result<TableDescriptor> ParseTableDescriptorJson(std::string_view json);
/// With bucket_key always, and bucket_count when it is set.
std::string ToJson(const TableDescriptor& descriptor);

/// Source: spec/json-formats.md 4.
struct DatabaseDescriptor {
  std::optional<std::string> comment;
  Properties custom_properties;
};
Result<DatabaseDescriptor> ParseDatabaseDescriptorJson(std::string_view json);
std::string ToJson(const DatabaseDescriptor& descriptor);

enum class LogFormat : uint8_t { kArrow, kIndexed, kCompacted };
enum class ArrowCompression : uint8_t { kNone, kLz4Frame, kZstd };
enum class KvFormat : uint8_t { kCompacted, kIndexed };
/// How an upsert meets the row that its key has (spec/server.md 10.3).
enum class MergeEngine : uint8_t { kDefault, kFirstRow, kVersioned, kAggregation };
enum class DeleteBehavior : uint8_t { kAllow, kIgnore, kDisable };
enum class ChangelogImage : uint8_t { kFull, kWal };

/// The options of a table that the data path asks for, parsed once. Source: spec/server.md 14.1.
struct TableConfig {
  LogFormat log_format = LogFormat::kArrow;
  ArrowCompression arrow_compression = ArrowCompression::kZstd;
  int32_t zstd_level = 3;
  int64_t log_ttl_ms = 7LL * 24 * 3600 * 1000;        // <= 0: for ever
  int64_t local_log_ttl_ms = 7LL * 24 * 3600 * 1000;  // defaults to log_ttl_ms
  int32_t replication_factor = 1;
  bool datalake_enabled = false;
  std::optional<std::string> statistics_columns;
  bool auto_partition_enabled = false;

  // Tables with a primary key.
  KvFormat kv_format = KvFormat::kCompacted;
  int32_t kv_format_version = 1;  // how keys are encoded (spec/formats.md 8.1)
  MergeEngine merge_engine = MergeEngine::kDefault;
  std::optional<std::string> versioned_column;  // of the versioned engine
  DeleteBehavior delete_behavior = DeleteBehavior::kAllow;
  ChangelogImage changelog_image = ChangelogImage::kFull;
  int64_t auto_increment_cache_size = 100'000;  // ids that a bucket reserves at once
};

/// A table as the cluster knows it. Immutable, shared between shards.
struct TableInfo {
  TablePath path;
  TableId table_id;
  SchemaId schema_id;          // of `descriptor.schema`, the latest
  TableDescriptor descriptor;  // with defaults filled in: bucket_count is set
  TableConfig config;
  TimestampMs created_time;
  TimestampMs modified_time;
  std::string remote_data_dir;
  std::string descriptor_json;  // ToJson(descriptor), made once

  int32_t bucket_count() const { return descriptor.bucket_count.value_or(1); }
  bool has_primary_key() const { return descriptor.schema.has_primary_key(); }
};

/// Parses the properties that matter to the data path; kInvalidConfig names key, value and what is allowed.
Result<TableConfig> ParseTableConfig(const Properties& properties);

}  // namespace strom::model
