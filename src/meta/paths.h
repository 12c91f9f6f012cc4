#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "model/table_bucket.h"
#include "model/table_path.h"

/// Paths of the metadata tree, below its root prefix. Source: spec/server.md 1.2.
namespace strom::meta::paths {

inline const std::string kDatabases = "/metadata/databases";
inline const std::string kTableCounter = "/metadata/table_seqid";
inline const std::string kPartitionCounter = "/metadata/partition_seqid";
inline const std::string kWriterCounter = "/metadata/writer_id";
inline const std::string kCoordinatorIds = "/coordinators/ids";
inline const std::string kActiveCoordinator = "/coordinators/active";
inline const std::string kCoordinatorEpoch = "/coordinators/epoch";
inline const std::string kTabletServerIds = "/tabletservers/ids";
inline const std::string kTableAssignments = "/tabletservers/tables";
inline const std::string kPartitionAssignments = "/tabletservers/partitions";
inline const std::string kServerConfig = "/config/server/global";

std::string Database(std::string_view name);
std::string Table(const model::TablePath& path);
std::string TableSchema(const model::TablePath& path, SchemaId id);
std::string Partition(const model::TablePath& path, std::string_view partition);
std::string CoordinatorId(std::string_view uuid);
std::string TabletServer(ServerId id);
/// The node of a table's assignment; of a partition's when there is one.
std::string Assignment(TableId table, std::optional<PartitionId> partition);
std::string LeaderAndIsr(const model::TableBucket& bucket);

/// The parts of a path: "/a/b" is {"a", "b"}. No checks.
std::vector<std::string_view> Split(std::string_view path);

}  // namespace strom::meta::paths
