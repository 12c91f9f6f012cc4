#include "meta/meta_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/random.h"
#include "meta/embedded_store.h"
#include "meta/memory_store.h"
#include "meta/testing/temp_directory.h"
#include "meta/tree_change.h"
#include "rt/manual_executor.h"
#include "rt/sync.h"

namespace strom::meta {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What every store must do, run on each of them.
class AnyStore : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { Open(); }
  void TearDown() override { (void)executor_.Run(store_->Close()); }

  bool is_embedded() const { return GetParam(); }
  void Open() {
    if (!is_embedded()) {
      store_ = std::make_unique<MemoryStore>();
      return;
    }
    auto opened = EmbeddedStore::Open({.directory = directory_.path() + "/meta"});
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    store_ = std::move(*opened);
  }
  void Reopen() {
    Status closed = executor_.Run(store_->Close());
    ASSERT_TRUE(closed.ok()) << closed.ToString();
    if (!is_embedded()) return;
    store_.reset();
    Open();
  }

  Status Commit(Transaction transaction) { return executor_.Run(store_->Commit(std::move(transaction))); }
  std::optional<Node> Get(const std::string& path) {
    auto node = executor_.Run(store_->Get(path));
    EXPECT_TRUE(node.ok()) << node.ToString();
    return node.ok() ? *node : std::nullopt;
  }
  std::vector<std::string> Children(const std::string& path) {
    auto children = executor_.Run(store_->Children(path));
    EXPECT_TRUE(children.ok()) << children.ToString();
    return children.ok() ? *children : std::vector<std::string>();
  }
  std::vector<std::string> Paths(const std::string& path) {
    auto entries = executor_.Run(store_->Scan(path));
    EXPECT_TRUE(entries.ok()) << entries.ToString();
    std::vector<std::string> paths;
    if (entries.ok()) {
      for (const NodeEntry& entry : *entries) paths.push_back(entry.path);
    }
    return paths;
  }

