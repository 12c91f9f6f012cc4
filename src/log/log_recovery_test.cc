#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "format/log_batch.h"
#include "log/inspect.h"
#include "log/log_file_names.h"
#include "log/testing/log_fixture.h"

namespace strom::log {
namespace {

using namespace testing;

/// Batches as they were appended, by base offset.
using Batches = std::map<int64_t, std::vector<uint8_t>>;

Batches SplitBatches(const std::vector<uint8_t>& bytes) {
  Batches batches;
  for (size_t position = 0; position < bytes.size();) {
    const Result<format::LogBatchHeader> header = format::DecodeLogBatchHeader(ByteView(bytes).subspan(position));
    EXPECT_TRUE(header.ok()) << header.ToString();
    if (!header.ok() || header->total_size > bytes.size() - position) break;
    const auto begin = bytes.begin() + static_cast<ptrdiff_t>(position);
    batches[header->base_offset.value()] = {begin, begin + header->total_size};
    position += header->total_size;
  }
  return batches;
}

/// As a reader that checks CRCs reads a log which may be damaged: every batch that passes must be the original one, but for its time.
/// Returns the offset after the last good batch.
int64_t ReadAsAClient(Machine& machine, const Batches& originals, const std::string& what) {
  int64_t at = machine.log->local_start_offset().value();
  while (at < machine.log->log_end_offset().value()) {
    const Result<LogSlice> slice = machine.Read(at, 300);
    if (!slice.ok()) {
      EXPECT_EQ(slice.code(), ErrorCode::kCorruptData) << what;
      return at;
    }
    EXPECT_GT(slice->size, 0u) << what;
    const std::vector<uint8_t> bytes = Bytes(*slice);
    for (size_t position = 0; position < bytes.size();) {
      const ByteView rest = ByteView(bytes).subspan(position);
      const Result<format::LogBatchHeader> header = format::DecodeLogBatchHeader(rest);
      if (!header.ok() || header->total_size > rest.size()) return at;
      if (!format::CheckLogBatch(*header, rest.first(header->total_size)).ok()) return at;
      const auto original = originals.find(header->base_offset.value());
      if (original == originals.end()) {
        ADD_FAILURE() << what << ": a batch at offset " << header->base_offset.value() << " that nobody wrote";
        return at;
      }
      std::vector<uint8_t> found(rest.begin(), rest.begin() + header->total_size);
      std::copy_n(original->second.begin() + 13, std::min<size_t>(8, original->second.size() - 13), found.begin() + 13);
      EXPECT_EQ(found, original->second) << what;
      at = header->next_offset().value();
      position += header->total_size;
    }
  }
  return at;
}

struct Sample {
  Machine machine;
  Batches batches;
  LogOffset end;
  LogOffset middle;  // inside of the newest segment but one

