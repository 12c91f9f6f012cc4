#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/table_bucket.h"
#include "model/table_path.h"
#include "rt/file.h"

namespace strom::log {

/// One bucket's directories below a data directory (spec/server.md 8.1), by their names alone.
struct BucketDirectory {
  model::PhysicalTablePath path;
  model::TableBucket bucket;
  std::string log_directory;
  bool has_log = false;
  bool has_kv = false;  // a `kv-<bucket>` stands beside
};

struct DataDirectoryContent {
  std::vector<BucketDirectory> buckets;  // in the order of their names
  std::vector<std::string> ignored;      // directories that are no table, partition or bucket
};

/// Lists three or four levels of names; opens no file.
Result<DataDirectoryContent> FindBucketDirectories(rt::FileSystem& files, const std::string& data_dir);

/// The empty file that says that every log of the data directory was closed (spec/formats.md 10.1).
inline constexpr const char* kCleanShutdownMark = ".fluss_cleanshutdown";

/// True when the mark is there. It is removed, and its removal durable, before this answers: nothing may be written while it could come back.
Result<bool> TakeCleanMark(rt::FileSystem& files, const std::string& data_dir);
/// After all logs are closed and the recovery points written. Durable.
Status WriteCleanMark(rt::FileSystem& files, const std::string& data_dir);

}  // namespace strom::log
