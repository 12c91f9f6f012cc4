#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meta/catalog.h"
#include "model/leader_and_isr.h"
#include "model/table_descriptor.h"

namespace strom::meta {

/// The JSON that stands in the nodes of the tree, byte for byte what the reference writes; reading takes older versions, too, and ignores keys
/// that it does not know. Errors are kCorruptData and name the place in the document. Source: spec/server.md 1.3.

struct DatabaseRecord {
  model::DatabaseDescriptor descriptor;
  TimestampMs created_time;
  TimestampMs modified_time;
};
std::string ToJson(const DatabaseRecord& record);
Result<DatabaseRecord> ParseDatabaseRecord(std::string_view json);

/// A table without its schema, which has nodes of its own.
struct TableRecord {
  TableId table_id;
  std::optional<std::string> comment;
  std::vector<std::string> partition_keys;
  std::vector<std::string> bucket_keys;
  int32_t bucket_count = 1;
  model::Properties properties;
  model::Properties custom_properties;
  std::optional<std::string> remote_data_dir;
  TimestampMs created_time;
  TimestampMs modified_time;

  static TableRecord Of(const model::TableInfo& info);
};
std::string ToJson(const TableRecord& record);
Result<TableRecord> ParseTableRecord(std::string_view json);

struct PartitionRecord {
  TableId table_id;
  PartitionId partition_id;
  std::optional<std::string> remote_data_dir;
};
std::string ToJson(const PartitionRecord& record);
Result<PartitionRecord> ParsePartitionRecord(std::string_view json);

struct CoordinatorRecord {
  std::string id;
  std::vector<Endpoint> endpoints;
};
std::string ToJson(const CoordinatorRecord& record);
Result<CoordinatorRecord> ParseCoordinatorRecord(std::string_view json);

struct TabletServerRecord {
  std::vector<Endpoint> endpoints;
  TimestampMs register_timestamp;
  std::optional<std::string> rack;
};
std::string ToJson(const TabletServerRecord& record);
Result<TabletServerRecord> ParseTabletServerRecord(std::string_view json);

/// Replicas of each bucket in order of preference; index = bucket id.
struct AssignmentRecord {
  std::optional<TableId> table_id;  // of a partition's assignment: whose partition it is
  std::vector<std::vector<ServerId>> replicas;
};
std::string ToJson(const AssignmentRecord& record);
Result<AssignmentRecord> ParseAssignmentRecord(std::string_view json);

std::string ToJson(const model::LeaderAndIsr& record);
Result<model::LeaderAndIsr> ParseLeaderAndIsr(std::string_view json);

/// Dynamic configuration; null hides the value of the file.
using ConfigMap = std::map<std::string, std::optional<std::string>>;
std::string ConfigToJson(const ConfigMap& config);
Result<ConfigMap> ParseConfig(std::string_view json);

/// "NAME://host:port,NAME2://host:port"; a host with colons stands in brackets.
std::string FormatEndpoints(const std::vector<Endpoint>& endpoints);
Result<std::vector<Endpoint>> ParseEndpoints(std::string_view text);

}  // namespace strom::meta