  Sample() {
    machine.options.segment_size_max = 900;
    machine.options.index_interval = 150;
    machine.options.magic_max = 0;  // the rows of these batches are of a row format
    EXPECT_OK(machine.Open());
    for (int i = 0; i < 32; ++i) {
      machine.now_ms += 7;
      const WriterId writer = i % 2 == 0 ? WriterId(5) : kNoWriterId;
      EXPECT_OK(machine.Append(MakeBatch(1 + i % 4, 12, static_cast<uint8_t>(i), writer, i / 2)));
    }
    end = machine.log->log_end_offset();
    batches = SplitBatches(machine.ReadAll());
    EXPECT_EQ(machine.log->segments_count(), 4u);
    EXPECT_OK(machine.log->Close());
    middle = LogOffset(std::prev(batches.end(), 4)->first);
    machine.log.reset();
  }
};

struct Way {
  const char* name;
  OpenMode mode;
};

std::vector<Way> Ways(const Sample& sample) {
  return {{"clean", {true, sample.end, false}},
          {"process crash", {false, LogOffset(0), false}},
          {"process crash, half flushed", {false, sample.middle, false}},
          {"power loss", {false, LogOffset(0), true}},
          {"power loss, half flushed", {false, sample.middle, true}}};
}

/// Opens the damaged directory in every way: it recovers or is refused without a byte changed, and no wrong row is read.
void TryAllWays(const Sample& sample, const std::string& path, const std::vector<uint8_t>& content, const std::string& damage) {
  for (const Way& way : Ways(sample)) {
    const std::string what = fmt::format("{} {}, {}", path, damage, way.name);
    Machine machine(sample.machine.disk->Clone(1));
    machine.options = sample.machine.options;
    machine.disk->SetContent(path, content);
    std::map<std::string, std::vector<uint8_t>> before;
    for (const std::string& file : machine.disk->FilesBelow(kDirectory)) before[file] = machine.disk->ContentOf(file);
    const Status opened = machine.Open(way.mode);
    if (!opened.ok()) {
      ASSERT_EQ(opened.code(), ErrorCode::kCorruptData) << what << opened.ToString();
      for (const auto& [file, bytes] : before) ASSERT_EQ(machine.disk->ContentOf(file), bytes) << what << " " << file;
      ASSERT_TRUE(path.ends_with(".log")) << what << ": only the log itself is worth a refusal. " << opened.ToString();
      continue;
    }
    const int64_t reached = ReadAsAClient(machine, sample.batches, what);
    if (!path.ends_with(".log")) {
      ASSERT_EQ(reached, sample.end.value()) << what;
    }
    if (machine.log->failure().ok() && reached == machine.log->log_end_offset().value()) {
      // It goes on, and what is written now is there after a clean restart.
      const Result<LogAppendInfo> info = machine.Append(MakeBatch(2, 12, 0xEE));
      ASSERT_TRUE(info.ok()) << what << info.ToString();
      ASSERT_EQ(info->first_offset.value(), reached) << what;
      ASSERT_TRUE(machine.Reopen().ok()) << what;
      ASSERT_EQ(machine.log->log_end_offset().value(), reached + 2) << what;
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(LogRecovery, EveryByteCutOfEveryFileIsRecoveredOrRefused) {
  const Sample sample;
  for (const std::string& path : sample.machine.disk->FilesBelow(kDirectory)) {
    const std::vector<uint8_t> content = sample.machine.disk->ContentOf(path);
    for (size_t size = 0; size < content.size(); ++size) {
      TryAllWays(sample, path, {content.begin(), content.begin() + static_cast<ptrdiff_t>(size)}, fmt::format("cut to {}", size));
      if (HasFailure()) return;
    }
  }
}

TEST(LogRecovery, EveryFlippedByteOfEveryFileIsRecoveredOrRefused) {
  const Sample sample;
  Random random(5);
  for (const std::string& path : sample.machine.disk->FilesBelow(kDirectory)) {
    const std::vector<uint8_t> content = sample.machine.disk->ContentOf(path);
    for (size_t at = 0; at < content.size(); ++at) {
      for (const uint8_t mask : {uint8_t{0x01}, static_cast<uint8_t>(2 << random.Below(7))}) {
        std::vector<uint8_t> damaged = content;
        damaged[at] ^= mask;
        TryAllWays(sample, path, damaged, fmt::format("byte {} xor {:#x}", at, mask));
        if (HasFailure()) return;
      }
    }
  }
}

TEST(LogRecovery, ABadBatchBelowTheRecoveryPointRefusesTheBucketAndNamesThePlace) {
  const Sample sample;
  Machine machine(sample.machine.disk->Clone(1));
  machine.options = sample.machine.options;
  const std::string path = machine.disk->FilesBelow(kDirectory)[0];
  ASSERT_TRUE(path.ends_with(".index"));
  const std::string log = LogFilePath(kDirectory, LogOffset(0), kLogSuffix);
  std::vector<uint8_t> content = machine.disk->ContentOf(log);
  const size_t second = sample.batches.begin()->second.size();
  content[second + 60] ^= 1;
  machine.disk->SetContent(log, content);
  const LogOffset flushed(5);  // inside of the first segment, above the bad batch
  const Status opened = machine.Open({false, flushed, true});
  EXPECT_EQ(opened.code(), ErrorCode::kCorruptData);
  EXPECT_NE(opened.ToString().find(fmt::format("{} at {}", log, second)), std::string::npos) << opened.ToString();
}

TEST(LogRecovery, AfterAPowerLossTheLogIsCutAtTheFirstBadBatchAndTheRestIsKept) {
  const Sample sample;
  Machine machine(sample.machine.disk->Clone(1));
  machine.options = sample.machine.options;
  // Damage in the middle segment of four.
  std::vector<std::string> logs;
  for (const std::string& path : machine.disk->FilesBelow(kDirectory)) {
    if (path.ends_with(".log")) logs.push_back(path);
  }
  std::vector<uint8_t> content = machine.disk->ContentOf(logs[1]);
  const std::vector<uint8_t> last_segment = machine.disk->ContentOf(logs[3]);
  content[content.size() / 2] ^= 1;
  machine.disk->SetContent(logs[1], content);
  ASSERT_EQ(machine.Open({false, LogOffset(0), false}).code(), ErrorCode::kCorruptData);  // a process crash cannot have done it
  ASSERT_OK(machine.Open({false, LogOffset(0), true}));
  EXPECT_EQ(machine.log->segments_count(), 2u);
  const std::vector<uint8_t> kept = machine.disk->ContentOf(logs[1]);
  const std::vector<uint8_t> cut = machine.disk->ContentOf(logs[1] + ".cut");
  EXPECT_EQ(Concat({Buffer::CopyOf(ByteView(kept)), Buffer::CopyOf(ByteView(cut))}).text(), AsText(content));
  EXPECT_EQ(machine.disk->ContentOf(logs[3] + ".cut"), last_segment);
  EXPECT_EQ(ReadAsAClient(machine, sample.batches, "after the cut"), machine.log->log_end_offset().value());
  EXPECT_LE(machine.log->log_end_offset(), LogOffset(ParseLogFileName(logs[2].substr(logs[2].rfind('/') + 1), kLogSuffix)->value()));
}

TEST(LogRecovery, ALengthThatLiesInTheMiddleIsNotTakenForATornEnd) {
  Machine machine;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 5; ++i) ASSERT_OK(machine.Append(MakeBatch(3)));
  const std::string path = LogFilePath(kDirectory, LogOffset(0), kLogSuffix);
  std::vector<uint8_t> content = machine.disk->ContentOf(path);
  content[MakeBatch(3).size() + 10] = 0x7F;  // the second batch claims megabytes
  machine.disk->SetContent(path, content);
  EXPECT_EQ(machine.Open({false, LogOffset(0), false}).code(), ErrorCode::kCorruptData);
  EXPECT_EQ(machine.disk->ContentOf(path), content);
}

TEST(LogRecovery, IndexesThatAreGoneEmptyOrZeroFilledAreRebuiltAsTheyWere) {
  const Sample sample;
  std::map<std::string, std::vector<uint8_t>> indexes;
  for (const std::string& path : sample.machine.disk->FilesBelow(kDirectory)) {
    if (path.ends_with("index")) indexes[path] = sample.machine.disk->ContentOf(path);
  }
  for (const int damage : {0, 1, 2}) {
    for (const bool clean : {false, true}) {
      Machine machine(sample.machine.disk->Clone(1));
      machine.options = sample.machine.options;
      for (const auto& [path, content] : indexes) {
        if (damage == 0) ASSERT_OK(machine.disk->Remove(path));
        if (damage == 1) machine.disk->SetContent(path, {});
        if (damage == 2) machine.disk->SetContent(path, std::vector<uint8_t>(600, 0));
      }
      ASSERT_OK(machine.Open({clean, clean ? sample.end : LogOffset(0), true}));
      EXPECT_EQ(ReadAsAClient(machine, sample.batches, "rebuilt"), sample.end.value());
      for (int64_t offset = 0; offset < sample.end.value(); ++offset) ASSERT_OK(machine.Read(offset, 1));
      ASSERT_OK(machine.log->Close());
      for (const auto& [path, content] : indexes) EXPECT_EQ(machine.disk->ContentOf(path), content) << path << damage << clean;
    }
  }
}

TEST(LogRecovery, OrphansAndLeftoversGo) {
  const Sample sample;
  Machine machine(sample.machine.disk->Clone(1));
  machine.options = sample.machine.options;
  const std::vector<std::string> strays = {
      LogFilePath(kDirectory, LogOffset(777), kOffsetIndexSuffix), LogFilePath(kDirectory, LogOffset(777), kTimeIndexSuffix),
      LogFilePath(kDirectory, LogOffset(777), kWriterSnapshotSuffix), LogFilePath(kDirectory, LogOffset(7), kWriterSnapshotSuffix) + ".tmp"};
  for (const std::string& stray : strays) machine.disk->SetContent(stray, {1, 2, 3});
  ASSERT_OK(machine.Open({true, sample.end, false}));
  for (const std::string& stray : strays) EXPECT_FALSE(*machine.disk->Exists(stray)) << stray;
}

TEST(LogRecovery, AJavaDirectoryThatCrashedOpens) {
  // Zero-filled preallocated indexes, a snapshot with the last batch only, no epoch history.
  const Sample sample;
  Machine machine(sample.machine.disk->Clone(1));
  machine.options = sample.machine.options;
  for (const std::string& path : machine.disk->FilesBelow(kDirectory)) {
    std::vector<uint8_t> content = machine.disk->ContentOf(path);
    if (path.ends_with(LeaderEpochHistory::kFileName)) ASSERT_OK(machine.disk->Remove(path));
    if (path.ends_with(kWriterSnapshotSuffix)) ASSERT_OK(machine.disk->Remove(path));
    if (path.ends_with(kOffsetIndexSuffix) || path.ends_with(kTimeIndexSuffix)) {
      content.resize(path.ends_with(kOffsetIndexSuffix) ? 10485760 : 10485756);
      machine.disk->SetContent(path, content);
    }
  }
  ASSERT_OK(machine.Open({false, sample.middle, true}));
  EXPECT_EQ(machine.log->log_end_offset(), sample.end);
  EXPECT_EQ(ReadAsAClient(machine, sample.batches, "java"), sample.end.value());
  const Result<LogAppendInfo> retry = machine.Append(MakeBatch(3, 12, 1, WriterId(5), 13));
  ASSERT_OK(retry);
  EXPECT_TRUE(retry->duplicated);
}

TEST(LogRecovery, AFailedSyncIsFinalForThisLog) {
  Machine machine;
  ASSERT_OK(machine.Open());
  ASSERT_OK(machine.Append(MakeBatch(3)));
  ASSERT_OK(machine.Sync());
  EXPECT_EQ(machine.log->flushed_offset(), LogOffset(3));
  ASSERT_OK(machine.Append(MakeBatch(3)));
  machine.disk->FailSyncs(true);
  EXPECT_EQ(machine.Sync().code(), ErrorCode::kIoError);
  machine.disk->FailSyncs(false);
  EXPECT_FALSE(machine.Append(MakeBatch(3)).ok());
  EXPECT_FALSE(machine.Read(0).ok());
  EXPECT_FALSE(machine.log->Close().ok());
  EXPECT_FALSE(machine.Sync().ok());
  EXPECT_EQ(machine.log->flushed_offset(), LogOffset(3));
}

TEST(LogRecovery, ACleanStartReadsNoSegmentAndKeepsTheEnd) {
  Machine machine;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 400; ++i) ASSERT_OK(machine.Append(MakeBatch(20, 100)));
  const LogOffset end = machine.log->log_end_offset();
  const uint64_t size = *machine.log->size_bytes();
  ASSERT_OK(machine.log->Close());
  const uint64_t before = machine.disk->counters().bytes_read;
  ASSERT_OK(machine.Open({true, end, false}));
  EXPECT_EQ(machine.log->log_end_offset(), end);
  EXPECT_LT(machine.disk->counters().bytes_read - before, 10'000u);
  EXPECT_GT(size, 500'000u);
}

TEST(LogRecovery, AfterACrashTheLogIsReadOnceAndItsWritersAreKnown) {
  Machine machine;
  ASSERT_OK(machine.Open());
  for (int i = 0; i < 400; ++i) ASSERT_OK(machine.Append(MakeBatch(20, 100, 2, WriterId(4), i)));
  const std::vector<uint8_t> content = machine.ReadAll();
  for (const bool power_loss : {false, true}) {
    const uint64_t before = machine.disk->counters().bytes_read;
    ASSERT_OK(machine.Open({false, LogOffset(0), power_loss}));
    EXPECT_LT(machine.disk->counters().bytes_read - before, content.size() + 10'000);
    EXPECT_EQ(machine.ReadAll(), content);
    for (int i = 395; i < 400; ++i) EXPECT_TRUE(machine.Append(MakeBatch(20, 100, 2, WriterId(4), i))->duplicated) << i;
    EXPECT_FALSE(machine.Append(MakeBatch(20, 100, 2, WriterId(4), 394)).ok());
  }
}

TEST(Inspect, PrintsEverythingAndVerifiesEveryChecksum) {
  const Sample sample;
  std::string text;
  const auto print = [&](std::string_view line) { text.append(line).append("\n"); };
  const auto run = [&](rt::testing::SimulatedDisk& disk, const std::string& path) {
    text.clear();
    return Inspect(disk, path, {.verify = true}, print);
  };
  for (const char* path : {"/data", "/data/db/table-7/log-2"}) {
    const Result<InspectResult> good = run(*sample.machine.disk, path);
    ASSERT_OK(good);
    EXPECT_EQ(good->problems, 0u) << text;
    EXPECT_EQ(good->segments, 4u);
    EXPECT_EQ(good->batches, sample.batches.size());
    EXPECT_NE(text.find("writer 5: sequence 15"), std::string::npos) << text;
    EXPECT_NE(text.find("epoch 0 from offset 0"), std::string::npos) << text;
  }
  for (const std::string& path : sample.machine.disk->FilesBelow(kDirectory)) {
    const std::unique_ptr<rt::testing::SimulatedDisk> disk = sample.machine.disk->Clone(1);
    EXPECT_OK(run(*disk, path));
    std::vector<uint8_t> content = disk->ContentOf(path);
    if (content.empty()) continue;
    content[content.size() - 3] ^= 1;
    disk->SetContent(path, content);
    const Result<InspectResult> bad = run(*disk, "/data");
    ASSERT_OK(bad);
    EXPECT_GT(bad->problems, 0u) << path;
    EXPECT_NE(text.find("BAD " + path + " at "), std::string::npos) << text;
  }
  EXPECT_FALSE(run(*sample.machine.disk, "/data/nothing").ok());
}

}  // namespace
}  // namespace strom::log
