#include "meta/embedded_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "meta/testing/temp_directory.h"
#include "meta/wal_check.h"
#include "rt/file.h"
#include "rt/manual_executor.h"

namespace strom::meta {
namespace {

namespace fs = std::filesystem;

class EmbeddedStoreFiles : public ::testing::Test {
 protected:
  std::string directory() const { return temp_.path() + "/meta"; }

  Result<std::unique_ptr<EmbeddedStore>> Open(const std::string& directory, bool power_may_have_failed = false) {
    return EmbeddedStore::Open({.directory = directory, .power_may_have_failed = power_may_have_failed});
  }

  /// Makes a store of `count` nodes; `clean` closes it as a stop does, else it ends as a killed process does.
  void Make(int count, bool clean) {
    auto store = Open(directory());
    ASSERT_TRUE(store.ok()) << store.ToString();
    for (int i = 0; i < count; ++i) {
      Transaction transaction;
      transaction.Create("/n/" + std::to_string(i), "data of node " + std::to_string(i));
      Status committed = executor_.Run((*store)->Commit(std::move(transaction)));
      ASSERT_TRUE(committed.ok()) << committed.ToString();
    }
    if (!clean) return;
    Status closed = executor_.Run((*store)->Close());
    ASSERT_TRUE(closed.ok()) << closed.ToString();
  }

  int Count(EmbeddedStore* store) {
    auto children = executor_.Run(store->Children("/n"));
    EXPECT_TRUE(children.ok()) << children.ToString();
    return children.ok() ? static_cast<int>(children->size()) : -1;
  }

  std::string Copy(int number) const {
    const std::string copy = temp_.path() + "/copy-" + std::to_string(number);
    fs::remove_all(copy);
    fs::copy(directory(), copy, fs::copy_options::recursive);
    return copy;
  }

  static void Flip(const std::string& path, uint64_t position) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(position));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(position));
    file.put(static_cast<char>(byte ^ 0x20));
  }

  std::vector<fs::path> DataFiles() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(directory())) {
      const std::string name = entry.path().filename();
      if (name == "LOCK" || name == "IDENTITY" || name.starts_with("OPTIONS") || name.starts_with("LOG")) continue;
      if (entry.file_size() > 0) files.push_back(entry.path());
    }
    return files;
  }

  std::string NewestLog() const {
    std::string newest;
    for (const auto& entry : fs::directory_iterator(directory())) {
      if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().string());
    }
    return newest;
  }

  testing::TempDirectory temp_;
  rt::ManualExecutor executor_;
};

TEST_F(EmbeddedStoreFiles, AKilledProcessLosesNothingThatWasCommitted) {
  Make(100, false);
  auto store = Open(directory());
  ASSERT_TRUE(store.ok()) << store.ToString();
  EXPECT_EQ(Count(store->get()), 100);
}

TEST_F(EmbeddedStoreFiles, AfterACleanStopEveryChangedByteIsNoticedAndNothingIsTouched) {
  Make(30, true);
  int number = 0;
  for (const fs::path& file : DataFiles()) {
    const uint64_t size = fs::file_size(file);
    for (uint64_t position = 0; position < size; position += 1 + size / 16) {
      const std::string copy = Copy(number++);
      Flip(copy + "/" + file.filename().string(), position);
      auto store = Open(copy);
      ASSERT_EQ(store.code(), ErrorCode::kCorruptData) << file << " at " << position;
      ASSERT_NE(store.error().message.find("damaged"), std::string::npos) << store.error().message;
      fs::remove_all(copy);
    }
  }
  EXPECT_GT(number, 20);
  auto store = Open(directory());
  ASSERT_TRUE(store.ok()) << store.ToString();
  EXPECT_EQ(Count(store->get()), 30);
}

TEST_F(EmbeddedStoreFiles, AfterACleanStopAMissingFileIsNoticed) {
  Make(30, true);
  int number = 0;
  for (const fs::path& file : DataFiles()) {
    if (file.filename() == "SEAL") continue;
    const std::string copy = Copy(number++);
    fs::remove(copy + "/" + file.filename().string());
    EXPECT_EQ(Open(copy).code(), ErrorCode::kCorruptData) << file;
  }
}

