#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "rpc/messages.h"
#include "rt/pieces.h"
#include "rt/task.h"

namespace strom::rpc {

/// What is known of a connection's other end. Immutable once it is handed out; a new one is made when ApiVersions tells the name.
struct ConnectionInfo {
  std::string client_name{};     // of ApiVersions: "fluss" (Java), "fluss-rust" (Rust and Python); empty before it
  std::string client_version{};  // of ApiVersions; every Java client says "0.1.0"
  std::string peer_address{};    // "127.0.0.1:45678"
  std::string listener_name{};   // metadata names the endpoints of this listener
  ServerType server_type = ServerType::kUnknown;  // what this listening port is
  KnownCodes known_codes = KnownCodes::kAll;  // what answers may say: of the name, and of what the client asked for since
  bool internal = false;       // the internal listener: servers among themselves, no authorization
};

/// One request as it came. Views decoded from `body` stay valid while this (or a copy of `body`) lives.
struct Request {
  ApiKey api_key{};
  int16_t api_version = 0;
  int32_t request_id = 0;
  Buffer body{};  // the protobuf message
  std::shared_ptr<const ConnectionInfo> connection{};  // shared by the requests of a connection, which may outlive it
};

/// Serves the requests of a shard's connections.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  /// The encoded response body, or an error, which the client gets as an ErrorResponse (internal codes through ToWireCode).
  ///
  /// Called in the order of arrival; the next request of the connection is started when this coroutine suspends for the first time. So
  /// whatever must keep the order (the order of appends) happens before that. It is always run to its end, also when the
  /// connection is gone meanwhile.
  virtual rt::Task<Result<rt::Pieces>> Handle(Request request) = 0;
};

/// The request's message. A body that cannot be decoded is UNSUPPORTED_VERSION: clients retry CORRUPT_MESSAGE without end
/// (spec/wire-protocol.md 5.3), and the same bytes would only come again.
template <Message T>
Result<T> DecodeRequest(const Request& request) {
  T message;
  Status decoded = Decode(request.body, &message);
  if (!decoded.ok()) [[unlikely]] {
    return MakeError(ErrorCode::kUnsupportedVersion, "{} version {}: {}", ApiKeyName(request.api_key), request.api_version,
                     decoded.error().message);
  }
  return message;
}

/// The encoded response, with error codes that the caller's release knows.
template <Message T>
rt::Pieces EncodeAnswer(const Request& request, const T& response) {
  return Encode(response, request.connection == nullptr ? KnownCodes::kAll : request.connection->known_codes);
}

}  // namespace strom::rpc
