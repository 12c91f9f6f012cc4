#include "rpc/frame_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/endian.h"
#include "base/random.h"
#include "rpc/testing/memory_connection.h"
#include "rt/manual_executor.h"

namespace strom::rpc {
namespace {

using testing::MemoryConnection;

std::string Frame(std::string_view content) {
  std::string frame(4, '\0');
  StoreBe(frame.data(), static_cast<int32_t>(content.size()));
  return frame + std::string(content);
}

rt::Pieces AsPieces(std::string_view bytes) {
  rt::Pieces pieces;
  pieces.Add(Buffer::CopyOf(bytes));
  return pieces;
}

rt::Task<Result<Buffer>> Next(FrameReader* reader) {
  if (!reader->has_length()) {
    rt::Task<Status> fill = reader->FillLength();
    const Status filled = co_await std::move(fill);
    if (!filled.ok()) co_return filled.error();
  }
  const auto length = LoadBe<uint32_t>(reader->length_bytes().data());
  if (!reader->has_frame(length)) {
    rt::Task<Status> fill = reader->FillFrame(length);
    const Status filled = co_await std::move(fill);
    if (!filled.ok()) co_return filled.error();
  }
  co_return reader->TakeFrame(length);
}

TEST(FrameReader, CutsAStreamIntoItsFramesHoweverItArrives) {
  const uint64_t seed = 42;
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    rt::ManualExecutor executor;
    auto [server, client] = MemoryConnection::MakePair(
        {.read_max = random.OneIn(2) ? 1 + random.Below(50) : 1 + random.Below(40000)});
    std::vector<std::string> frames;
    std::string stream;
    for (uint64_t count = 1 + random.Below(20); count > 0; --count) {
      const size_t size = random.OneIn(4) ? random.Below(40000) : random.Below(300);
      frames.emplace_back(size, static_cast<char>('a' + count));
      stream += Frame(frames.back());
    }
    ASSERT_TRUE(executor.Run(client->Write(AsPieces(stream))).ok());
    client->FinishWriting();
    FrameReader reader(*server);
    for (const std::string& expected : frames) {
      const Result<Buffer> frame = executor.Run(Next(&reader));
      ASSERT_TRUE(frame.ok()) << "seed " << seed << " round " << round << " " << frame.ToString();
      ASSERT_EQ(frame->text(), expected) << "seed " << seed << " round " << round;
    }
    EXPECT_EQ(executor.Run(Next(&reader)).code(), ErrorCode::kEndOfStream);
    EXPECT_EQ(reader.bytes_read(), stream.size());
  }
}

TEST(FrameReader, EndsWithEndOfStreamInsideAFrame) {
  rt::ManualExecutor executor;
  auto [server, client] = MemoryConnection::MakePair();
  ASSERT_TRUE(executor.Run(client->Write(AsPieces(Frame("hello").substr(0, 7)))).ok());
  client->FinishWriting();
  FrameReader reader(*server);
  EXPECT_EQ(executor.Run(Next(&reader)).code(), ErrorCode::kEndOfStream);
}

TEST(FrameReader, CutsSmallFramesOutOfOneReadWithoutACopy) {
  rt::ManualExecutor executor;
  auto [server, client] = MemoryConnection::MakePair();
  std::string stream;
  for (int i = 0; i < 30; ++i) stream += Frame(std::string(100, 'x'));
  ASSERT_TRUE(executor.Run(client->Write(AsPieces(stream))).ok());
  FrameReader reader(*server);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(executor.Run(Next(&reader)).ok());
  EXPECT_EQ(reader.read_calls(), 1u);
  EXPECT_EQ(reader.bytes_copied(), 0u);
}

TEST(FrameReader, ReadsLargeFramesStraightIntoTheirOwnBuffer) {
  for (const size_t size : {size_t{1} << 20, size_t{64} << 10}) {
    rt::ManualExecutor executor;
    auto [server, client] = MemoryConnection::MakePair();
    const size_t count = (size_t{4} << 20) / size;
    std::string stream;
    for (size_t i = 0; i < count; ++i) stream += Frame(std::string(size, 'x'));
    ASSERT_TRUE(executor.Run(client->Write(AsPieces(stream))).ok());
    FrameReader reader(*server);
    for (size_t i = 0; i < count; ++i) ASSERT_TRUE(executor.Run(Next(&reader)).ok());
    // One chunk at the beginning, then the head of the next frame behind each.
    EXPECT_LE(reader.bytes_copied(), FrameReader::kChunkMin + count * FrameReader::kSlack) << size;
    EXPECT_LE(reader.bytes_copied(), size_t{4096} * 4) << "more than 4 KiB a MiB";
    EXPECT_LE(reader.read_calls(), count + 1) << size;
  }
}

TEST(FrameReader, AsksForMoreWhileReadsFillTheirChunk) {
  rt::ManualExecutor executor;
  auto [server, client] = MemoryConnection::MakePair();
  std::string stream;
  for (int i = 0; i < 10000; ++i) stream += Frame(std::string(96, 'x'));
  ASSERT_TRUE(executor.Run(client->Write(AsPieces(stream))).ok());
  FrameReader reader(*server);
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(executor.Run(Next(&reader)).ok());
  EXPECT_LE(reader.read_calls(), stream.size() / FrameReader::kChunkMin);
  EXPECT_LE(reader.bytes_copied(), stream.size() / 50);
}

}  // namespace
}  // namespace strom::rpc
