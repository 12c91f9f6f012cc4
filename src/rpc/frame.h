#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "rpc/messages.h"
#include "rt/pieces.h"

namespace strom::rpc {

// Frames. All integers are big-endian; `length` does not count its own four bytes. Source: spec/wire-protocol.md 1.
//
//   offset  request                     response (type 0, 1)        server failure (type 2)
//   0       int32 length = 8 + body     int32 length = 5 + body     int32 length = 1 + body
//   4       int16 api key               int8  type                  int8  type
//   5                                   int32 request id            ErrorResponse
//   6       int16 api version
//   8       int32 request id
//   9                                   body (type 1: ErrorResponse)
//   12      body
//
// The first request of a Java client: 00000016 03e8 0000 00000000 0a05666c757373 1205302e312e30.
inline constexpr size_t kFrameLengthSize = 4;
inline constexpr size_t kRequestHeaderSize = 8;   // after the length
inline constexpr size_t kResponseHeaderSize = 5;  // after the length; a server failure has 1

struct RequestHeader {
  int16_t api_key = 0;  // as sent: maybe no ApiKey at all
  int16_t api_version = 0;
  int32_t request_id = 0;  // echoed bit for bit; Java's wraps negative
};

/// Checks the four length bytes of a request frame. kCorruptMessage: negative or too short for a header. kRecordTooLarge: the whole
/// frame, length + 4, has more than `frame_size_max` bytes (netty.server.max-request-size). The connection ends either way.
Result<uint32_t> CheckRequestLength(ByteView length_bytes, size_t frame_size_max);
/// The header at the start of what follows the length; at least kRequestHeaderSize bytes.
RequestHeader ParseRequestHeader(ByteView frame);

/// A whole request frame with its length.
rt::Pieces EncodeRequestFrame(const RequestHeader& header, rt::Pieces body);
/// The largest body that a response frame can hold.
inline constexpr size_t kResponseBodyMax = INT32_MAX - kResponseHeaderSize;
/// Length, type and request id of a response whose body of `body_size` bytes follows. At most kResponseBodyMax.
void AppendResponseHead(ResponseType type, int32_t request_id, size_t body_size, MutableBuffer* out);
/// The body of a type-1 frame. Internal codes go through ToWireCode(); a long message is cut.
rt::Pieces EncodeErrorBody(const Error& error, KnownCodes known = KnownCodes::kAll);
/// A type-2 frame, after which the connection is closed.
rt::Pieces EncodeServerFailureFrame(const Error& error);

/// What a client reads: what follows the length of a response frame.
struct ResponseFrame {
  ResponseType type = ResponseType::kSuccess;
  int32_t request_id = 0;  // not in a server failure
  Buffer body{};           // type 0: the response's message; else an ErrorResponse
};
/// kCorruptMessage: too short, or a type that does not exist.
Result<ResponseFrame> ParseResponseFrame(const Buffer& frame);
/// The error that the body of a type-1 or type-2 frame carries.
Error DecodeErrorBody(const Buffer& body);

}  // namespace strom::rpc
