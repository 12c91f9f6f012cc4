#include "rpc/frame.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "rpc/testing/hex.h"
#include "rt/pieces.h"

namespace strom::rpc {
namespace {

using testing::Hex;
using testing::ToHex;

constexpr std::string_view kMinusOne = "ffffffffffffffffff01";
constexpr std::string_view kMinusTwo = "feffffffffffffffff01";

std::string Digits(std::initializer_list<std::string_view> parts) {
  std::string digits;
  for (const std::string_view part : parts) digits += part;
  return ToHex(Hex(digits).view());
}

/// Bytes that live until the end of the program: decoded messages look into them.
const Buffer& KeptHex(std::string_view digits) {
  static std::deque<Buffer> kept;
  return kept.emplace_back(Hex(digits));
}

/// The captured request: its header and its body decoded; the body encoded again must be the same bytes.
template <Message T>
T ParseCaptured(const Buffer& frame, RequestHeader expected, bool same_bytes = true) {
  const Result<uint32_t> length = CheckRequestLength(frame.view().first(4), 1 << 20);
  EXPECT_TRUE(length.ok()) << length.ToString();
  EXPECT_EQ(*length, frame.size() - 4);
  const Buffer rest = frame.Slice(4, frame.size() - 4);
  const RequestHeader header = ParseRequestHeader(rest.view());
  EXPECT_EQ(header.api_key, expected.api_key);
  EXPECT_EQ(header.api_version, expected.api_version);
  EXPECT_EQ(header.request_id, expected.request_id);
  const Buffer body = rest.Slice(kRequestHeaderSize, rest.size() - kRequestHeaderSize);
  T message;
  const Status decoded = Decode(body, &message);
  EXPECT_TRUE(decoded.ok()) << decoded.ToString();
  if (same_bytes) {
    EXPECT_EQ(ToHex(rt::Flatten(EncodeRequestFrame(header, Encode(message)))->view()), ToHex(frame.view()));
  }
  return message;
}

template <Message T>
std::string ResponseDigits(int32_t request_id, const T& message) {
  MutableBuffer head;
  AppendResponseHead(ResponseType::kSuccess, request_id, EncodedSize(message), &head);
  rt::Pieces frame;
  frame.Add(head.Freeze());
  frame.Add(Encode(message));
  return ToHex(rt::Flatten(frame)->view());
}

template <Message T>
T ParseCapturedResponse(const Buffer& frame, int32_t request_id, Buffer* body) {
  const Result<ResponseFrame> response = ParseResponseFrame(frame.Slice(4, frame.size() - 4));
  EXPECT_TRUE(response.ok());
  EXPECT_EQ(response->type, ResponseType::kSuccess);
  EXPECT_EQ(response->request_id, request_id);
  *body = response->body;
  T message;
  const Status decoded = Decode(*body, &message);
  EXPECT_TRUE(decoded.ok()) << decoded.ToString();
  EXPECT_EQ(ResponseDigits(request_id, message), ToHex(frame.view()));
  return message;
}

// The frames below were captured from official clients: spec/wire-protocol.md 1.3.

TEST(CapturedFrames, FirstBytesOfEveryJavaConnection) {
  const Buffer frame = Hex("00000016 03e8 0000 00000000 0a05666c757373 1205302e312e30");
  const auto message = ParseCaptured<ApiVersionsRequest>(frame, {1000, 0, 0});
  EXPECT_EQ(message.client_software_name, "fluss");
  EXPECT_EQ(message.client_software_version, "0.1.0");
}

TEST(CapturedFrames, MetadataRequestWithAnEmptyPackedField) {
  const Buffer frame = Hex("0000000a 03f4 0000 00000001 1a00");
  const auto message = ParseCaptured<MetadataRequest>(frame, {1012, 0, 1}, /*same_bytes=*/false);
  EXPECT_TRUE(message.partitions_id.empty());
  EXPECT_TRUE(message.table_path.empty());
}

TEST(CapturedFrames, MetadataResponseThatTheJavaClientAccepts) {
  const Buffer frame =
      Hex("0000002b 00 00000001 0a11 0800 1209 3132372e302e302e31 18d3b102 1211 0801 1209 3132372e302e302e31 18d3b102");
  Buffer body;
  const auto message = ParseCapturedResponse<MetadataResponse>(frame, 1, &body);
  ASSERT_TRUE(message.coordinator_server);
  EXPECT_EQ(message.coordinator_server->host, "127.0.0.1");
  ASSERT_EQ(message.tablet_servers.size(), 1u);
  EXPECT_EQ(message.tablet_servers[0].node_id, 1);
  EXPECT_EQ(message.tablet_servers[0].port, 39123);
}

TEST(CapturedFrames, ListDatabases) {
  ParseCaptured<ListDatabasesRequest>(KeptHex("00000008 03eb 0000 00000001"), {1003, 0, 1});
  Buffer body;
  const auto message =
      ParseCapturedResponse<ListDatabasesResponse>(Hex("00000011 00 00000001 0a03646231 0a05666c757373"), 1, &body);
  EXPECT_EQ(message.database_name, (std::vector<std::string_view>{"db1", "fluss"}));
}

TEST(CapturedFrames, GetTableInfoAndItsError) {
  const auto message = ParseCaptured<GetTableInfoRequest>(
      KeptHex("00000013 03ef 0000 00000002 0a09 0a03646231 12027431"), {1007, 0, 2});
  EXPECT_EQ(message.table_path.database_name, "db1");
  EXPECT_EQ(message.table_path.table_name, "t1");

  const Buffer reply = Hex("00000016 01 00000002 0807 120d6e6f2073756368207461626c65");
  const Result<ResponseFrame> parsed = ParseResponseFrame(reply.Slice(4, reply.size() - 4));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->type, ResponseType::kError);
  EXPECT_EQ(parsed->request_id, 2);
  const Error error = DecodeErrorBody(parsed->body);
  EXPECT_EQ(error.code, ErrorCode::kTableNotExist);
  EXPECT_EQ(error.message, "no such table");
  rt::Pieces frame;
  MutableBuffer head;
  AppendResponseHead(ResponseType::kError, 2, EncodeErrorBody(error).size(), &head);
  frame.Add(head.Freeze());
  frame.Add(EncodeErrorBody(error));
  EXPECT_EQ(ToHex(rt::Flatten(frame)->view()), ToHex(reply.view()));
}

TEST(CapturedFrames, InitWriter) {
  ParseCaptured<InitWriterRequest>(KeptHex("00000008 0402 0000 00000005"), {1026, 0, 5});
  Buffer body;
  EXPECT_EQ(ParseCapturedResponse<InitWriterResponse>(Hex("00000007 00 00000005 0805"), 5, &body).writer_id, 5);
}

TEST(CapturedFrames, ProduceLogOfBothJavaReleases) {
  const std::string batch(360 * 2, 'a');
  const std::string bucket = Digits({"1000 1ae802", batch});
  const Buffer frame = Hex(Digits({"0000018b 03f6 0001 00000006 08", kMinusOne, "1000 18b0ea01 22ef02", bucket, "2802"}));
  const auto message = ParseCaptured<ProduceLogRequest>(frame, {1014, 1, 6});
  EXPECT_EQ(message.acks, -1);
  EXPECT_EQ(message.table_id, 0);
  EXPECT_EQ(message.timeout_ms, 30000);
  ASSERT_EQ(message.buckets_req.size(), 1u);
  EXPECT_EQ(message.buckets_req[0].bucket_id, 0);
  EXPECT_EQ(message.buckets_req[0].records.size(), 360u);
  EXPECT_EQ(message.buckets_req[0].routing_bucket_count, 2);
  EXPECT_FALSE(message.buckets_req[0].partition_id);
  EXPECT_FALSE(message.buckets_req[0].original_partition_name);

  const Buffer old = Hex(Digits({"00000189 03f6 0000 00000006 08", kMinusOne, "1000 18b0ea01 22ed02", bucket}));
  EXPECT_FALSE(ParseCaptured<ProduceLogRequest>(old, {1014, 0, 6}).buckets_req[0].routing_bucket_count);

  Buffer body;
  const auto answer = ParseCapturedResponse<ProduceLogResponse>(Hex("0000000b 00 00000006 0a04 1000 2800"), 6, &body);
  EXPECT_EQ(answer.buckets_resp.at(0).base_offset, 0);
  EXPECT_FALSE(answer.buckets_resp.at(0).error_code);
}

TEST(CapturedFrames, PutKvOfJavaAndPython) {
  const std::string batch(38 * 2, 'b');
  const Buffer java = Hex(
      Digits({"0000004b 03f8 0003 00000007 08", kMinusOne, "1001 18b0ea01 2200 2a2c 1000 1a26", batch, "2802 3000"}));
  const auto message = ParseCaptured<PutKvRequest>(java, {1016, 3, 7}, /*same_bytes=*/false);
  EXPECT_TRUE(message.target_columns.empty());
  EXPECT_EQ(message.agg_mode, 0);
  EXPECT_EQ(message.buckets_req.at(0).records.size(), 38u);

  const Buffer python =
      Hex(Digits({"00000045 03f8 0003 00000005 08", kMinusOne, "1001 18b0ea01 2a2a 1000 1a26", batch}));
  EXPECT_FALSE(ParseCaptured<PutKvRequest>(python, {1016, 3, 5}).agg_mode);
}

TEST(CapturedFrames, LookupOfAMissingKey) {
  const auto message =
      ParseCaptured<LookupRequest>(KeptHex("00000013 03f9 0001 00000008 0801 1207 1000 1a0107 2802"), {1017, 1, 8});
  EXPECT_EQ(message.buckets_req.at(0).keys, (std::vector<std::string_view>{"\x07"}));
  Buffer body;
  const auto answer = ParseCapturedResponse<LookupResponse>(Hex("0000000b 00 00000008 0a04 1000 2a00"), 8, &body);
  ASSERT_EQ(answer.buckets_resp.at(0).values.size(), 1u);
  EXPECT_FALSE(answer.buckets_resp[0].values[0].values);
}

TEST(CapturedFrames, FetchLogOfAClient) {
  const std::string table = Digits({"0800 1001 1a0101 2213 1000 18", kMinusTwo, "20808040 2802 220a 1001 1800 20808040 2802"});
  const Buffer frame = Hex(Digits({"00000049 03f7 0000 00000009 08", kMinusOne, "1080808008 1a28", table, "20f403 2801 3000"}));
  const auto message = ParseCaptured<FetchLogRequest>(frame, {1015, 0, 9});
  EXPECT_EQ(message.follower_server_id, kFollowerServerIdClient);
  EXPECT_EQ(message.max_bytes, 16 << 20);
  EXPECT_EQ(message.max_wait_ms, 500);
  EXPECT_EQ(message.min_bytes, 1);
  EXPECT_EQ(message.read_preference, static_cast<int32_t>(FetchLogReadPreference::kLocalFirst));
  const PbFetchLogReqForTable& asked = message.tables_req.at(0);
  EXPECT_TRUE(asked.projection_pushdown_enabled);
  EXPECT_EQ(asked.projected_fields, (std::vector<int32_t>{1}));
  EXPECT_EQ(asked.buckets_req.at(0).fetch_offset, kFetchOffsetEarliest);
  EXPECT_EQ(asked.buckets_req.at(1).fetch_offset, 0);
  EXPECT_EQ(asked.buckets_req.at(1).max_fetch_bytes, 1 << 20);
}

TEST(CapturedFrames, ScansAndOffsets) {
  const auto scan = ParseCaptured<LimitScanRequest>(KeptHex("00000010 0409 0000 0000000b 1001 2000 2805 3002"), {1033, 0, 11});
  EXPECT_EQ(scan.table_id, 1);
  EXPECT_EQ(scan.limit, 5);
  const auto open =
      ParseCaptured<ScanKvRequest>(KeptHex("00000017 0425 0000 0000000c 1206 0801 1800 2802 1800 2080808002"), {1061, 0, 12});
  EXPECT_EQ(open.bucket_scan_req->table_id, 1);
  EXPECT_EQ(open.call_seq_id, 0);
  EXPECT_EQ(open.batch_size_bytes, 4 << 20);
  const Buffer offsets = Hex(Digits({"0000001d 03fd 0000 0000000f 08", kMinusOne, "1001 1800 2a020001 3802"}));
  const auto asked = ParseCaptured<ListOffsetsRequest>(offsets, {1021, 0, 15});
  EXPECT_EQ(asked.bucket_id, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(asked.offset_type, static_cast<int32_t>(ListOffsetsType::kLatest));
}

TEST(CapturedFrames, AuthenticatePlain) {
  const auto message =
      ParseCaptured<AuthenticateRequest>(KeptHex("00000018 040e 0000 00000001 0a05504c41494e 1207 00626f62007077"), {1038, 0, 1});
  EXPECT_EQ(message.protocol, "PLAIN");
  EXPECT_EQ(message.token, std::string_view("\0bob\0pw", 7));
}

TEST(Frames, LengthsThatCannotBeAreRefused) {
  EXPECT_EQ(CheckRequestLength(Hex("ffffffff").view(), 100).code(), ErrorCode::kCorruptMessage);
  EXPECT_EQ(CheckRequestLength(Hex("00000007").view(), 100).code(), ErrorCode::kCorruptMessage);
  EXPECT_TRUE(CheckRequestLength(Hex("00000008").view(), 100).ok());
  // The limit counts the length bytes, too.
  EXPECT_EQ(*CheckRequestLength(Hex("00000060").view(), 100), 96u);
  EXPECT_EQ(CheckRequestLength(Hex("00000061").view(), 100).code(), ErrorCode::kRecordTooLarge);
}

TEST(Frames, RequestIdsAreEchoedBitForBit) {
  const RequestHeader header{1012, 0, -5};
  const Buffer frame = *rt::Flatten(EncodeRequestFrame(header, {}));
  EXPECT_EQ(ParseRequestHeader(frame.view().subspan(4)).request_id, -5);
}

TEST(Frames, ServerFailureHasNoRequestId) {
  const Buffer frame = *rt::Flatten(EncodeServerFailureFrame({ErrorCode::kCorruptMessage, "x"}));
  EXPECT_EQ(ToHex(frame.view()), "00000006" "02" "0803" "120178");
  const Result<ResponseFrame> parsed = ParseResponseFrame(frame.Slice(4, frame.size() - 4));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->type, ResponseType::kServerFailure);
  EXPECT_EQ(DecodeErrorBody(parsed->body).code, ErrorCode::kCorruptMessage);
}

TEST(Frames, InternalCodesAreNeverSent) {
  const Buffer body = *rt::Flatten(EncodeErrorBody({ErrorCode::kNoSpace, "full"}));
  EXPECT_EQ(DecodeErrorBody(body).code, ToWireCode(ErrorCode::kNoSpace));
  EXPECT_LT(DecodeErrorBody(body).code, ErrorCode::kIoError);
}

TEST(Frames, LongErrorMessagesAreCut) {
  const Buffer body = *rt::Flatten(EncodeErrorBody({ErrorCode::kUnknownServerError, std::string(100000, 'x')}));
  EXPECT_EQ(DecodeErrorBody(body).message.size(), 2048u);
}

TEST(Frames, ResponsesThatCannotBeAreRefused) {
  EXPECT_FALSE(ParseResponseFrame(Buffer()).ok());
  EXPECT_FALSE(ParseResponseFrame(Hex("00000000")).ok());
  EXPECT_FALSE(ParseResponseFrame(Hex("0300000001")).ok());
}

}  // namespace
}  // namespace strom::rpc
