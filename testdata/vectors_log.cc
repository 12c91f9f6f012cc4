#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "log/log.h"
#include "log/log_file_names.h"
#include "log/offset_checkpoint.h"
#include "log/writer_snapshot.h"
#include "vector.h"

namespace strom::vectors {
namespace {

/// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    path_ = testing::TempDir() + "strom-vectors-XXXXXX";
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

  void Write(const std::string& name, const std::string& content) const { std::ofstream(path_ + "/" + name, std::ios::binary) << content; }
  std::string Read(const std::string& name) const {
    std::ifstream file(path_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

/// A log in a folder, as a server has it.
struct Bucket {
  explicit Bucket(uint32_t index_interval) { options.index_interval = index_interval; }

  Status Open(const Folder& folder, log::OpenMode mode) {
    log::LogEnvironment environment;
    environment.files = &rt::SystemFiles();
    environment.file_cache = &cache;
    environment.wall_clock = [] { return TimestampMs(4'102'444'800'000); };  // 2100: later than every vector
    STROM_ASSIGN(log, log::Log::Open(environment, folder.path(), {TableId(1), std::nullopt, BucketId(0)}, options, mode));
    return Status::OK();
  }

  log::FileCache cache{&rt::SystemFiles(), 16};
  log::LogOptions options;
  std::unique_ptr<log::Log> log;
};

std::string FileName(int64_t base_offset, std::string_view suffix) {
  return std::filesystem::path(log::LogFilePath("x", LogOffset(base_offset), suffix)).filename().string();
}

void CheckLookups(const Vector& vector, log::Log* log) {
  const Json& batches = vector.at("batches");
  for (const Json& lookup : vector.at("offset_lookups")) {
    const auto offset = lookup.at("offset").get<int64_t>();
    SCOPED_TRACE(offset);
    const auto slice = log->Read({LogOffset(offset), log->log_end_offset(), 1, true});
    ASSERT_TRUE(slice.ok()) << slice.ToString();
    EXPECT_EQ(slice->position, lookup.at("position").get<uint64_t>());
    EXPECT_EQ(slice->size, lookup.at("size").get<uint64_t>());
  }
  for (const Json& lookup : vector.at("timestamp_lookups")) {
    const auto time = lookup.at("timestamp").get<int64_t>();
    SCOPED_TRACE(time);
    const auto offset = log->OffsetForTimestamp(TimestampMs(time), log->log_end_offset());
    ASSERT_TRUE(offset.ok()) << offset.ToString();
    EXPECT_EQ(offset->value(), lookup.at("offset").get<int64_t>());
  }
  EXPECT_EQ(log->log_end_offset().value(), batches.back().at("last_offset").get<int64_t>() + 1);
}

/// Java's batches, one append each, give Java's files; lookups in them find what Java finds.
void CheckSegmentFiles(const Vector& vector) {
  const Folder folder;
  const auto base = vector.at("base_offset").get<int64_t>();
  const Buffer bytes = Buffer::CopyOf(vector.bytes("log"));
  Bucket bucket(vector.at("index_interval_bytes").get<uint32_t>());
  Status status = bucket.Open(folder, {});
  ASSERT_TRUE(status.ok()) << status.ToString();
  status = bucket.log->TruncateFullyAndStartAt(LogOffset(base));
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (const Json& batch : vector.at("batches")) {
    const auto appended = bucket.log->AppendAsFollower(bytes.Slice(batch.at("position").get<size_t>(), batch.at("size").get<size_t>()));
    ASSERT_TRUE(appended.ok()) << appended.ToString();
    EXPECT_EQ(appended->first_offset.value(), batch.at("base_offset").get<int64_t>());
    EXPECT_EQ(appended->last_offset.value(), batch.at("last_offset").get<int64_t>());
    EXPECT_EQ(appended->timestamp.value(), batch.at("commit_timestamp").get<int64_t>());
  }
  CheckLookups(vector, bucket.log.get());
  status = bucket.log->Close();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(ToHex(folder.Read(FileName(base, log::kLogSuffix))), ToHex(bytes.view()));
  EXPECT_EQ(ToHex(folder.Read(FileName(base, log::kOffsetIndexSuffix))), ToHex(vector.bytes("index")));
  EXPECT_EQ(ToHex(folder.Read(FileName(base, log::kTimeIndexSuffix))), ToHex(vector.bytes("timeindex")));
  EXPECT_EQ(FileName(base, log::kLogSuffix), vector.text("log_file_name"));
}

/// The other way: Java's files, opened as they are.
void CheckSegmentOpens(const Vector& vector) {
  const Folder folder;
  const auto base = vector.at("base_offset").get<int64_t>();
  folder.Write(FileName(base, log::kLogSuffix), vector.bytes("log"));
  folder.Write(FileName(base, log::kOffsetIndexSuffix), vector.bytes("index"));
  folder.Write(FileName(base, log::kTimeIndexSuffix), vector.bytes("timeindex"));
  Bucket bucket(vector.at("index_interval_bytes").get<uint32_t>());
  const LogOffset end(vector.at("batches").back().at("last_offset").get<int64_t>() + 1);
  const Status status = bucket.Open(folder, {.clean = true, .recovery_point = end, .power_loss_possible = false});
  ASSERT_TRUE(status.ok()) << status.ToString();
  CheckLookups(vector, bucket.log.get());
}

/// The log of `segment_files` that a crash cut short: its torn batch goes, both indexes are made anew.
void CheckSegmentRecover(const Vector& vector, const Vector& whole) {
  const Folder folder;
  const auto base = whole.at("base_offset").get<int64_t>();
  folder.Write(FileName(base, log::kLogSuffix), whole.bytes("log").substr(0, vector.at("input_size").get<size_t>()));
  Bucket bucket(whole.at("index_interval_bytes").get<uint32_t>());
  Status status = bucket.Open(folder, {.clean = false, .recovery_point = LogOffset(base), .power_loss_possible = false});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(bucket.log->log_end_offset().value(), vector.at("next_offset").get<int64_t>());
  status = bucket.log->Close();
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::string log_bytes = folder.Read(FileName(base, log::kLogSuffix));
  EXPECT_EQ(log_bytes.size(), vector.at("valid_size").get<size_t>());
  EXPECT_EQ(vector.at("input_size").get<size_t>() - log_bytes.size(), vector.at("truncated_bytes").get<size_t>());
  EXPECT_EQ(ToHex(folder.Read(FileName(base, log::kOffsetIndexSuffix))), ToHex(vector.bytes("index")));
  EXPECT_EQ(ToHex(folder.Read(FileName(base, log::kTimeIndexSuffix))), ToHex(vector.bytes("timeindex")));
}

void CheckOffsetCheckpoint(const Vector& vector) {
  const std::string text = vector.text("text");
  const auto offsets = log::DecodeOffsetCheckpoint(AsBytes(text));
  ASSERT_TRUE(offsets.ok()) << offsets.ToString();
  EXPECT_EQ(log::EncodeOffsetCheckpoint(*offsets), text);
}

void CheckWriterSnapshot(const Vector& vector) {
  const std::string text = vector.text("text");
  const auto snapshot = log::WriterSnapshot::Decode(AsBytes(text));
  ASSERT_TRUE(snapshot.ok()) << snapshot.ToString();
  EXPECT_EQ(snapshot->Encode(log::WriterSnapshot::Form::kJava), text);
  const auto again = log::WriterSnapshot::Decode(AsBytes(snapshot->Encode(log::WriterSnapshot::Form::kStrom)));
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_EQ(again->writers, snapshot->writers);
  const auto offset = log::ParseLogFileName(vector.text("file_name"), log::kWriterSnapshotSuffix);
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(FileName(offset->value(), log::kWriterSnapshotSuffix), vector.text("file_name"));
}

}  // namespace

void AddLogChecks(const std::vector<Vector>& vectors, Checks* checks) {
  (*checks)["segment_files"] = [](const Vector& vector) {
    CheckSegmentFiles(vector);
    CheckSegmentOpens(vector);
  };
  (*checks)["segment_recover"] = [&vectors](const Vector& vector) {
    for (const Vector& whole : vectors) {
      if (whole.kind == "segment_files") return CheckSegmentRecover(vector, whole);
    }
    FAIL() << "no segment_files vector to damage";
  };
  (*checks)["offset_checkpoint"] = CheckOffsetCheckpoint;
  (*checks)["writer_snapshot"] = CheckWriterSnapshot;
}

}  // namespace strom::vectors
