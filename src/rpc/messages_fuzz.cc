// The first two bytes choose the message; what is read must be written to bytes that are read again and have the same size.

#include "base/assert.h"
#include "rpc/message_registry.h"
#include "rt/pieces.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom;
  if (size < 2) return 0;
  const auto messages = rpc::RegisteredMessages();
  const rpc::RegisteredMessage& message = messages[static_cast<size_t>(data[0] | data[1] << 8) % messages.size()];
  const Result<rt::Pieces> once = message.reencode(Buffer::CopyOf(ByteView(data + 2, size - 2)));
  if (!once.ok()) return 0;
  const Result<rt::Pieces> twice = message.reencode(*rt::Flatten(*once));
  STROM_ASSERT(twice.ok(), "{} is not read again: {}", message.info->name, twice.ToString());
  STROM_ASSERT(rt::Flatten(*once)->text() == rt::Flatten(*twice)->text(), "{} changes", message.info->name);
  return 0;
}
