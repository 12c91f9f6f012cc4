#include "meta/records.h"

#include <charconv>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/json_node.h"
#include "model/json_writer.h"

namespace strom::meta {
namespace {

using model::JsonNode;
using model::JsonWriter;

constexpr ErrorCode kBad = ErrorCode::kCorruptData;
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr int32_t kInt32Max = std::numeric_limits<int32_t>::max();

Result<int64_t> Int64(const JsonNode& node, std::string_view key) {
  STROM_ASSIGN(const JsonNode member, node.Required(key));
  return member.Int(0, kInt64Max);
}

Result<model::Properties> StringMap(const JsonNode& node, std::string_view key) {
  STROM_ASSIGN(const std::optional<JsonNode> member, node.Optional(key));
  if (!member) return model::Properties();
  return member->StringMap();
}

Result<std::vector<std::string>> OptionalStrings(const JsonNode& node, std::string_view key) {
  STROM_ASSIGN(const std::optional<JsonNode> member, node.Optional(key));
  if (!member) return std::vector<std::string>();
  return member->Strings();
}

Result<std::vector<ServerId>> Servers(const JsonNode& array) {
  std::vector<ServerId> servers;
  STROM_TRY(array.ForEach([&servers](const JsonNode& each) -> Status {
    STROM_ASSIGN(const int64_t id, each.Int(0, kInt32Max));
    servers.emplace_back(static_cast<int32_t>(id));
    return Status::OK();
  }));
  return servers;
}

void WriteServers(JsonWriter& json, const std::vector<ServerId>& servers) {
  json.BeginArray();
  for (ServerId server : servers) json.Int(server.value());
  json.EndArray();
}

void WriteOptional(JsonWriter& json, std::string_view key, const std::optional<std::string>& value) {
  if (value) json.Key(key).String(*value);
}

/// The listeners of a server record, also of the older versions that have one host and port, for `old_listener`.
Result<std::vector<Endpoint>> Listeners(const JsonNode& root, std::string_view old_listener) {
  STROM_ASSIGN(const std::optional<std::string> listeners, root.OptionalString("listeners"));
  if (listeners) return ParseEndpoints(*listeners);
  STROM_ASSIGN(std::string host, root.RequiredString("host"));
  STROM_ASSIGN(const int32_t port, root.RequiredInt32("port", 0, 65535));
  return std::vector<Endpoint>{{std::string(old_listener), std::move(host), port}};
}

}  // namespace

std::string ToJson(const DatabaseRecord& record) {
  JsonWriter json;
  json.BeginObject().Key("version").Int(1);
  WriteOptional(json, "comment", record.descriptor.comment);
  json.Key("custom_properties").Strings(record.descriptor.custom_properties);
  json.Key("created_time").Int(record.created_time.value());
  json.Key("modified_time").Int(record.modified_time.value()).EndObject();
  return json.Take();
}

Result<DatabaseRecord> ParseDatabaseRecord(std::string_view json) {
  STROM_ASSIGN(const auto document, model::ParseJson(json, kBad));
  const JsonNode root(*document, kBad);
  DatabaseRecord record;
  STROM_ASSIGN(record.descriptor.comment, root.OptionalString("comment"));
  STROM_ASSIGN(record.descriptor.custom_properties, StringMap(root, "custom_properties"));
  STROM_ASSIGN(const int64_t created, Int64(root, "created_time"));
  STROM_ASSIGN(const int64_t modified, Int64(root, "modified_time"));
  record.created_time = TimestampMs(created);
  record.modified_time = TimestampMs(modified);
  return record;
}

TableRecord TableRecord::Of(const model::TableInfo& info) {
  TableRecord record;
  record.table_id = info.table_id;
  record.comment = info.descriptor.comment;
  record.partition_keys = info.descriptor.partition_keys;
  record.bucket_keys = info.descriptor.bucket_keys;
  record.bucket_count = info.bucket_count();
  record.properties = info.descriptor.properties;
  record.custom_properties = info.descriptor.custom_properties;
  if (!info.remote_data_dir.empty()) record.remote_data_dir = info.remote_data_dir;
  record.created_time = info.created_time;
  record.modified_time = info.modified_time;
  return record;
}

std::string ToJson(const TableRecord& record) {
  JsonWriter json;
  json.BeginObject().Key("version").Int(1).Key("table_id").Int(record.table_id.value());
  WriteOptional(json, "comment", record.comment);
  if (!record.partition_keys.empty()) json.Key("partition_key").Strings(record.partition_keys);
  if (!record.bucket_keys.empty()) json.Key("bucket_key").Strings(record.bucket_keys);
  json.Key("bucket_count").Int(record.bucket_count);
  json.Key("properties").Strings(record.properties);
  json.Key("custom_properties").Strings(record.custom_properties);
  WriteOptional(json, "remote_data_dir", record.remote_data_dir);
  json.Key("created_time").Int(record.created_time.value());
  json.Key("modified_time").Int(record.modified_time.value()).EndObject();
  return json.Take();
}

Result<TableRecord> ParseTableRecord(std::string_view json) {
  STROM_ASSIGN(const auto document, model::ParseJson(json, kBad));
  const JsonNode root(*document, kBad);
  TableRecord record;
  STROM_ASSIGN(const int64_t id, Int64(root, "table_id"));
  record.table_id = TableId(id);
  STROM_ASSIGN(record.comment, root.OptionalString("comment"));
  STROM_ASSIGN(record.partition_keys, OptionalStrings(root, "partition_key"));
  STROM_ASSIGN(record.bucket_keys, OptionalStrings(root, "bucket_key"));
  STROM_ASSIGN(record.bucket_count, root.RequiredInt32("bucket_count", 1, kInt32Max));
  STROM_ASSIGN(record.properties, StringMap(root, "properties"));
  STROM_ASSIGN(record.custom_properties, StringMap(root, "custom_properties"));
  STROM_ASSIGN(record.remote_data_dir, root.OptionalString("remote_data_dir"));
  STROM_ASSIGN(const int64_t created, Int64(root, "created_time"));
  STROM_ASSIGN(const int64_t modified, Int64(root, "modified_time"));
  record.created_time = TimestampMs(created);
  record.modified_time = TimestampMs(modified);
  return record;
}

std::string ToJson(const PartitionRecord& record) {
  JsonWriter json;
  json.BeginObject().Key("version").Int(1).Key("table_id").Int(record.table_id.value());
  json.Key("partition_id").Int(record.partition_id.value());
  WriteOptional(json, "remote_data_dir", record.remote_data_dir);
  json.EndObject();
  return json.Take();
}

Result<PartitionRecord> ParsePartitionRecord(std::string_view json) {
  STROM_ASSIGN(const auto document, model::ParseJson(json, kBad));
  const JsonNode root(*document, kBad);
  PartitionRecord record;
  STROM_ASSIGN(const int64_t table, Int64(root, "table_id"));
  STROM_ASSIGN(const int64_t partition, Int64(root, "partition_id"));
  record.table_id = TableId(table);
  record.partition_id = PartitionId(partition);
  STROM_ASSIGN(record.remote_data_dir, root.OptionalString("remote_data_dir"));
  return record;
}

std::string ToJson(const CoordinatorRecord& record) {
  JsonWriter json;
  json.BeginObject().Key("version").Int(2).Key("id").String(record.id);
  json.Key("listeners").String(FormatEndpoints(record.endpoints)).EndObject();
  return json.Take();
}

Result<CoordinatorRecord> ParseCoordinatorRecord(std::string_view json) {
  STROM_ASSIGN(const auto document, model::ParseJson(json, kBad));
  const JsonNode root(*document, kBad);
  CoordinatorRecord record;
  STROM_ASSIGN(record.id, root.RequiredString("id"));
  STROM_ASSIGN(record.endpoints, Listeners(root, "CLIENT"));
  return record;
}

std::string ToJson(const TabletServerRecord& record) {
  JsonWriter json;
  json.BeginObject().Key("version").Int(4).Key("listeners").String(FormatEndpoints(record.endpoints));
  json.Key("register_timestamp").Int(record.register_timestamp.value());
  WriteOptional(json, "rack", record.rack);
  json.EndObject();
  return json.Take();
}

Result<TabletServerRecord> ParseTabletServerRecord(std::string_view json) {
  STROM_ASSIGN(const auto document, model::ParseJson(json, kBad));
  const JsonNode root(*document, kBad);
  TabletServerRecord record;
  STROM_ASSIGN(record.endpoints, Listeners(root, "FLUSS"));
  STROM_ASSIGN(const int64_t registered, Int64(root, "register_timestamp"));
  record.register_timestamp = TimestampMs(registered);
  STROM_ASSIGN(record.rack, root.OptionalString("rack"));
  return record;
}

std::string ToJson(const AssignmentRecord& record) {
  JsonWriter json;
  json.BeginObject().Key("version").Int(1);
  if (record.table_id) json.Key("table_id").Int(record.table_id->value());
  json.Key("buckets").BeginObject();
  for (size_t bucket = 0; bucket < record.replicas.size(); ++bucket) {
    json.Key(std::to_string(bucket));
    WriteServers(json, record.replicas[bucket]);
  }
  json.EndObject().EndObject();
  return json.Take();
}

Result<AssignmentRecord> ParseAssignmentRecord(std::string_view json) {
  STROM_ASSIGN(const auto document, model::ParseJson(json, kBad));
  const JsonNode root(*document, kBad);
  AssignmentRecord record;
  STROM_ASSIGN(const std::optional<JsonNode> table, root.Optional("table_id"));
  if (table) {
    STROM_ASSIGN(const int64_t id, table->Int(0, kInt64Max));
    record.table_id = TableId(id);
  }
  STROM_ASSIGN(const JsonNode buckets, root.Required("buckets"));
  const auto member = document->find("buckets");
  if (!member->is_object()) return buckets.Wrong("is no object");
  for (size_t bucket = 0; bucket < member->size(); ++bucket) {
    // Bucket ids are dense, so a missing one means that another key is none.
    STROM_ASSIGN(const JsonNode replicas, buckets.Required(std::to_string(bucket)));
    STROM_ASSIGN(std::vector<ServerId> servers, Servers(replicas));
    if (servers.empty()) return replicas.Wrong("has no replica");
    record.replicas.push_back(std::move(servers));
  }
  return record;
}

std::string ToJson(const model::LeaderAndIsr& record) {
  JsonWriter json;
  json.BeginObject().Key("version").Int(2).Key("leader").Int(record.leader.value());
  json.Key("leader_epoch").Int(record.leader_epoch.value()).Key("isr");
  WriteServers(json, record.isr);
  json.Key("coordinator_epoch").Int(record.coordinator_epoch.value());
  json.Key("bucket_epoch").Int(record.bucket_epoch.value()).Key("standby_replicas");
  WriteServers(json, record.standby_replicas);
  json.EndObject();
  return json.Take();
}

Result<model::LeaderAndIsr> ParseLeaderAndIsr(std::string_view json) {
  STROM_ASSIGN(const auto document, model::ParseJson(json, kBad));
  const JsonNode root(*document, kBad);
  model::LeaderAndIsr record;
  STROM_ASSIGN(const int32_t leader, root.RequiredInt32("leader", -1, kInt32Max));
  STROM_ASSIGN(const int32_t leader_epoch, root.RequiredInt32("leader_epoch", 0, kInt32Max));
  STROM_ASSIGN(const int32_t coordinator_epoch, root.RequiredInt32("coordinator_epoch", 0, kInt32Max));
  STROM_ASSIGN(const int32_t bucket_epoch, root.RequiredInt32("bucket_epoch", 0, kInt32Max));
  record.leader = ServerId(leader);
  record.leader_epoch = LeaderEpoch(leader_epoch);
  record.coordinator_epoch = CoordinatorEpoch(coordinator_epoch);
  record.bucket_epoch = BucketEpoch(bucket_epoch);
  STROM_ASSIGN(const JsonNode isr, root.Required("isr"));
  STROM_ASSIGN(record.isr, Servers(isr));
  STROM_ASSIGN(const std::optional<JsonNode> standby, root.Optional("standby_replicas"));
  if (standby) {
    STROM_ASSIGN(record.standby_replicas, Servers(*standby));
  }
  return record;
}

std::string ConfigToJson(const ConfigMap& config) {
  JsonWriter json;
  json.BeginObject().Key("version").Int(1).Key("configs").BeginObject();
  for (const auto& [key, value] : config) {
    json.Key(key);
    if (value) {
      json.String(*value);
    } else {
      json.Null();
    }
  }
  json.EndObject().EndObject();
  return json.Take();
}

Result<ConfigMap> ParseConfig(std::string_view json) {
  STROM_ASSIGN(const auto document, model::ParseJson(json, kBad));
  const JsonNode root(*document, kBad);
  STROM_ASSIGN(const JsonNode configs, root.Required("configs"));
  const auto member = document->find("configs");
  if (!member->is_object()) return configs.Wrong("is no object");
  ConfigMap config;
  for (const auto& [key, value] : member->items()) {
    STROM_ASSIGN(config[key], configs.OptionalString(key));
  }
  return config;
}

std::string FormatEndpoints(const std::vector<Endpoint>& endpoints) {
  std::string text;
  for (const Endpoint& each : endpoints) {
    const bool v6 = each.host.find(':') != std::string::npos;
    text += fmt::format("{}{}://{}{}{}:{}", text.empty() ? "" : ",", each.listener, v6 ? "[" : "", each.host, v6 ? "]" : "",
                        each.port);
  }
  return text;
}

Result<std::vector<Endpoint>> ParseEndpoints(std::string_view text) {
  std::vector<Endpoint> endpoints;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const size_t scheme = one.find("://");
    const size_t colon = one.rfind(':');
    if (scheme == std::string_view::npos || colon <= scheme + 1) {
      return MakeError(kBad, "the listener '{}' is not NAME://host:port", one);
    }
    std::string_view host = one.substr(scheme + 3, colon - scheme - 3);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    int32_t port = -1;
    const std::string_view digits = one.substr(colon + 1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || port < 0 || port > 65535) {
      return MakeError(kBad, "the listener '{}' has no port between 0 and 65535", one);
    }
    endpoints.push_back({std::string(one.substr(0, scheme)), std::string(host), port});
  }
  return endpoints;
}

}  // namespace strom::meta
