#include "rpc/messages.h"

#include <gtest/gtest.h>

#include <string>

#include "rpc/message_registry.h"
#include "rpc/testing/hex.h"
#include "rt/pieces.h"

namespace strom::rpc {
namespace {

using testing::Hex;
using testing::ToHex;

template <Message T>
std::string EncodedDigits(const T& message) {
  const Buffer bytes = *rt::Flatten(Encode(message));
  EXPECT_EQ(bytes.size(), EncodedSize(message));
  return ToHex(bytes.view());
}

template <Message T>
std::string DecodeProblem(std::string_view digits) {
  const Buffer bytes = Hex(digits);
  T message;
  const Status status = Decode(bytes, &message);
  EXPECT_EQ(status.code(), ErrorCode::kCorruptMessage) << digits;
  return status.ok() ? "decoded" : status.error().message;
}

TEST(Decode, NamesTheRequiredFieldThatIsMissing) {
  EXPECT_EQ(DecodeProblem<GetTableInfoRequest>("0a05 0a03646231"),
            "GetTableInfoRequest of 7 bytes cannot be decoded: PbTablePath: the required field table_name is missing");
  EXPECT_EQ(DecodeProblem<GetTableInfoRequest>(""),
            "GetTableInfoRequest of 0 bytes cannot be decoded: GetTableInfoRequest: the required field table_path is missing");
}

TEST(Decode, SkipsUnknownFieldsOfEveryWireType) {
  const Buffer bytes = Hex("5001 59 0102030405060708 6203616263 6d 01020304 0805 f2ffffff0f 0178");
  InitWriterResponse message;
  const Status status = Decode(bytes, &message);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(message.writer_id, 5);
}

TEST(Decode, SkipsAKnownFieldThatHasAnotherWireType) {
  const Buffer bytes = Hex("0a0101 0805");
  InitWriterResponse message;
  ASSERT_TRUE(Decode(bytes, &message).ok());
  EXPECT_EQ(message.writer_id, 5);
}

TEST(Decode, RefusesGroupsAndWireTypesThatDoNotExist) {
  for (const std::string_view digits : {"53 54 0805", "54 0805", "56 0805", "57 0805"}) {
    DecodeProblem<InitWriterResponse>(digits);
  }
  EXPECT_NE(DecodeProblem<InitWriterResponse>("53 54 0805").find("groups"), std::string::npos);
  EXPECT_NE(DecodeProblem<InitWriterResponse>("0001 0805").find("field number 0"), std::string::npos);
}

TEST(Decode, ReadsRepeatedNumbersPackedUnpackedEmptyAndInSeveralRuns) {
  const Buffer bytes = Hex("1a00 1a020102 1803 1a00 1a0304ac02 18ffffffffffffffffff01");
  MetadataRequest message;
  ASSERT_TRUE(Decode(bytes, &message).ok());
  EXPECT_EQ(message.partitions_id, (std::vector<int64_t>{1, 2, 3, 4, 300, -1}));
  // force_finished_tables is the one that is declared unpacked.
  const Buffer heartbeat = Hex("2a020102 2803");
  LakeTieringHeartbeatRequest tiering;
  ASSERT_TRUE(Decode(heartbeat, &tiering).ok());
  EXPECT_EQ(tiering.force_finished_tables, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(EncodedDigits(tiering), "280128022803");
}

TEST(Decode, RefusesAPackedRunThatEndsInsideANumber) {
  EXPECT_NE(DecodeProblem<MetadataRequest>("1a0280ff 1801").find("partitions_id"), std::string::npos);
}

TEST(Decode, TakesTheLastOfSeveralScalarsAndTheLastMessage) {
  const Buffer bytes = Hex("0805 0807");
  InitWriterResponse writer;
  ASSERT_TRUE(Decode(bytes, &writer).ok());
  EXPECT_EQ(writer.writer_id, 7);
  const Buffer twice = Hex("0a06 0a0161 120162 0a06 0a0163 120164");
  GetTableInfoRequest table;
  ASSERT_TRUE(Decode(twice, &table).ok());
  EXPECT_EQ(table.table_path.table_name, "d");
}

TEST(Decode, BoundsLengthsByWhatIsLeft) {
  EXPECT_NE(DecodeProblem<ListDatabasesResponse>("0a05 616263").find("a length of 5 where 3 bytes are left"), std::string::npos);
  EXPECT_NE(DecodeProblem<ListDatabasesResponse>("0a ffffffffffffffffff01 61").find("ListDatabasesResponse: database_name (1)"),
            std::string::npos);
  // Inside a message the message's end counts, not the buffer's.
  DecodeProblem<GetTableInfoRequest>("0a05 0a03646231 120162");
  DecodeProblem<GetTableInfoRequest>("0a03 0a0464 62 31 61 120162");
}

TEST(Decode, RefusesNumbersOfMoreThanTenBytesAndCutOnes) {
  EXPECT_NE(DecodeProblem<InitWriterResponse>("08 ffffffffffffffffffff01").find("more than ten bytes"), std::string::npos);
  DecodeProblem<InitWriterResponse>("08 ff");
  DecodeProblem<InitWriterResponse>("08");
  DecodeProblem<InitWriterResponse>("88");
  DecodeProblem<PbPutKvRespForBucket>("1000 35 0000");
  // Skipping is as strict as reading.
  DecodeProblem<InitWriterResponse>("0805 50 ffffffffffffffffffff01");
}

TEST(Decode, KeepsTheLowHalfOfA32BitNumber) {
  const Buffer bytes = Hex("0885ffffffff1f");
  ErrorResponse message;
  ASSERT_TRUE(Decode(bytes, &message).ok());
  EXPECT_EQ(message.error_code, static_cast<int32_t>(0xFFFFFF85));
}

/// A predicate of `depth` levels, each AND of one.
std::string NestedPredicate(int depth) {
  std::string bytes("\x08\x00", 2);  // a predicate without leaf
  const auto wrap = [](char tag, std::string head, const std::string& inner) {
    std::string length;
    size_t size = inner.size();
    for (; size >= 0x80; size >>= 7) length.push_back(static_cast<char>(size | 0x80));
    length.push_back(static_cast<char>(size));
    return head + tag + length + inner;
  };
  for (int level = 1; level < depth; ++level) {
    bytes = wrap('\x12', std::string("\x08\x00", 2), bytes);  // compound.children
    bytes = wrap('\x1a', std::string("\x08\x01", 2), bytes);  // predicate.compound
  }
  return bytes;
}

TEST(Decode, ReadsPredicatesToADepthOf64AndSaysSoBeyond) {
  PbPredicate predicate;
  const std::string deep = NestedPredicate(64);
  ASSERT_TRUE(Decode(AsBytes(deep), &predicate).ok());
  EXPECT_EQ(rt::Flatten(Encode(predicate))->text(), deep);
  const std::string deeper = NestedPredicate(100);
  const Status status = Decode(AsBytes(deeper), &predicate);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("nest more than 130 deep"), std::string::npos) << status.ToString();
  const std::string absurd = NestedPredicate(2000);
  EXPECT_FALSE(Decode(AsBytes(absurd), &predicate).ok());
}

TEST(Decode, BoundsTheMemoryOfManyTinyElements) {
  // Two bytes each on the wire, over a hundred in memory.
  std::string bytes;
  for (int i = 0; i < 2500000; ++i) bytes += std::string("\x1a\x00", 2);
  PbLeafPredicate message;
  const Status status = Decode(AsBytes(bytes), &message);
  ASSERT_FALSE(status.ok());
  std::string values("\x10\x00", 2);
  for (int i = 0; i < 2500000; ++i) values += std::string("\x2a\x00", 2);
  PbLookupRespForBucket lookup;
  EXPECT_NE(Decode(AsBytes(values), &lookup).ToString().find("far more memory"), std::string::npos);
}

TEST(Decode, ReservesTheVectorOfBucketsOnce) {
  ProduceLogRequest request{.acks = -1, .table_id = 1, .timeout_ms = 1000};
  for (int32_t bucket = 0; bucket < 37; ++bucket) request.buckets_req.push_back({.bucket_id = bucket, .records = "records"});
  const Buffer bytes = *rt::Flatten(Encode(request));
  ProduceLogRequest decoded;
  ASSERT_TRUE(Decode(bytes, &decoded).ok());
  EXPECT_EQ(decoded.buckets_req.size(), 37u);
  EXPECT_EQ(decoded.buckets_req.capacity(), 37u);
  EXPECT_EQ(decoded.buckets_req[36].records, "records");
  EXPECT_GE(decoded.buckets_req[0].records.data(), reinterpret_cast<const char*>(bytes.data()));
}

TEST(Encode, WritesNegativeNumbersAsTenBytesAndTrueAsOne) {
  EXPECT_EQ(EncodedDigits(ErrorResponse{.error_code = -1}), "08ffffffffffffffffff01");
  EXPECT_EQ(EncodedDigits(DatabaseExistsResponse{.exists = true}), "0801");
  EXPECT_EQ(EncodedDigits(DatabaseExistsResponse{.exists = false}), "0800");
  const PbPutKvRespForBucket pressure{.bucket_id = 1, .pressure = 0.5f};
  EXPECT_EQ(EncodedDigits(pressure), "1001" "350000003f");
}

TEST(Encode, TellsAnAbsentValueFromAnEmptyOne) {
  EXPECT_EQ(EncodedDigits(PbValue{}), "");
  EXPECT_EQ(EncodedDigits(PbValue{.values = ""}), "0a00");
  EXPECT_EQ(EncodedDigits(LimitScanResponse{.is_log_table = false, .records = rt::Pieces()}), "1800" "2200");
}

TEST(Encode, LeavesRecordsAsThePiecesTheyAre) {
  const Buffer records = Buffer::CopyOf(std::string(1000, 'r'));
  rt::Pieces pieces;
  pieces.Add(records);
  FetchLogResponse response;
  PbFetchLogRespForTable& table = response.tables_resp.emplace_back();
  table.table_id = 7;
  for (int32_t bucket = 0; bucket < 2; ++bucket) {
    PbFetchLogRespForBucket& answer = table.buckets_resp.emplace_back();
    answer.bucket_id = bucket;
    answer.error_message = response.arena.Keep(fmt::format("bucket {}", bucket));
    answer.high_watermark = 10;
    answer.records = pieces;
    answer.filtered_end_offset = 3;
  }
  const rt::Pieces encoded = Encode(response);
  EXPECT_EQ(encoded.size(), EncodedSize(response));
  ASSERT_EQ(encoded.pieces().size(), 5u);  // memory, records, memory, records, memory
  EXPECT_EQ(std::get<Buffer>(encoded.pieces()[1]).data(), records.data());

  const Buffer bytes = *rt::Flatten(encoded);
  FetchLogResponse decoded;
  ASSERT_TRUE(Decode(bytes, &decoded).ok());
  ASSERT_EQ(decoded.tables_resp.at(0).buckets_resp.size(), 2u);
  const PbFetchLogRespForBucket& second = decoded.tables_resp[0].buckets_resp[1];
  EXPECT_EQ(second.error_message, "bucket 1");
  EXPECT_EQ(rt::Flatten(*second.records)->text(), records.text());
  EXPECT_EQ(second.filtered_end_offset, 3);
  // Decoded from a Buffer they are slices of it.
  const Buffer& slice = std::get<Buffer>(second.records->pieces().at(0));
  EXPECT_GT(slice.data(), bytes.data());
  EXPECT_LT(slice.data(), bytes.data() + bytes.size());
}

TEST(Encode, KeepsTextsOfTheArenaWhenTheResponseMoves) {
  ListTablesResponse response;
  for (int i = 0; i < 20; ++i) response.table_name.push_back(response.arena.Keep(fmt::format("t{}", i)));
  const ListTablesResponse moved = std::move(response);
  EXPECT_EQ(moved.table_name[19], "t19");
  EXPECT_EQ(moved.table_name[0], "t0");
}

TEST(Registry, KnowsEveryMessage) {
  EXPECT_EQ(RegisteredMessages().size(), 214u);
  ASSERT_NE(FindMessage("ProduceLogRequest"), nullptr);
  EXPECT_EQ(FindMessage("NoSuchRequest"), nullptr);
  EXPECT_EQ(ApiKeyName(ApiKey::kProduceLog), "PRODUCE_LOG");
  EXPECT_EQ(ApiKeyName(static_cast<ApiKey>(7)), "");
}

}  // namespace
}  // namespace strom::rpc
