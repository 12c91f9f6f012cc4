#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/table_descriptor.h"
#include "model/table_path.h"

namespace strom::coordinator {

/// What clients ask the coordinator to do, as plain values. Names and flags are those of the requests (spec/messages.tsv).

struct CreateDatabase {
  std::string name;
  model::DatabaseDescriptor descriptor;
  bool ignore_if_exists = false;
};

enum class ConfigOp : uint8_t { kSet = 0, kDelete = 1, kAppend = 2, kSubtract = 3 };  // CONST of PbAlterConfig.op_type

struct ConfigChange {
  std::string key;
  std::optional<std::string> value;
  ConfigOp op = ConfigOp::kSet;
};

struct AlterDatabase {
  std::string name;
  std::vector<ConfigChange> changes;
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
  std::vector<ConfigChange> changes;
  std::vector<model::Column> add_columns;  // at the end, in this order
  bool ignore_if_not_exists = false;
};

struct DropTable {
  model::TablePath path;
  bool ignore_if_not_exists = false;
};

using PartitionSpec = std::vector<std::pair<std::string, std::string>>;  // key, value; any order

struct CreatePartition {
  model::TablePath path;
  PartitionSpec spec;
  bool ignore_if_exists = false;
};

struct DropPartition {
  model::TablePath path;
  PartitionSpec spec;
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
