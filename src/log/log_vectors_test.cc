#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "log/offset_checkpoint.h"
#include "log/testing/log_fixture.h"
#include "log/testing/segment_files.h"
#include "log/writer_snapshot.h"

namespace strom::log {
namespace {

using namespace testing;
using Json = nlohmann::json;

const std::string kVectors = std::string(STROM_SOURCE_DIR) + "/testdata/vectors/";

const Json& Vector(const std::string& id) {
  static const Json all = Json::parse(std::ifstream(kVectors + "vectors.json"));
  for (const Json& vector : all["vectors"]) {
    if (vector["id"] == id) return vector;
  }
  ADD_FAILURE() << "no vector " << id;
  return all;
}

std::vector<uint8_t> BytesOf(const Json& artifact) {
  if (artifact.contains("file")) {
    std::ifstream file(kVectors + artifact["file"].get<std::string>(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  const std::string hex = artifact["hex"];
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < hex.size(); i += 2) bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

TEST(LogVectors, ASegmentAndItsIndexesAreWrittenAsJavaWritesThem) {
  const Json& vector = Vector("segment-files");
  const std::vector<uint8_t> log = BytesOf(vector["log"]);
  rt::testing::SimulatedDisk disk(1);
  SegmentLog segment(disk, "/data/segment", vector["index_interval_bytes"]);
  const Result<SegmentFiles> files = segment.Write(LogOffset(vector["base_offset"]), log);
  ASSERT_OK(files);
  EXPECT_EQ(files->log, log);
  EXPECT_EQ(files->index, BytesOf(vector["index"]));
  EXPECT_EQ(files->time_index, BytesOf(vector["timeindex"]));
  const LogOffset end = segment.log().log_end_offset();
  for (const Json& lookup : vector["offset_lookups"]) {
    const Result<LogSlice> slice = segment.log().Read({LogOffset(lookup["offset"]), end, 1, true});
    ASSERT_OK(slice);
    EXPECT_EQ(slice->position, lookup["position"]) << lookup;
    EXPECT_EQ(slice->size, lookup["size"]) << lookup;
  }
  for (const Json& lookup : vector["timestamp_lookups"]) {
    const Result<LogOffset> offset = segment.log().OffsetForTimestamp(TimestampMs(lookup["timestamp"]), end);
    ASSERT_OK(offset);
    EXPECT_EQ(offset->value(), lookup["offset"]) << lookup;
  }
}

TEST(LogVectors, ATornSegmentIsRecoveredAsJavaRecoversIt) {
  const Json& whole = Vector("segment-files");
  const Json& vector = Vector("segment-recover");
  std::vector<uint8_t> log = BytesOf(whole["log"]);
  log.resize(vector["input_size"]);
  rt::testing::SimulatedDisk disk(1);
  SegmentLog segment(disk, "/data/segment", whole["index_interval_bytes"]);
  const Result<SegmentFiles> files = segment.Recover(LogOffset(whole["base_offset"]), log);
  ASSERT_OK(files);
  EXPECT_EQ(files->log.size(), vector["valid_size"]);
  EXPECT_EQ(segment.log().log_end_offset().value(), vector["next_offset"]);
  EXPECT_EQ(files->index, BytesOf(vector["index"]));
  EXPECT_EQ(files->time_index, BytesOf(vector["timeindex"]));
}

TEST(LogVectors, OffsetCheckpointsAreJavas) {
  for (const char* id : {"offset-checkpoint", "offset-checkpoint-empty"}) {
    const std::string text = Vector(id)["text"];
    const Result<BucketOffsets> offsets = DecodeOffsetCheckpoint(AsBytes(text));
    ASSERT_OK(offsets);
    EXPECT_EQ(EncodeOffsetCheckpoint(*offsets), text);
  }
}

TEST(LogVectors, WriterSnapshotsAreJavas) {
  const std::string text = Vector("writer-snapshot")["text"];
  const Result<WriterSnapshot> snapshot = WriterSnapshot::Decode(AsBytes(text));
  ASSERT_OK(snapshot);
  ASSERT_EQ(snapshot->writers.size(), 2u);
  EXPECT_EQ(snapshot->writers[0].batches.back().first_offset(), LogOffset(15));
  EXPECT_EQ(snapshot->Encode(WriterSnapshot::Form::kJava), text);
  const std::string ours = snapshot->Encode(WriterSnapshot::Form::kStrom);
  const Result<WriterSnapshot> again = WriterSnapshot::Decode(AsBytes(ours));
  ASSERT_OK(again);
  EXPECT_EQ(again->writers, snapshot->writers);
}

}  // namespace
}  // namespace strom::log
