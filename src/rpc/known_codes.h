#pragma once

#include <cstdint>
#include <string_view>

namespace strom::rpc {

/// The error codes that a caller's release knows. A client turns any other code into UNKNOWN_SERVER_ERROR and does not retry
/// (spec/wire-protocol.md 5.1), so answers say theirs instead.
enum class KnownCodes : uint8_t {
  kAll,      // -1 to 74: Java 1.0.0, and servers and tools of our own
  kJava091,  // -1 to 63: Java 0.9.1
  kRust,     // -1 to 57 and 72: fluss-rs and pyfluss 1.0.0
};

/// What a client that gives this name in ApiVersions knows. Java 0.9.1 and 1.0.0 say the same ("fluss", "0.1.0") and are taken for
/// 0.9.1 until LearnFromRequest() knows better.
KnownCodes KnownCodesOfClient(std::string_view client_name);

/// What is known of a connection's client once it has sent this request: a key or version that 0.9.1 does not have comes from 1.0.0.
KnownCodes LearnFromRequest(KnownCodes known, int16_t api_key, int16_t api_version);

/// The code itself where the caller knows it, else the nearest one that it treats alike: retriable stays retriable.
int32_t ToKnownCode(int32_t code, KnownCodes known);

}  // namespace strom::rpc
