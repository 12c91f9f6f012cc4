#include "meta/embedded_store.h"

#include <utility>
#include <vector>

#include "meta/directory_seal.h"
#include "meta/lean_files.h"
#include "meta/rocks_tree.h"
#include "meta/tree_change.h"
#include "meta/wal_check.h"
#include "meta/watch_list.h"
#include "rt/call.h"
#include "rt/sync.h"

namespace strom::meta {
namespace {

/// A commit on its way. Lives in the frame of Commit().
struct PendingCommit {
  Transaction transaction;
  Status status;
  bool done = false;
};

class EmbeddedStoreImpl final : public EmbeddedStore {
 public:
  EmbeddedStoreImpl(std::string directory, std::unique_ptr<RocksTree> tree)
      : directory_(std::move(directory)), tree_(std::move(tree)) {}

  rt::Task<Status> Commit(Transaction transaction) override {
    if (closed_) co_return Closed();
    PendingCommit commit{std::move(transaction), {}, false};
    queue_.push_back(&commit);
    if (!writing_) {
      writing_ = true;
      rt::Spawn(WriteQueue());
    }
    while (!commit.done) {
      co_await written_.Wait();
    }
    co_return std::move(commit.status);
  }

  rt::Task<Result<std::optional<Node>>> Get(std::string path) override {
    if (closed_) co_return Closed();
    rt::Gate::Holder hold = reads_.TryEnter();
    RocksTree* tree = tree_.get();
    auto read = [tree, &path] { return tree->Read(path); };
    Result<std::optional<Node>> result = co_await rt::Blocking(read);
    co_return result;
  }

  rt::Task<Result<std::vector<std::string>>> Children(std::string path) override {
    if (closed_) co_return Closed();
    rt::Gate::Holder hold = reads_.TryEnter();
    RocksTree* tree = tree_.get();
    auto read = [tree, &path] { return tree->Children(path); };
    Result<std::vector<std::string>> result = co_await rt::Blocking(read);
    co_return result;
  }

  rt::Task<Result<std::vector<NodeEntry>>> Scan(std::string path) override {
    if (closed_) co_return Closed();
    rt::Gate::Holder hold = reads_.TryEnter();
    RocksTree* tree = tree_.get();
    auto read = [tree, &path] { return tree->Scan(path); };
    Result<std::vector<NodeEntry>> result = co_await rt::Blocking(read);
    co_return result;
  }

  rt::Task<Status> Close() override {
    if (closed_) co_return Status::OK();
    closed_ = true;
    while (writing_) {
      co_await written_.Wait();
    }
    co_await reads_.Close();
    auto close = [this] {
      Status closed = tree_->Close();
      return closed.ok() ? WriteSeal(directory_) : closed;
    };
    Status status = co_await rt::Blocking(close);
    co_return status;
  }

  bool is_exclusive() const override { return true; }
  uint64_t Watch(std::string path, Watcher watcher) override { return watches_.Add(std::move(path), std::move(watcher)); }
  void Unwatch(uint64_t id) override { watches_.Remove(id); }

 private:
  static Error Closed() { return MakeError(ErrorCode::kCancelled, "the metadata store is closed"); }

  /// Writes what has queued up, as one synced batch, until nothing more has.
  rt::Task<void> WriteQueue() {
    while (!queue_.empty()) {
      std::vector<PendingCommit*> group = std::exchange(queue_, {});
      std::vector<Change> changes;
      auto write = [this, &group, &changes] { WriteGroup(group, &changes); };
      co_await rt::Blocking(write);
      for (PendingCommit* commit : group) commit->done = true;
      watches_.Notify(changes);
      written_.NotifyAll();
    }
    writing_ = false;
    written_.NotifyAll();
  }

  /// On a blocking thread.
  void WriteGroup(const std::vector<PendingCommit*>& group, std::vector<Change>* changes) {
    TreeChange change(tree_.get());
    int64_t sequence = tree_->sequence();
    bool any = false;
    for (PendingCommit* commit : group) {
      commit->status = change.Apply(commit->transaction, sequence + 1);
      if (!commit->status.ok()) continue;
      any = true;
      ++sequence;
    }
    if (!any) return;
    Status written = change.nodes().empty() ? Status::OK() : tree_->Write(change, sequence);
    if (written.ok()) {
      *changes = change.changes();
      return;
    }
    for (PendingCommit* commit : group) {
      if (commit->status.ok()) commit->status = written;
    }
  }

  const std::string directory_;
  std::unique_ptr<RocksTree> tree_;
  WatchList watches_;
  std::vector<PendingCommit*> queue_;
  bool writing_ = false;
  bool closed_ = false;
  rt::Event written_;
  rt::Gate reads_;
};

}  // namespace

Result<std::unique_ptr<EmbeddedStore>> EmbeddedStore::Open(EmbeddedStoreOptions options) {
  const std::string& directory = options.directory;
  STROM_ASSIGN(const bool is_new, LeanFiles::Prepare(directory));
  RocksTree::OpenAs as = RocksTree::OpenAs::kNew;
  if (!is_new) {
    STROM_ASSIGN(const bool sealed, CheckSeal(directory));
    as = sealed ? RocksTree::OpenAs::kChecked : RocksTree::OpenAs::kUnchecked;
    STROM_TRY(sealed ? BreakSeal(directory) : CheckWriteAheadLogs(directory, options.power_may_have_failed));
  }
  STROM_ASSIGN(std::unique_ptr<RocksTree> tree, RocksTree::Open(directory, as));
  return std::unique_ptr<EmbeddedStore>(std::make_unique<EmbeddedStoreImpl>(directory, std::move(tree)));
}

}  // namespace strom::meta
