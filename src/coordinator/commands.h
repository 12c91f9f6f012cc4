#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/config_change.h"
#include "model/partition.h"
#include "model/schema_validation.h"
#include "model/table_descriptor.h"
#include "model/table_path.h"

namespace strom::coordinator {

/// What clients ask the coordinator to do, as plain values. Names and flags are those of the requests (spec/messages.tsv).

struct CreateDatabase {
  std::string name;
  model::DatabaseDescriptor descriptor;
  bool ignore_if_exists = false;
};

struct AlterDatabase {
  std::string name;
  std::vector<model::PropertyChange> changes;
  std::optional<std::string> comment;
  bool ignore_if_not_exists = false;
};

struct DropDatabase {
  std::string name;
  bool ignore_if_not_exists = false;
  bool cascade = false;
};

struct CreateTable {
  model::TablePath path;
  model::TableDescriptor descriptor;
  bool ignore_if_exists = false;
};

/// Property changes or new columns, not both.
struct AlterTable {
  model::TablePath path;
  std::vector<model::PropertyChange> changes;
  std::vector<model::AddColumn> add_columns;
  bool ignore_if_not_exists = false;
};

struct DropTable {
  model::TablePath path;
  bool ignore_if_not_exists = false;
};

struct CreatePartition {
  model::TablePath path;
  model::PartitionSpec spec;
  bool ignore_if_exists = false;
};

struct DropPartition {
  model::TablePath path;
  model::PartitionSpec spec;
  bool ignore_if_not_exists = false;
};

/// Source: spec/server.md 4.11, messages.tsv GetClusterHealthResponse.
struct ClusterHealth {
  int32_t replicas = 0;
  int32_t in_sync_replicas = 0;
  int32_t leader_replicas = 0;
  int32_t active_leader_replicas = 0;
  enum class Color : int32_t { kGreen = 0, kYellow = 1, kRed = 2, kUnknown = 3 } color = Color::kGreen;
};

}  // namespace strom::coordinator