  testing::TempDirectory directory_;
  rt::ManualExecutor executor_;
  std::unique_ptr<MetaStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, AnyStore, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Embedded" : "Memory"; });

TEST_P(AnyStore, MakesParentsThatAreMissing) {
  ASSERT_TRUE(Commit(Transaction().Create("/a/b/c", "x")).ok());
  EXPECT_EQ(Get("/a/b/c")->data, "x");
  EXPECT_EQ(Get("/a/b")->data, "");
  EXPECT_EQ(Get("/a")->version, 0);
  EXPECT_FALSE(Get("/b").has_value());
}

TEST_P(AnyStore, CountsVersionsOfANodeFromZero) {
  ASSERT_TRUE(Commit(Transaction().Create("/n", "0")).ok());
  EXPECT_EQ(Get("/n")->version, 0);
  ASSERT_TRUE(Commit(Transaction().Set("/n", "1", 0)).ok());
  ASSERT_TRUE(Commit(Transaction().Set("/n", "2")).ok());
  EXPECT_EQ(Get("/n")->version, 2);
  EXPECT_EQ(Commit(Transaction().Set("/n", "3", 1)).code(), ErrorCode::kVersionConflict);
  EXPECT_EQ(Commit(Transaction().Set("/other", "3")).code(), ErrorCode::kNotFound);
  EXPECT_EQ(Commit(Transaction().Create("/n", "3")).code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(Get("/n")->data, "2");
}

TEST_P(AnyStore, GivesANodeThatWasMadeAgainALaterOrigin) {
  ASSERT_TRUE(Commit(Transaction().Create("/n", "0")).ok());
  const int64_t first = Get("/n")->created_at;
  ASSERT_TRUE(Commit(Transaction().Delete("/n").Create("/n", "1")).ok());
  EXPECT_GT(Get("/n")->created_at, first);
  EXPECT_EQ(Get("/n")->version, 0);
}

TEST_P(AnyStore, ChangesNothingWhenOneOperationFails) {
  ASSERT_TRUE(Commit(Transaction().Create("/a", "0")).ok());
  EXPECT_EQ(Commit(Transaction().Set("/a", "1").Create("/b", "").Check("/a", 7)).code(), ErrorCode::kVersionConflict);
  EXPECT_EQ(Get("/a")->data, "0");
  EXPECT_FALSE(Get("/b").has_value());
}

TEST_P(AnyStore, ListsChildrenAndSubtreesEvenWithNamesThatSortBesideTheSlash) {
  ASSERT_TRUE(Commit(Transaction().Create("/p/a/x/y", "").Create("/p/a-b", "").Create("/p/a.c/z", "").Create("/p/a0", "")
                         .Create("/pa", ""))
                  .ok());
  EXPECT_THAT(Children("/p"), ElementsAre("a", "a-b", "a.c", "a0"));
  EXPECT_THAT(Children("/"), ElementsAre("p", "pa"));
  EXPECT_THAT(Children("/nowhere"), IsEmpty());
  EXPECT_THAT(Paths("/p/a"), ElementsAre("/p/a", "/p/a/x", "/p/a/x/y"));
}

TEST_P(AnyStore, DeletesANodeWithoutChildrenOnlyAndATreeWhole) {
  ASSERT_TRUE(Commit(Transaction().Create("/t/a/b", "").Create("/t-2", "")).ok());
  EXPECT_EQ(Commit(Transaction().Delete("/t")).code(), ErrorCode::kVersionConflict);
  ASSERT_TRUE(Commit(Transaction().DeleteTree("/t").DeleteTree("/never")).ok());
  EXPECT_THAT(Paths("/"), ElementsAre("/t-2"));
  ASSERT_TRUE(Commit(Transaction().Create("/t", "again").DeleteTree("/t").Create("/t/c", "")).ok());
  EXPECT_EQ(Get("/t")->data, "");
}

TEST_P(AnyStore, RefusesPathsThatAreNone) {
  for (const char* path : {"", "/", "a", "/a/", "//a", "/a//b"}) {
    EXPECT_FALSE(Commit(Transaction().Create(path, "")).ok()) << path;
  }
}

TEST_P(AnyStore, KeepsPersistentNodesAndDropsEphemeralOnesOverARestart) {
  ASSERT_TRUE(Commit(Transaction().Create("/ids/1", "me", true).Create("/kept", "data")).ok());
  EXPECT_TRUE(Get("/ids/1")->ephemeral);
  EXPECT_EQ(Commit(Transaction().Create("/ids/1/child", "")).code(), ErrorCode::kVersionConflict);
  const int64_t origin = Get("/kept")->created_at;
  Reopen();
  EXPECT_FALSE(Get("/ids/1").has_value());
  EXPECT_EQ(Get("/kept")->data, "data");
  EXPECT_EQ(Get("/kept")->created_at, origin);
  ASSERT_TRUE(Commit(Transaction().Create("/later", "")).ok());
  EXPECT_GT(Get("/later")->created_at, origin);
}

TEST_P(AnyStore, CountsWithoutGivingAValueTwice) {
  EXPECT_EQ(*executor_.Run(AddToCounter(store_.get(), "/seq", 1)), 0);
  EXPECT_EQ(*executor_.Run(AddToCounter(store_.get(), "/seq", 10)), 1);
  Reopen();
  EXPECT_EQ(*executor_.Run(AddToCounter(store_.get(), "/seq", 1)), 11);
  ASSERT_TRUE(Commit(Transaction().Set("/seq", "abc")).ok());
  EXPECT_EQ(executor_.Run(AddToCounter(store_.get(), "/seq", 1)).code(), ErrorCode::kCorruptData);
}

rt::Task<void> CountOnce(MetaStore* store, std::map<int64_t, int>* seen) {
  auto value = co_await AddToCounter(store, "/seq", 1);
  if (value.ok()) ++(*seen)[*value];
}

TEST_P(AnyStore, CountsWithoutGivingAValueTwiceToManyAtOnce) {
  std::map<int64_t, int> seen;
  for (int i = 0; i < 5; ++i) rt::Spawn(CountOnce(store_.get(), &seen));
  executor_.RunUntilIdle();
  ASSERT_FALSE(seen.empty());
  for (const auto& [value, count] : seen) EXPECT_EQ(count, 1) << value;
}

TEST_P(AnyStore, TellsWatchersOfChangesBelowTheirPathInCommitOrder) {
  std::vector<std::string> heard;
  const uint64_t id = store_->Watch("/a", [&](const Change& change) {
    heard.push_back(std::string("created changed deleted ").substr(8 * static_cast<size_t>(change.kind), 7) + " " + change.path +
                    "=" + change.data);
  });
  ASSERT_TRUE(Commit(Transaction().Create("/a/b", "1").Create("/ab", "no")).ok());
  ASSERT_TRUE(Commit(Transaction().Set("/a/b", "2").DeleteTree("/a")).ok());
  EXPECT_FALSE(Commit(Transaction().Create("/a", "").Check("/ab", 9)).ok());
  store_->Unwatch(id);
  ASSERT_TRUE(Commit(Transaction().Create("/a", "")).ok());
  EXPECT_THAT(heard, ElementsAre("created /a=", "created /a/b=1", "changed /a/b=2", "deleted /a/b=2", "deleted /a="));
}

rt::Task<void> CommitAndCount(MetaStore* store, Transaction transaction, int* done, int* failed) {
  Status status = co_await store->Commit(std::move(transaction));
  ++(status.ok() ? *done : *failed);
}

TEST_P(AnyStore, TakesCommitsThatComeAtOnceInTheirOrder) {
  int done = 0;
  int failed = 0;
  rt::Spawn(CommitAndCount(store_.get(), Transaction().Create("/n", "0"), &done, &failed));
  for (int i = 0; i < 50; ++i) {
    rt::Spawn(CommitAndCount(store_.get(), Transaction().Set("/n", std::to_string(i + 1), i), &done, &failed));
  }
  rt::Spawn(CommitAndCount(store_.get(), Transaction().Create("/n", "twice"), &done, &failed));
  executor_.RunUntilIdle();
  EXPECT_EQ(done, 51);
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(Get("/n")->data, "50");
}

/// The naive twin: a map of paths, and the rules in the simplest words.
class Twin {
 public:
  Status Commit(const Transaction& transaction) {
    auto before = nodes_;
    for (const Transaction::Op& op : transaction.ops()) {
      if (!Do(op)) {
        nodes_ = std::move(before);
        return MakeError(ErrorCode::kVersionConflict, "no");
      }
    }
    return Status::OK();
  }
  const std::map<std::string, std::pair<std::string, int>>& nodes() const { return nodes_; }

 private:
  bool Do(const Transaction::Op& op) {
    const bool there = nodes_.contains(op.path);
    const bool fits = there && (!op.version || *op.version == nodes_[op.path].second);
    switch (op.kind) {
      case Transaction::Kind::kPut:
        if (there) {
          nodes_[op.path] = {op.data, nodes_[op.path].second + 1};
          return true;
        }
        [[fallthrough]];
      case Transaction::Kind::kCreate:
        if (there) return false;
        for (size_t slash = op.path.find('/', 1); slash != std::string::npos; slash = op.path.find('/', slash + 1)) {
          nodes_.try_emplace(op.path.substr(0, slash), "", 0);
        }
        nodes_[op.path] = {op.data, 0};
        return true;
      case Transaction::Kind::kSet:
        if (fits) nodes_[op.path] = {op.data, nodes_[op.path].second + 1};
        return fits;
      case Transaction::Kind::kDelete:
        for (const auto& [path, node] : nodes_) {
          if (path.starts_with(op.path + "/")) return false;
        }
        if (fits) nodes_.erase(op.path);
        return fits;
      case Transaction::Kind::kDeleteTree:
        std::erase_if(nodes_, [&](const auto& entry) { return IsAtOrBelow(entry.first, op.path); });
        return true;
      case Transaction::Kind::kCheck:
        return fits;
    }
    return false;
  }
  std::map<std::string, std::pair<std::string, int>> nodes_;
};

Transaction RandomTransaction(Random& random) {
  static const std::vector<std::string> kPaths = {"/a", "/a/b", "/a/b/c", "/a/b-c", "/a/d", "/ab", "/e/f/g", "/e"};
  Transaction transaction;
  const uint64_t count = 1 + random.Below(4);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string& path = kPaths[random.Below(kPaths.size())];
    const std::string data = std::to_string(random.Below(1000));
    std::optional<int32_t> version;
    if (random.OneIn(2)) version = static_cast<int32_t>(random.Below(3));
    switch (random.Below(8)) {
      case 0: case 1: transaction.Create(path, data); break;
      case 2: transaction.Set(path, data, version); break;
      case 3: case 4: transaction.Put(path, data); break;
      case 5: transaction.Delete(path, version); break;
      case 6: transaction.DeleteTree(path); break;
      default: transaction.Check(path, static_cast<int32_t>(random.Below(3))); break;
    }
  }
  return transaction;
}

TEST_P(AnyStore, DoesWhatAMapWouldDoWithRestartsInBetween) {
  const uint64_t seed = 20260801;
  SCOPED_TRACE(seed);
  Random random(seed);
  Twin twin;
  for (int step = 0; step < 600; ++step) {
    const Transaction transaction = RandomTransaction(random);
    ASSERT_EQ(Commit(transaction).ok(), twin.Commit(transaction).ok()) << "step " << step;
    if (step % 150 == 149) Reopen();
    if (step % 10 != 0) continue;
    auto entries = executor_.Run(store_->Scan("/"));
    ASSERT_TRUE(entries.ok());
    std::map<std::string, std::pair<std::string, int>> nodes;
    for (const NodeEntry& entry : *entries) nodes[entry.path] = {entry.node.data, entry.node.version};
    ASSERT_EQ(nodes, twin.nodes()) << "step " << step;
  }
}

}  // namespace
}  // namespace strom::meta
