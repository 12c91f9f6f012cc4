#include "rt/file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "rt/pieces.h"
#include "rt/runtime.h"

namespace strom::rt {
namespace {

class SystemFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "strom-rt-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { EXPECT_TRUE(files_.RemoveTree(directory_).ok()); }
  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::shared_ptr<File> Create(const std::string& name) {
    auto file = files_.Open(Path(name), {.write = true, .create = true});
    EXPECT_TRUE(file.ok()) << file.ToString();
    return std::move(file).value();
  }
  std::string Content(const std::string& name) {
    auto content = files_.ReadAll(Path(name));
    return content.ok() ? std::string(content->text()) : content.ToString();
  }

  FileSystem& files_ = SystemFiles();
  std::string directory_;
};

TEST_F(SystemFilesTest, WritesPiecesInOneCallAndReadsThemBack) {
  auto file = Create("a");
  const std::array<ByteView, 4> pieces{AsBytes("one "), ByteView(), AsBytes("two "), AsBytes("three")};
  const uint64_t before = Counters().file_write_calls;
  ASSERT_TRUE(file->WriteAt(2, pieces).ok());
  EXPECT_EQ(Counters().file_write_calls - before, 1u);
  EXPECT_EQ(*file->Size(), 15u);
  std::array<uint8_t, 100> into;
  EXPECT_EQ(*file->ReadAt(6, into), 9u) << "fewer only at the end";
  EXPECT_EQ(AsText({into.data(), 9}), "two three");
  EXPECT_EQ(*file->ReadAt(15, into), 0u);
  EXPECT_EQ(*file->ReadAt(1000, into), 0u);
}

TEST_F(SystemFilesTest, WritesMorePiecesThanOneCallTakes) {
  auto file = Create("a");
  std::vector<std::string> texts;
  std::string expected;
  for (int i = 0; i < 3000; ++i) expected += texts.emplace_back(std::to_string(i) + ",");
  std::vector<ByteView> pieces;
  for (const std::string& text : texts) pieces.push_back(AsBytes(text));
  ASSERT_TRUE(file->WriteAt(0, pieces).ok());
  EXPECT_EQ(Content("a"), expected);
}

TEST_F(SystemFilesTest, OpensAsTheOptionsSay) {
  EXPECT_EQ(files_.Open(Path("a"), {}).code(), ErrorCode::kNotFound);
  EXPECT_EQ(files_.Open(Path("a"), {.write = true}).code(), ErrorCode::kNotFound);
  EXPECT_TRUE(files_.Open(Path("a"), {.write = true, .create = true, .exclusive = true}).ok());
  EXPECT_EQ(files_.Open(Path("a"), {.write = true, .create = true, .exclusive = true}).code(), ErrorCode::kAlreadyExists);
  auto reader = files_.Open(Path("a"), {});
  ASSERT_TRUE(reader.ok());
  const std::array<ByteView, 1> pieces{AsBytes("x")};
  const Status refused = (*reader)->WriteAt(7, pieces);
  EXPECT_EQ(refused.code(), ErrorCode::kIoError);
  EXPECT_NE(refused.error().message.find(Path("a") + " at position 7"), std::string::npos) << refused.ToString();
}

TEST_F(SystemFilesTest, TruncatesAndSyncs) {
  auto file = Create("a");
  const std::array<ByteView, 1> pieces{AsBytes("hello")};
  ASSERT_TRUE(file->WriteAt(0, pieces).ok());
  ASSERT_TRUE(file->Truncate(2).ok());
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_EQ(Content("a"), "he");
}

TEST_F(SystemFilesTest, ListsSortedAndTellsDirectories) {
  Create("b");
  Create("a");
  ASSERT_TRUE(files_.CreateDirectories(Path("c/d/e")).ok());
  ASSERT_TRUE(files_.CreateDirectories(Path("c/d/e")).ok()) << "again is right";
  auto entries = files_.List(directory_);
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ(entries.value()[0].name, "a");
  EXPECT_EQ(entries.value()[1].name, "b");
  EXPECT_EQ(entries.value()[2].name, "c");
  EXPECT_TRUE(entries.value()[2].is_directory);
  EXPECT_FALSE(entries.value()[0].is_directory);
  EXPECT_EQ(files_.List(Path("missing")).code(), ErrorCode::kNotFound);
}

TEST_F(SystemFilesTest, RenamesAndRemoves) {
  Create("a");
  EXPECT_TRUE(files_.Rename(Path("a"), Path("b")).ok());
  EXPECT_FALSE(*files_.Exists(Path("a")));
  EXPECT_TRUE(*files_.Exists(Path("b")));
  EXPECT_FALSE(*files_.Exists(Path("b/c"))) << "a file is no directory";
  EXPECT_EQ(files_.Rename(Path("a"), Path("c")).code(), ErrorCode::kNotFound);
  EXPECT_TRUE(files_.Remove(Path("b")).ok());
  EXPECT_EQ(files_.Remove(Path("b")).code(), ErrorCode::kNotFound);
  ASSERT_TRUE(files_.CreateDirectories(Path("c/d")).ok());
  EXPECT_TRUE(files_.RemoveTree(Path("c")).ok());
  EXPECT_FALSE(*files_.Exists(Path("c")));
  EXPECT_TRUE(files_.RemoveTree(Path("c")).ok());
}

TEST_F(SystemFilesTest, ReplaceFileLeavesNewContentAndNoTemporary) {
  ASSERT_TRUE(files_.ReplaceFile(Path("a"), AsBytes("a long first content")).ok());
  // A crash may have left a longer temporary file.
  ASSERT_TRUE(files_.ReplaceFile(Path("a.tmp"), AsBytes("garbage that is longer than what comes")).ok());
  ASSERT_TRUE(files_.ReplaceFile(Path("a"), AsBytes("short")).ok());
  EXPECT_EQ(Content("a"), "short");
  EXPECT_FALSE(*files_.Exists(Path("a.tmp")));
  EXPECT_EQ(files_.ReplaceFile(Path("missing/a"), AsBytes("x")).code(), ErrorCode::kNotFound);
  ASSERT_TRUE(files_.ReplaceFile(Path("empty"), {}).ok());
  EXPECT_EQ(Content("empty"), "");
}

TEST_F(SystemFilesTest, AFullDeviceIsNoSpace) {
  auto full = files_.Open("/dev/full", {.write = true});
  if (!full.ok()) GTEST_SKIP() << full.ToString();
  const std::array<ByteView, 1> pieces{AsBytes("x")};
  const Status written = (*full)->WriteAt(0, pieces);
  EXPECT_EQ(written.code(), ErrorCode::kNoSpace);
  EXPECT_NE(written.error().message.find("/dev/full"), std::string::npos);
}

TEST_F(SystemFilesTest, AShortWriteGoesOnAndReportsWhereItFailed) {
  // The limit of a file's size makes the kernel write a part, then refuse the rest.
  rlimit old_limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  auto file = Create("a");
  rlimit low = old_limit;
  low.rlim_cur = 10'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const std::string text(20'000, 'x');
  const std::array<ByteView, 1> pieces{AsBytes(text)};
  const Status written = file->WriteAt(0, pieces);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  EXPECT_EQ(written.code(), ErrorCode::kIoError);
  EXPECT_NE(written.error().message.find("at position 10000"), std::string::npos) << written.ToString();
}

