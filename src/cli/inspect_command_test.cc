#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/strom_process.h"
#include "log/log.h"
#include "log/offset_checkpoint.h"
#include "log/tablet_directories.h"
#include "log/testing/log_fixture.h"

namespace strom::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kBucketName = "db/table-7/log-2";
const std::string kZero = "/00000000000000000000";

/// The data directory of a server that was stopped, with one bucket of three batches: offsets 0 to 8.
class InspectCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_.CreateDirectories(Bucket("")).ok());
    data_.Write("STROM", "format 1\nserver 0\n");
    log::FileCache cache(&files_, 8);
    log::LogEnvironment environment;
    environment.files = &files_;
    environment.file_cache = &cache;
    environment.wall_clock = [] { return TimestampMs(1'700'000'000'000); };
    log::LogOptions options;
    options.index_interval = 60;
    auto log = log::Log::Open(environment, Bucket(""), log::testing::kBucket, options, {});
    ASSERT_TRUE(log.ok()) << log.ToString();
    for (int32_t i = 0; i < 3; ++i) {
      const auto appended = (*log)->AppendAsLeader(log::testing::MakeBatch(2 + i, 20, 1, WriterId(3), i), LeaderEpoch(0));
      ASSERT_TRUE(appended.ok()) << appended.ToString();
      const auto size = (*log)->size_bytes();
      ASSERT_TRUE(size.ok()) << size.ToString();
      ends_.push_back(*size);
    }
    ASSERT_TRUE((*log)->Close().ok());
    const std::string tablet = data_.Path("tablet");
    ASSERT_TRUE(log::WriteOffsetCheckpoint(files_, tablet, log::kRecoveryPointCheckpoint, {{log::testing::kBucket, LogOffset(9)}}).ok());
    ASSERT_TRUE(log::WriteCleanMark(files_, tablet).ok());
  }

  std::string Bucket(const std::string& name) const { return data_.Path("tablet/" + kBucketName + name); }
  static std::string Relative(const std::string& name) { return "tablet/" + kBucketName + name; }
  void Flip(const std::string& name, uint64_t position) {
    std::string content = data_.Read(Relative(name));
    ASSERT_LT(position, content.size()) << name;
    content[position] = static_cast<char>(content[position] ^ 0x10);
    data_.Write(Relative(name), content);
  }

  rt::FileSystem& files_ = rt::SystemFiles();
  testing::TemporaryDirectory data_;
  std::vector<uint64_t> ends_;  // of each batch in the segment
};

TEST_F(InspectCommand, PrintsAllThatIsInADataDirectory) {
  for (const std::string& path : {data_.path(), data_.Path("tablet")}) {
    const testing::Ended ended = testing::RunStrom({"inspect", path});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    EXPECT_THAT(ended.out, HasSubstr(".fluss_cleanshutdown: the last shutdown was clean\n"));
    EXPECT_THAT(ended.out, HasSubstr("recovery-point-offset-checkpoint: 1 buckets\n"));
    EXPECT_THAT(ended.out, HasSubstr(fmt::format("{}.log: segment from offset 0, {} bytes\n", Bucket(kZero), ends_[2])));
    EXPECT_THAT(ended.out, HasSubstr(fmt::format("offsets 2 to 4, {} bytes, 3 records, magic 0, schema ", ends_[1] - ends_[0])));
    EXPECT_THAT(ended.out, HasSubstr("time 1700000000000, writer 3 sequence 1"));
    EXPECT_THAT(ended.out, HasSubstr("  ends at offset 9\n"));
    EXPECT_THAT(ended.out, HasSubstr(": 1 writers at offset 9\n"));
    EXPECT_THAT(ended.out, HasSubstr("  writer 3: sequence 2, offsets 5 to 8, time 1700000000000\n"));
    EXPECT_THAT(ended.out, HasSubstr("  epoch 0 from offset 0\n"));
    EXPECT_TRUE(ended.out.ends_with(fmt::format("1 segments, 3 batches, {} bytes, 0 problems\n", ends_[2]))) << ended.out;
  }
}

