#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/ids.h"
#include "model/table_bucket.h"
#include "model/table_path.h"

/// Names of the directories and files that tables have, on local disks and in remote storage.
/// Source: spec/formats.md 10.1, 11, 14.1; spec/server.md 8.1. Paths have no '/' at their end.
namespace strom::model {

/// "my-table-150001"
std::string TableDirectoryName(std::string_view table, TableId id);
/// "eu$2024-01-01-p3"
std::string PartitionDirectoryName(std::string_view partition_name, PartitionId id);

struct ParsedTableDirectory {
  std::string table;
  TableId id;
};
struct ParsedPartitionDirectory {
  std::string partition_name;
  PartitionId id;
};
/// Read from the last '-', since names may hold one. Nothing when the name is not of that form.
std::optional<ParsedTableDirectory> ParseTableDirectoryName(std::string_view name);
std::optional<ParsedPartitionDirectory> ParsePartitionDirectoryName(std::string_view name);
/// The bucket of "log-7" (prefix "log-") or "kv-7".
std::optional<BucketId> ParseBucketDirectoryName(std::string_view name, std::string_view prefix);

/// "db/my-table-150001" or "db/my-table-150001/eu-p3": the table or partition below a data directory.
std::string PhysicalTableDirectory(const PhysicalTablePath& path, const TableBucket& bucket);
/// Below a data directory: ".../log-7" and ".../kv-7".
std::string LogTabletDirectory(std::string_view data_dir, const PhysicalTablePath& path, const TableBucket& bucket);
std::string KvTabletDirectory(std::string_view data_dir, const PhysicalTablePath& path, const TableBucket& bucket);

/// "00000000000000123456.index"; the suffix begins with a dot.
std::string OffsetFileName(LogOffset offset, std::string_view suffix);
/// The offset of such a name, nothing when it is another one.
std::optional<LogOffset> ParseOffsetFileName(std::string_view name, std::string_view suffix);

inline constexpr std::string_view kSegmentSuffix = ".log";
inline constexpr std::string_view kOffsetIndexSuffix = ".index";
inline constexpr std::string_view kTimeIndexSuffix = ".timeindex";
inline constexpr std::string_view kWriterSnapshotSuffix = ".writer_snapshot";

/// Below a remote data directory.
std::string RemoteLogDirectory(std::string_view remote_dir);
std::string RemoteKvDirectory(std::string_view remote_dir);
std::string RemoteLogTabletDirectory(std::string_view remote_dir, const PhysicalTablePath& path,
                                     const TableBucket& bucket);
std::string RemoteKvTabletDirectory(std::string_view remote_dir, const PhysicalTablePath& path,
                                    const TableBucket& bucket);
std::string RemoteLakeTableDirectory(std::string_view remote_dir, const TablePath& path, TableId id);
std::string RemoteProducerOffsetsFile(std::string_view remote_dir, std::string_view producer, TableId id,
                                      std::string_view uuid);
std::string RemoteLogManifestFile(std::string_view log_tablet_dir, std::string_view uuid);
std::string RemoteKvSnapshotDirectory(std::string_view kv_tablet_dir, int64_t snapshot_id);
std::string RemoteKvSharedDirectory(std::string_view kv_tablet_dir);

}  // namespace strom::model