TEST_F(SystemFilesTest, KnowsTheSpaceOfTheDisk) {
  auto usage = files_.Usage(directory_);
  ASSERT_TRUE(usage.ok());
  EXPECT_GT(usage->total_bytes, 0u);
  EXPECT_LE(usage->available_bytes, usage->total_bytes);
  EXPECT_EQ(files_.Usage(Path("missing")).code(), ErrorCode::kNotFound);
}

TEST_F(SystemFilesTest, FlattenReadsRangesAndRefusesShortOnes) {
  ASSERT_TRUE(files_.ReplaceFile(Path("a"), AsBytes("0123456789")).ok());
  auto file = files_.Open(Path("a"), {});
  ASSERT_TRUE(file.ok());
  Pieces pieces;
  pieces.Add(Buffer::CopyOf("<"));
  pieces.Add(FileRange{*file, 2, 3});
  pieces.Add(FileRange{*file, 5, 1});
  pieces.Add(Buffer::CopyOf(">"));
  EXPECT_EQ(pieces.pieces().size(), 3u) << "ranges that touch are one";
  EXPECT_EQ(Flatten(pieces).value().text(), "<2345>");
  pieces.Add(FileRange{*file, 8, 3});
  const auto flat = Flatten(pieces);
  EXPECT_EQ(flat.code(), ErrorCode::kIoError);
  EXPECT_NE(flat.error().message.find(Path("a")), std::string::npos);
}

}  // namespace
}  // namespace strom::rt