TEST_F(InspectCommand, FindsAFlippedRowOnlyWhenItVerifies) {
  EXPECT_EQ(testing::RunStrom({"inspect", "--verify", data_.path()}).status, 0);
  Flip(kZero + ".log", ends_[1] - 1);
  EXPECT_EQ(testing::RunStrom({"inspect", data_.path()}).status, 0) << "rows are not read without --verify";
  for (const std::string& path : {data_.path(), data_.Path("tablet"), Bucket(""), Bucket(kZero + ".log")}) {
    const testing::Ended ended = testing::RunStrom({"inspect", path, "--verify"});
    EXPECT_EQ(ended.status, 1) << path;
    EXPECT_THAT(ended.out, HasSubstr(fmt::format("BAD {}.log at {}: ", Bucket(kZero), ends_[0])));
    EXPECT_THAT(ended.out, HasSubstr("3 batches")) << "it goes on behind the damage";
    EXPECT_THAT(ended.out, HasSubstr(" 1 problems\n"));
  }
}

TEST_F(InspectCommand, FindsACutSegment) {
  const std::string segment = data_.Read(Relative(kZero + ".log"));
  data_.Write(Relative(kZero + ".log"), segment.substr(0, ends_[2] - 1));
  const testing::Ended ended = testing::RunStrom({"inspect", data_.path()});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr(fmt::format("BAD {}.log at {}: a batch of {} bytes where {} are left", Bucket(kZero), ends_[1],
                                               ends_[2] - ends_[1], ends_[2] - ends_[1] - 1)));
}

TEST_F(InspectCommand, FindsDamageInEveryFileBesideTheSegment) {
  std::vector<std::string> names{"tablet/recovery-point-offset-checkpoint"};
  const auto listed = files_.List(Bucket(""));
  ASSERT_TRUE(listed.ok());
  for (const rt::DirectoryEntry& entry : *listed) {
    if (!entry.name.ends_with(".log")) names.push_back(Relative("/" + entry.name));
  }
  ASSERT_GE(names.size(), 5u) << "checkpoint, two indexes, writer snapshot, epoch history";
  for (const std::string& name : names) {
    const std::string content = data_.Read(name);
    if (content.empty()) continue;
    data_.Write(name, content.substr(0, content.size() / 2 + 1));
    const testing::Ended ended = testing::RunStrom({"inspect", "--verify", data_.path()});
    EXPECT_EQ(ended.status, 1) << name << "\n" << ended.out;
    EXPECT_THAT(ended.out, HasSubstr("BAD " + data_.Path(name) + " at ")) << name;
    data_.Write(name, content);
  }
  EXPECT_EQ(testing::RunStrom({"inspect", "--verify", data_.path()}).status, 0);
}

TEST_F(InspectCommand, ReadsOneFileByItself) {
  const auto listed = files_.List(Bucket(""));
  ASSERT_TRUE(listed.ok());
  for (const rt::DirectoryEntry& entry : *listed) {
    const testing::Ended ended = testing::RunStrom({"inspect", "--verify", Bucket("/" + entry.name)});
    EXPECT_EQ(ended.status, 0) << entry.name << "\n" << ended.out << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr(entry.name), HasSubstr(" 0 problems\n")));
  }
}

TEST_F(InspectCommand, SaysWhenThereIsNothingToInspect) {
  data_.Write("notes.txt", "nothing of ours");
  ASSERT_TRUE(files_.CreateDirectories(data_.Path("other/folder")).ok());
  for (const std::string& path : {data_.Path("missing"), data_.Path("notes.txt"), data_.Path("other"), std::string("")}) {
    const testing::Ended ended = testing::RunStrom({"inspect", "--verify", path});
    EXPECT_EQ(ended.status, 2) << path << "\n" << ended.out;
    EXPECT_THAT(ended.err, HasSubstr(path + " is no data directory, no log directory and no file of one\n"));
    EXPECT_THAT(ended.out, Not(HasSubstr("problems"))) << "nobody may read that all is well";
  }
}

}  // namespace
}  // namespace strom::cli
