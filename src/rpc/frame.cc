#include "rpc/frame.h"

#include <algorithm>
#include <string>

#include "base/endian.h"

namespace strom::rpc {

namespace {

// Sentences are for people; nothing that we say on purpose is this long.
constexpr size_t kErrorMessageMax = 2048;

rt::Pieces WithHead(MutableBuffer head, rt::Pieces body) {
  rt::Pieces frame;
  frame.Add(head.Freeze());
  frame.Add(std::move(body));
  return frame;
}

}  // namespace

Result<uint32_t> CheckRequestLength(ByteView length_bytes, size_t frame_size_max) {
  const int32_t length = LoadBe<int32_t>(length_bytes.data());
  if (length < static_cast<int32_t>(kRequestHeaderSize)) {
    return MakeError(ErrorCode::kCorruptMessage, "a request frame of length {} has no room for its header of {} bytes", length,
                     kRequestHeaderSize);
  }
  if (static_cast<size_t>(length) + kFrameLengthSize > frame_size_max) {
    return MakeError(ErrorCode::kRecordTooLarge,
                     "a request frame of {} bytes is larger than the {} bytes that netty.server.max-request-size allows",
                     static_cast<size_t>(length) + kFrameLengthSize, frame_size_max);
  }
  return static_cast<uint32_t>(length);
}

RequestHeader ParseRequestHeader(ByteView frame) {
  STROM_ASSERT(frame.size() >= kRequestHeaderSize, "a header in {} bytes", frame.size());
  return {.api_key = LoadBe<int16_t>(frame.data()),
          .api_version = LoadBe<int16_t>(frame.data() + 2),
          .request_id = LoadBe<int32_t>(frame.data() + 4)};
}

rt::Pieces EncodeRequestFrame(const RequestHeader& header, rt::Pieces body) {
  MutableBuffer head(kFrameLengthSize + kRequestHeaderSize);
  head.Resize(kFrameLengthSize + kRequestHeaderSize);
  STROM_ASSERT(body.size() <= INT32_MAX - kRequestHeaderSize, "a request of {} bytes", body.size());
  StoreBe(head.data(), static_cast<int32_t>(kRequestHeaderSize + body.size()));
  StoreBe(head.data() + 4, header.api_key);
  StoreBe(head.data() + 6, header.api_version);
  StoreBe(head.data() + 8, header.request_id);
  return WithHead(std::move(head), std::move(body));
}

void AppendResponseHead(ResponseType type, int32_t request_id, size_t body_size, MutableBuffer* out) {
  STROM_ASSERT(body_size <= kResponseBodyMax, "a response of {} bytes", body_size);
  uint8_t* head = out->Extend(kFrameLengthSize + kResponseHeaderSize);
  StoreBe(head, static_cast<int32_t>(kResponseHeaderSize + body_size));
  head[4] = static_cast<uint8_t>(type);
  StoreBe(head + 5, request_id);
}

rt::Pieces EncodeErrorBody(const Error& error, KnownCodes known) {
  return Encode(ErrorResponse{.error_code = static_cast<int32_t>(ToWireCode(error.code)),
                              .error_message = std::string_view(error.message).substr(0, kErrorMessageMax)},
                known);
}

rt::Pieces EncodeServerFailureFrame(const Error& error) {
  rt::Pieces body = EncodeErrorBody(error);
  MutableBuffer head(kFrameLengthSize + 1);
  head.Resize(kFrameLengthSize + 1);
  StoreBe(head.data(), static_cast<int32_t>(1 + body.size()));
  head.data()[4] = static_cast<uint8_t>(ResponseType::kServerFailure);
  return WithHead(std::move(head), std::move(body));
}

Result<ResponseFrame> ParseResponseFrame(const Buffer& frame) {
  if (frame.empty()) return MakeError(ErrorCode::kCorruptMessage, "an empty response frame");
  ResponseFrame response;
  response.type = static_cast<ResponseType>(frame.data()[0]);
  if (response.type == ResponseType::kServerFailure) {
    response.body = frame.Slice(1, frame.size() - 1);
    return response;
  }
  if (response.type != ResponseType::kSuccess && response.type != ResponseType::kError) {
    return MakeError(ErrorCode::kCorruptMessage, "a response frame of type {}", static_cast<int>(response.type));
  }
  if (frame.size() < kResponseHeaderSize) {
    return MakeError(ErrorCode::kCorruptMessage, "a response frame of {} bytes", frame.size());
  }
  response.request_id = LoadBe<int32_t>(frame.data() + 1);
  response.body = frame.Slice(kResponseHeaderSize, frame.size() - kResponseHeaderSize);
  return response;
}

Error DecodeErrorBody(const Buffer& body) {
  ErrorResponse response;
  const Status decoded = Decode(body, &response);
  if (!decoded.ok()) return decoded.error();
  return Error{static_cast<ErrorCode>(response.error_code),
               response.error_message ? std::string(*response.error_message)
                                      : std::string(ErrorCodeName(static_cast<ErrorCode>(response.error_code)))};
}

}  // namespace strom::rpc
