#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "model/config_change.h"
#include "model/schema_validation.h"
#include "model/table_descriptor.h"

namespace strom::model {

/// What the cluster gives to a table that leaves it open, and what it allows.
struct CreateDefaults {
  int32_t bucket_count = 1;                    // default.bucket.number
  int32_t replication_factor = 1;              // default.replication.factor
  int32_t live_servers = 1;                    // tablet servers that could hold a replica
  int32_t buckets_max = 4096;                  // max.bucket.num
  bool allow_log_tables = true;                // allow.create.log.tables
  bool allow_kv_tables = true;                 // allow.create.kv.tables
  std::optional<std::string> datalake_format;  // upper case; nothing: the cluster has no lake
};

/// The table as it is stored: defaults filled in, ids assigned, key columns NOT NULL, every rule of spec/server.md 5.1 and 14.1 checked.
/// Errors: kInvalidTable, kInvalidConfig, kBucketMaxNum, kInvalidReplicationFactor, kLakeStorageNotConfigured. Tables with a primary key
/// pass. Names of database and table are the caller's to check (ValidateName).
Result<TableDescriptor> PrepareNewTable(TableDescriptor table, const CreateDefaults& defaults);

/// The table with changed properties: keys that start with "table." are table options, of which only some may change; others are
/// custom properties, which always may. Errors: kInvalidAlterTable, kInvalidConfig and those of creation.
/// Source: spec/server.md 5.2, 14.1.
Result<TableDescriptor> AlterProperties(const TableDescriptor& table, std::span<const PropertyChange> changes);

/// The table with more columns at its end. Errors: kInvalidAlterTable, kInvalidConfig (aggregate functions).
Result<TableDescriptor> AlterSchema(const TableDescriptor& table, std::span<const AddColumn> columns);

/// The kinds of changes of one AlterTable request.
struct AlterShape {
  size_t property_changes = 0;
  size_t added_columns = 0;
  size_t dropped_columns = 0;
  size_t renamed_columns = 0;
  size_t modified_columns = 0;
  bool changes_bucket_count = false;
};
/// kInvalidAlterTable for a mix of property and schema changes and for what cannot be altered.
Status CheckAlterShape(const AlterShape& shape);

/// The database with changed custom properties and, when given, another comment. kInvalidDatabase. Source: spec/wire-protocol.md 6.2.
Result<DatabaseDescriptor> AlterDatabase(const DatabaseDescriptor& database, std::span<const PropertyChange> changes,
                                         const std::optional<std::string>& comment);

}  // namespace strom::model