TEST_F(EmbeddedStoreFiles, AfterAKillEveryChangedByteOfTheLogIsRefusedNeverForgotten) {
  Make(20, false);
  const std::string log = NewestLog();
  const uint64_t size = fs::file_size(log);
  for (uint64_t position = 0; position < size; position += 3) {
    const std::string copy = Copy(0);
    Flip(copy + "/" + fs::path(log).filename().string(), position);
    auto store = Open(copy);
    ASSERT_EQ(store.code(), ErrorCode::kCorruptData) << "position " << position << " of " << size;
  }
}

TEST_F(EmbeddedStoreFiles, AfterAPowerLossAnUnfinishedLastWriteIsCutAndTheRestServes) {
  Make(20, false);
  const std::string log = NewestLog();
  const uint64_t size = fs::file_size(log);
  for (const uint64_t lost : {1, 5, 20}) {
    const std::string copy = Copy(0);
    const std::string name = copy + "/" + fs::path(log).filename().string();
    fs::resize_file(name, size - lost);
    EXPECT_EQ(Open(copy, false).code(), ErrorCode::kCorruptData) << "a process alone does not leave this";
    auto store = Open(copy, true);
    ASSERT_TRUE(store.ok()) << store.ToString();
    EXPECT_EQ(Count(store->get()), 19);
    EXPECT_TRUE(fs::exists(name + ".cut"));
  }
}

TEST_F(EmbeddedStoreFiles, AfterAPowerLossDamageInTheMiddleIsStillRefused) {
  Make(20, false);
  const std::string log = NewestLog();
  const std::string copy = Copy(0);
  Flip(copy + "/" + fs::path(log).filename().string(), fs::file_size(log) / 2);
  EXPECT_EQ(Open(copy, true).code(), ErrorCode::kCorruptData);
}

TEST_F(EmbeddedStoreFiles, AStoreThatWasNotFinishedWhenItWasMadeIsMadeAfresh) {
  {
    // Without a commit, and so without any sync: of such files a power loss leaves anything.
    auto store = Open(directory());
    ASSERT_TRUE(store.ok());
  }
  for (const fs::path& file : DataFiles()) fs::resize_file(file, fs::file_size(file) / 2);
  auto store = Open(directory());
  ASSERT_TRUE(store.ok()) << store.ToString();
  ASSERT_TRUE(executor_.Run((*store)->Commit(Transaction().Create("/n/1", ""))).ok());
  store->reset();
  store = Open(directory());
  ASSERT_TRUE(store.ok()) << store.ToString();
  EXPECT_EQ(Count(store->get()), 1);
}

TEST_F(EmbeddedStoreFiles, ASecondProcessIsRefused) {
  Make(1, false);
  auto first = Open(directory());
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(Open(directory()).ok());
}

TEST_F(EmbeddedStoreFiles, ManyRestartsDoNotPileUpFiles) {
  for (int i = 0; i < 12; ++i) {
    auto store = Open(directory());
    ASSERT_TRUE(store.ok()) << store.ToString();
    ASSERT_TRUE(executor_.Run((*store)->Commit(Transaction().Put("/n", std::to_string(i)))).ok());
    ASSERT_TRUE(executor_.Run((*store)->Close()).ok());
  }
  EXPECT_LT(DataFiles().size(), 20u);
}

TEST(LogDamage, FindsNothingInNoBytes) { EXPECT_FALSE(FindLogDamage({}).has_value()); }

TEST(LogDamage, TakesAHeaderAloneForTheEndOfTheFile) {
  const uint8_t bytes[] = {1, 2, 3};
  auto damage = FindLogDamage(bytes);
  ASSERT_TRUE(damage.has_value());
  EXPECT_EQ(damage->position, 0u);
  EXPECT_TRUE(damage->is_short);
}

}  // namespace
}  // namespace strom::meta
