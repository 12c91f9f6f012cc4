#include "meta/rocks_tree.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "base/endian.h"
#include "base/log.h"
#include "meta/lean_files.h"
#include "meta/node_record.h"

namespace strom::meta {
namespace {

constexpr std::string_view kFormatKey = "mformat";
constexpr std::string_view kSequenceKey = "msequence";
constexpr std::string_view kFormat = "1";

rocksdb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string NodeKey(std::string_view path) { return "n" + std::string(path); }
std::string EphemeralKey(std::string_view path) { return "e" + std::string(path); }

/// RocksDB's own log lines: only what an operator must act on, and into our log.
class ErrorLogger final : public rocksdb::Logger {
 public:
  ErrorLogger() : Logger(rocksdb::InfoLogLevel::ERROR_LEVEL) {}
  void Logv(const char* format, va_list arguments) override {
    char line[512];
    const int length = std::vsnprintf(line, sizeof(line), format, arguments);
    if (length <= 0) return;
    std::string_view text(line, std::min(sizeof(line) - 1, static_cast<size_t>(length)));
    while (text.ends_with('\n')) text.remove_suffix(1);
    STROM_LOG_ERROR("metadata store: {}", text);
  }
};

/// A small store that opens fast: little memory, no threads before there is work, no files that nobody reads.
rocksdb::Options StoreOptions(rocksdb::Env* env) {
  rocksdb::BlockBasedTableOptions table;
  table.checksum = rocksdb::kCRC32c;
  table.format_version = 5;
  table.block_cache = rocksdb::NewLRUCache(512 << 10, 0);
  table.block_size = 8 << 10;

  rocksdb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = 1 << 20;
  options.arena_block_size = 32 << 10;
  options.max_write_buffer_number = 2;
  options.max_background_jobs = 2;
  options.max_subcompactions = 1;
  options.max_open_files = 32;
  options.max_file_opening_threads = 1;
  options.table_cache_numshardbits = 0;
  options.max_total_wal_size = 4 << 20;
  options.target_file_size_base = 4 << 20;
  options.allow_fallocate = false;
  options.manifest_preallocation_size = 32 << 10;
  options.max_manifest_file_size = 256 << 10;
  options.skip_stats_update_on_db_open = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.enable_pipelined_write = false;
  options.allow_concurrent_memtable_write = false;
  options.info_log = std::make_shared<ErrorLogger>();
  options.keep_log_file_num = 1;
  options.env = env;
  return options;
}

Error ToError(const rocksdb::Status& status, const std::string& directory, std::string_view doing) {
  if (status.IsCorruption()) {
    return MakeError(ErrorCode::kCorruptData,
                     "the metadata store in {} is damaged ({}: {}). Nothing in it was changed; restore the directory from a copy", directory,
                     doing, status.ToString());
  }
  if (status.IsNoSpace()) return MakeError(ErrorCode::kNoSpace, "{} in {}: {}", doing, directory, status.ToString());
  return MakeError(ErrorCode::kIoError, "{} in {}: {}", doing, directory, status.ToString());
}

class RocksTreeImpl final : public RocksTree {
 public:
  explicit RocksTreeImpl(std::string directory) : directory_(std::move(directory)) {}

  Status OpenDatabase(OpenAs as) {
    files_ = std::make_shared<LeanFiles>(as == OpenAs::kNew, directory_);
    env_ = rocksdb::NewCompositeEnv(files_);
    rocksdb::DB* db = nullptr;
    rocksdb::Status opened = rocksdb::DB::Open(StoreOptions(env_.get()), directory_, &db);
    if (!opened.ok()) return ToError(opened, directory_, "open");
    db_.reset(db);
    if (as != OpenAs::kUnchecked) return Status::OK();
    rocksdb::Status checked = db_->VerifyChecksum();
    if (!checked.ok()) return ToError(checked, directory_, "check");
    return Status::OK();
  }

  Status Prepare(OpenAs as) {
    STROM_ASSIGN(std::optional<std::string> format, GetRaw(kFormatKey));
    STROM_ASSIGN(std::optional<std::string> sequence, GetRaw(kSequenceKey));
    if (!format) {
      if (as != OpenAs::kNew || sequence) return Damaged("it has no format");
      // Not synced: the first commit takes it along.
      rocksdb::Status written = db_->Put(rocksdb::WriteOptions(), ToSlice(kFormatKey), ToSlice(kFormat));
      return written.ok() ? Status::OK() : Status(ToError(written, directory_, "write"));
    }
    if (*format != kFormat) {
      return MakeError(ErrorCode::kIoError, "the metadata store in {} has format {}; this server knows format {}", directory_, *format,
                       kFormat);
    }
    if (sequence) {
      if (sequence->size() != sizeof(int64_t)) return Damaged("its sequence number is not 8 bytes long");
      sequence_ = LoadLe<int64_t>(sequence->data());
    }
    return RemoveEphemeral();
  }

  Result<std::optional<Node>> Read(const std::string& path) override {
    STROM_ASSIGN(std::optional<std::string> record, GetRaw(NodeKey(path)));
    if (!record) return std::optional<Node>();
    STROM_ASSIGN(Node node, DecodeNodeRecord(*record));
    return std::optional<Node>(std::move(node));
  }

  Result<std::vector<std::string>> PathsBelow(const std::string& path, size_t limit) override {
    std::vector<std::string> paths;
    const std::string prefix = NodeKey(path) + "/";
    auto iterator = Iterate();
    for (iterator->Seek(prefix); iterator->Valid() && iterator->key().starts_with(prefix); iterator->Next()) {
      if (paths.size() == limit) break;
      paths.push_back(iterator->key().ToString().substr(1));
    }
    STROM_TRY(Finish(*iterator));
    return paths;
  }

