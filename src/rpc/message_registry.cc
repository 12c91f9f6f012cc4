#include "rpc/message_registry.h"

namespace strom::rpc {

const RegisteredMessage* FindMessage(std::string_view name) {
  for (const RegisteredMessage& message : RegisteredMessages()) {
    if (message.info->name == name) return &message;
  }
  return nullptr;
}

}  // namespace strom::rpc
