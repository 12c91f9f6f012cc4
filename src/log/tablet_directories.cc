#include "log/tablet_directories.h"

#include <map>

#include "model/layout.h"

namespace strom::log {

namespace {

/// Directories of a data directory that hold no database.
bool IsReserved(const std::string& name) { return name.starts_with(".") || name == "remote-log-index-cache"; }

class Finder {
 public:
  explicit Finder(rt::FileSystem& files) : files_(files) {}

  Status Database(const std::string& directory, const std::string& database) {
    STROM_ASSIGN(const std::vector<rt::DirectoryEntry> tables, files_.List(directory));
    for (const rt::DirectoryEntry& table : tables) {
      const std::string path = directory + "/" + table.name;
      if (!table.is_directory) continue;
      const auto parsed = model::ParseTableDirectoryName(table.name);
      if (!parsed) {
        content_.ignored.push_back(path);
        continue;
      }
      STROM_TRY(Table(path, {{database, parsed->table}, std::nullopt}, parsed->id));
    }
    return Status::OK();
  }

  DataDirectoryContent Take() { return std::move(content_); }

 private:
  Status Table(const std::string& directory, const model::PhysicalTablePath& table, TableId id) {
    STROM_TRY(Buckets(directory, table, id, std::nullopt));
    STROM_ASSIGN(const std::vector<rt::DirectoryEntry> entries, files_.List(directory));
    for (const rt::DirectoryEntry& entry : entries) {
      if (!entry.is_directory || IsBucket(entry.name)) continue;
      const std::string path = directory + "/" + entry.name;
      const auto parsed = model::ParsePartitionDirectoryName(entry.name);
      if (!parsed) {
        content_.ignored.push_back(path);
        continue;
      }
      STROM_TRY(Buckets(path, {table.table_path, parsed->partition_name}, id, parsed->id));
    }
    return Status::OK();
  }

  static bool IsBucket(const std::string& name) {
    return model::ParseBucketDirectoryName(name, "log-") || model::ParseBucketDirectoryName(name, "kv-");
  }

  Status Buckets(const std::string& directory, const model::PhysicalTablePath& path, TableId table, std::optional<PartitionId> partition) {
    STROM_ASSIGN(const std::vector<rt::DirectoryEntry> entries, files_.List(directory));
    std::map<BucketId, BucketDirectory> found;
    for (const rt::DirectoryEntry& entry : entries) {
      if (!entry.is_directory) continue;
      const auto log = model::ParseBucketDirectoryName(entry.name, "log-");
      const auto kv = model::ParseBucketDirectoryName(entry.name, "kv-");
      if (!log && !kv) {
        // Below a table it may be a partition; below a partition it is nothing.
        if (partition) content_.ignored.push_back(directory + "/" + entry.name);
        continue;
      }
      const BucketId id = log ? *log : *kv;
      BucketDirectory& bucket = found[id];
      bucket.path = path;
      bucket.bucket = {table, partition, id};
      bucket.log_directory = fmt::format("{}/log-{}", directory, id);
      (log ? bucket.has_log : bucket.has_kv) = true;
    }
    for (auto& [id, bucket] : found) content_.buckets.push_back(std::move(bucket));
    return Status::OK();
  }

  rt::FileSystem& files_;
  DataDirectoryContent content_;
};

}  // namespace

Result<DataDirectoryContent> FindBucketDirectories(rt::FileSystem& files, const std::string& data_dir) {
  STROM_ASSIGN(const std::vector<rt::DirectoryEntry> databases, files.List(data_dir));
  Finder finder(files);
  for (const rt::DirectoryEntry& database : databases) {
    if (!database.is_directory || IsReserved(database.name)) continue;
    STROM_TRY(finder.Database(data_dir + "/" + database.name, database.name));
  }
  return finder.Take();
}

Result<bool> TakeCleanMark(rt::FileSystem& files, const std::string& data_dir) {
  const Status removed = files.Remove(data_dir + "/" + kCleanShutdownMark);
  if (removed.code() == ErrorCode::kNotFound) return false;
  STROM_TRY(removed);
  STROM_TRY(files.SyncDirectory(data_dir));
  return true;
}

Status WriteCleanMark(rt::FileSystem& files, const std::string& data_dir) {
  STROM_ASSIGN(const std::shared_ptr<rt::File> mark, files.Open(data_dir + "/" + kCleanShutdownMark, {.write = true, .create = true}));
  STROM_TRY(mark->Sync());
  return files.SyncDirectory(data_dir);
}

}  // namespace strom::log