  Result<std::vector<std::string>> Children(const std::string& path) override {
    const std::string prefix = path == "/" ? std::string("n/") : NodeKey(path) + "/";
    std::vector<std::string> names;
    auto iterator = Iterate();
    for (iterator->Seek(prefix); iterator->Valid() && iterator->key().starts_with(prefix);) {
      std::string_view name(iterator->key().data() + prefix.size(), iterator->key().size() - prefix.size());
      const size_t slash = name.find('/');
      if (slash == std::string_view::npos) {
        names.emplace_back(name);
        iterator->Next();
      } else {
        // Below a child, which came before: jump over its whole subtree. '0' follows '/'.
        iterator->Seek(prefix + std::string(name.substr(0, slash)) + "0");
      }
    }
    STROM_TRY(Finish(*iterator));
    return names;
  }

  Result<std::vector<NodeEntry>> Scan(const std::string& path) override {
    std::vector<NodeEntry> entries;
    if (path != "/") {
      STROM_ASSIGN(std::optional<Node> node, Read(path));
      if (node) entries.push_back({path, std::move(*node)});
    }
    const std::string prefix = path == "/" ? std::string("n/") : NodeKey(path) + "/";
    auto iterator = Iterate();
    for (iterator->Seek(prefix); iterator->Valid() && iterator->key().starts_with(prefix); iterator->Next()) {
      STROM_ASSIGN(Node node, DecodeNodeRecord(iterator->value().ToStringView()));
      entries.push_back({iterator->key().ToString().substr(1), std::move(node)});
    }
    STROM_TRY(Finish(*iterator));
    return entries;
  }

  Status Write(const TreeChange& change, int64_t sequence) override {
    if (!failure_.ok()) return failure_;
    rocksdb::WriteBatch batch;
    bool is_durable = false;
    for (const auto& [path, node] : change.nodes()) {
      is_durable = is_durable || !node || !node->ephemeral;
      if (!node) {
        batch.Delete(NodeKey(path));
        batch.Delete(EphemeralKey(path));
        continue;
      }
      batch.Put(NodeKey(path), EncodeNodeRecord(*node));
      if (node->ephemeral) batch.Put(EphemeralKey(path), "");
    }
    char number[sizeof(int64_t)];
    StoreLe(number, sequence);
    batch.Put(ToSlice(kSequenceKey), rocksdb::Slice(number, sizeof(number)));
    Status written = WriteBatch(&batch, is_durable);
    if (written.ok()) sequence_ = sequence;
    return written;
  }

  int64_t sequence() const override { return sequence_; }

  Status Close() override {
    if (db_ == nullptr) return Status::OK();
    rocksdb::Status flushed = failure_.ok() ? db_->Flush(rocksdb::FlushOptions()) : rocksdb::Status::OK();
    rocksdb::Status closed = db_->Close();
    Status synced = files_->SyncDeferred();
    db_.reset();
    if (!flushed.ok()) return ToError(flushed, directory_, "flush");
    if (!closed.ok()) return ToError(closed, directory_, "close");
    return synced;
  }

 private:
  Status Damaged(std::string_view what) const {
    return MakeError(ErrorCode::kCorruptData, "the metadata store in {} is damaged: {}", directory_, what);
  }

  Result<std::optional<std::string>> GetRaw(std::string_view key) {
    std::string value;
    rocksdb::Status got = db_->Get(rocksdb::ReadOptions(), ToSlice(key), &value);
    if (got.IsNotFound()) return std::optional<std::string>();
    if (!got.ok()) return ToError(got, directory_, "read");
    return std::optional<std::string>(std::move(value));
  }

  std::unique_ptr<rocksdb::Iterator> Iterate() {
    return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(rocksdb::ReadOptions()));
  }
  Status Finish(const rocksdb::Iterator& iterator) const {
    return iterator.status().ok() ? Status::OK() : Status(ToError(iterator.status(), directory_, "scan"));
  }

  Status WriteBatch(rocksdb::WriteBatch* batch, bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    rocksdb::Status written = db_->Write(options, batch);
    if (!written.ok()) {
      failure_ = ToError(written, directory_, "write");
      return failure_;
    }
    if (sync) failure_ = files_->SyncDeferred();
    return failure_;
  }

  Status RemoveEphemeral() {
    rocksdb::WriteBatch batch;
    auto iterator = Iterate();
    for (iterator->Seek("e"); iterator->Valid() && iterator->key().starts_with("e"); iterator->Next()) {
      std::string path = iterator->key().ToString().substr(1);
      batch.Delete(NodeKey(path));
      batch.Delete(EphemeralKey(path));
    }
    STROM_TRY(Finish(*iterator));
    return batch.Count() == 0 ? Status::OK() : WriteBatch(&batch, true);
  }

  const std::string directory_;
  // The database uses the environment, which uses the files.
  std::shared_ptr<LeanFiles> files_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  int64_t sequence_ = 0;
  Status failure_;  // of a write: final
};

}  // namespace

Result<std::unique_ptr<RocksTree>> RocksTree::Open(const std::string& directory, OpenAs as) {
  auto tree = std::make_unique<RocksTreeImpl>(directory);
  STROM_TRY(tree->OpenDatabase(as));
  STROM_TRY(tree->Prepare(as));
  return std::unique_ptr<RocksTree>(std::move(tree));
}

}  // namespace strom::meta
