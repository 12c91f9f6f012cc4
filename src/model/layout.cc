#include "model/layout.h"

#include <fmt/format.h>

#include <charconv>

namespace strom::model {

namespace {

/// A whole decimal number without sign; nothing when there is anything else or it does not fit.
template <typename T>
std::optional<T> WholeNumber(std::string_view text) {
  T number{};
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string TableDirectoryName(std::string_view table, TableId id) { return fmt::format("{}-{}", table, id); }

std::string PartitionDirectoryName(std::string_view partition_name, PartitionId id) {
  return fmt::format("{}-p{}", partition_name, id);
}

std::optional<ParsedTableDirectory> ParseTableDirectoryName(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const auto id = WholeNumber<int64_t>(name.substr(dash + 1));
  if (!id) return std::nullopt;
  return ParsedTableDirectory{std::string(name.substr(0, dash)), TableId(*id)};
}

std::optional<ParsedPartitionDirectory> ParsePartitionDirectoryName(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || name.substr(dash + 1, 1) != "p") return std::nullopt;
  const auto id = WholeNumber<int64_t>(name.substr(dash + 2));
  if (!id) return std::nullopt;
  return ParsedPartitionDirectory{std::string(name.substr(0, dash)), PartitionId(*id)};
}

std::optional<BucketId> ParseBucketDirectoryName(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto id = WholeNumber<int32_t>(name.substr(prefix.size()));
  if (!id) return std::nullopt;
  return BucketId(*id);
}

std::string PhysicalTableDirectory(const PhysicalTablePath& path, const TableBucket& bucket) {
  std::string directory =
      fmt::format("{}/{}", path.table_path.database, TableDirectoryName(path.table_path.table, bucket.table_id));
  if (path.partition_name && bucket.partition_id) {
    directory += "/" + PartitionDirectoryName(*path.partition_name, *bucket.partition_id);
  }
  return directory;
}

std::string LogTabletDirectory(std::string_view data_dir, const PhysicalTablePath& path, const TableBucket& bucket) {
  return fmt::format("{}/{}/log-{}", data_dir, PhysicalTableDirectory(path, bucket), bucket.bucket);
}

std::string KvTabletDirectory(std::string_view data_dir, const PhysicalTablePath& path, const TableBucket& bucket) {
  return fmt::format("{}/{}/kv-{}", data_dir, PhysicalTableDirectory(path, bucket), bucket.bucket);
}

std::string OffsetFileName(LogOffset offset, std::string_view suffix) {
  return fmt::format("{:020}{}", offset.value(), suffix);
}

std::optional<LogOffset> ParseOffsetFileName(std::string_view name, std::string_view suffix) {
  constexpr size_t kDigits = 20;
  if (name.size() != kDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  const auto offset = WholeNumber<int64_t>(name.substr(0, kDigits));
  if (!offset) return std::nullopt;
  return LogOffset(*offset);
}

std::string RemoteLogDirectory(std::string_view remote_dir) { return fmt::format("{}/log", remote_dir); }
std::string RemoteKvDirectory(std::string_view remote_dir) { return fmt::format("{}/kv", remote_dir); }

std::string RemoteLogTabletDirectory(std::string_view remote_dir, const PhysicalTablePath& path,
                                     const TableBucket& bucket) {
  return fmt::format("{}/{}/{}", RemoteLogDirectory(remote_dir), PhysicalTableDirectory(path, bucket), bucket.bucket);
}

std::string RemoteKvTabletDirectory(std::string_view remote_dir, const PhysicalTablePath& path,
                                    const TableBucket& bucket) {
  return fmt::format("{}/{}/{}", RemoteKvDirectory(remote_dir), PhysicalTableDirectory(path, bucket), bucket.bucket);
}

std::string RemoteLakeTableDirectory(std::string_view remote_dir, const TablePath& path, TableId id) {
  return fmt::format("{}/lake/{}/{}", remote_dir, path.database, TableDirectoryName(path.table, id));
}

std::string RemoteProducerOffsetsFile(std::string_view remote_dir, std::string_view producer, TableId id,
                                      std::string_view uuid) {
  return fmt::format("{}/producers/{}/{}/{}.offsets", remote_dir, producer, id, uuid);
}

std::string RemoteLogManifestFile(std::string_view log_tablet_dir, std::string_view uuid) {
  return fmt::format("{}/metadata/{}.manifest", log_tablet_dir, uuid);
}

std::string RemoteKvSnapshotDirectory(std::string_view kv_tablet_dir, int64_t snapshot_id) {
  return fmt::format("{}/snap-{}", kv_tablet_dir, snapshot_id);
}

std::string RemoteKvSharedDirectory(std::string_view kv_tablet_dir) { return fmt::format("{}/shared", kv_tablet_dir); }

}  // namespace strom::model
