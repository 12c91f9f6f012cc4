#include "meta/paths.h"

#include <fmt/format.h>

namespace strom::meta::paths {

std::string Database(std::string_view name) { return fmt::format("{}/{}", kDatabases, name); }

std::string Table(const model::TablePath& path) { return fmt::format("{}/tables/{}", Database(path.database), path.table); }

std::string TableSchema(const model::TablePath& path, SchemaId id) { return fmt::format("{}/schemas/{}", Table(path), id); }

std::string Partition(const model::TablePath& path, std::string_view partition) {
  return fmt::format("{}/partitions/{}", Table(path), partition);
}

std::string CoordinatorId(std::string_view uuid) { return fmt::format("{}/{}", kCoordinatorIds, uuid); }

std::string TabletServer(ServerId id) { return fmt::format("{}/{}", kTabletServerIds, id); }

std::string Assignment(TableId table, std::optional<PartitionId> partition) {
  return partition ? fmt::format("{}/{}", kPartitionAssignments, *partition) : fmt::format("{}/{}", kTableAssignments, table);
}

std::string LeaderAndIsr(const model::TableBucket& bucket) {
  return fmt::format("{}/buckets/{}/leader_isr", Assignment(bucket.table_id, bucket.partition_id), bucket.bucket);
}

std::vector<std::string_view> Split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    path.remove_prefix(1);
    const size_t end = path.find('/');
    parts.push_back(path.substr(0, end));
    path = end == std::string_view::npos ? std::string_view() : path.substr(end);
  }
  return parts;
}

}  // namespace strom::meta::paths
