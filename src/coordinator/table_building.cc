#include "coordinator/table_building.h"

namespace strom::coordinator {

Result<std::shared_ptr<const model::TableInfo>> MakeTableInfo(const model::TablePath& path, const meta::TableRecord& record,
                                                              SchemaId schema_id, const model::Schema& schema,
                                                              const std::string& default_remote_dir) {
  auto info = std::make_shared<model::TableInfo>();
  info->path = path;
  info->table_id = record.table_id;
  info->schema_id = schema_id;
  info->descriptor.schema = schema;
  info->descriptor.comment = record.comment;
  info->descriptor.partition_keys = record.partition_keys;
  info->descriptor.bucket_keys = record.bucket_keys;
  info->descriptor.has_distribution = true;
  info->descriptor.bucket_count = record.bucket_count;
  info->descriptor.properties = record.properties;
  info->descriptor.custom_properties = record.custom_properties;
  STROM_ASSIGN(info->config, model::ParseTableConfig(record.properties));
  info->created_time = record.created_time;
  info->modified_time = record.modified_time;
  info->remote_data_dir = record.remote_data_dir.value_or(default_remote_dir);
  info->descriptor_json = model::ToJson(info->descriptor);
  return std::shared_ptr<const model::TableInfo>(std::move(info));
}

std::shared_ptr<const meta::SchemaEntry> MakeSchemaEntry(model::Schema schema) {
  auto entry = std::make_shared<meta::SchemaEntry>();
  entry->json = model::ToJson(schema);
  entry->schema = std::move(schema);
  return entry;
}

std::vector<std::string> PartitionValues(const std::string& name) {
  std::vector<std::string> values;
  size_t begin = 0;
  for (size_t end = name.find('$'); end != std::string::npos; end = name.find('$', begin)) {
    values.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  values.push_back(name.substr(begin));
  return values;
}

}  // namespace strom::coordinator
