#pragma once

#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "rpc/field_reader.h"
#include "rt/pieces.h"

namespace strom::rpc {

/// A message by name, for tools and tests that meet any of them.
struct RegisteredMessage {
  const MessageInfo* info;
  /// Decodes the bytes as this message and encodes it again.
  Result<rt::Pieces> (*reencode)(const Buffer& bytes);
};

/// All messages of messages.tsv, in its order.
std::span<const RegisteredMessage> RegisteredMessages();
/// Null when there is no such message.
const RegisteredMessage* FindMessage(std::string_view name);

}  // namespace strom::rpc
