#pragma once

#include <concepts>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "rpc/field_reader.h"
#include "rpc/field_writer.h"
#include "rt/pieces.h"

namespace strom::rpc {

/// A struct that tools/generate_messages.py made from spec/messages.tsv.
template <typename T>
concept Message = requires { { T::kMessageName } -> std::convertible_to<std::string_view>; };

namespace internal {
template <Message T>
Status DecodeWith(DecodeContext context, ByteView bytes, T* message) {
  *message = T{};
  FieldReader reader(bytes, context);
  if (DecodeFields(reader, message)) [[likely]] return Status::OK();
  return MakeError(ErrorCode::kCorruptMessage, "{} of {} bytes cannot be decoded: {}", T::kMessageName, bytes.size(),
                   context.problem);
}
}  // namespace internal

/// Decodes the protobuf bytes of one message by the rules of spec/wire-protocol.md 2. Texts and bytes are views into `bytes`, which the
/// caller keeps alive; `records` fields of responses (rt::Pieces) are slices of the buffer. kCorruptMessage: malformed, too deep, or a
/// required field is missing; the message is then in no particular state.
template <Message T>
Status Decode(const Buffer& bytes, T* message) {
  DecodeContext context(bytes.size());
  context.owner = &bytes;
  return internal::DecodeWith(std::move(context), bytes.view(), message);
}
/// The same for bytes without a Buffer; `records` fields of responses are copied.
template <Message T>
Status Decode(ByteView bytes, T* message) {
  return internal::DecodeWith(DecodeContext(bytes.size()), bytes, message);
}

/// Bytes of the encoded message, Pieces fields included.
template <Message T>
size_t EncodedSize(const T& message) {
  SizeCounter size;
  EncodeFields(message, size);
  return size.total();
}

/// The encoded message: one buffer, with the Pieces fields between its parts. The result looks at nothing of `message` any more.
/// Its error codes, at any depth, are those that `known` names; a handler answers with EncodeAnswer() (rpc/request_handler.h).
template <Message T>
rt::Pieces Encode(const T& message, KnownCodes known = KnownCodes::kAll) {
  SizeCounter size(known);
  EncodeFields(message, size);
  BackwardWriter writer(size.total() - size.outside(), known);
  EncodeFields(message, writer);
  return writer.Finish();
}

/// Appends the encoded message to `out`.
template <Message T>
void EncodeTo(const T& message, rt::Pieces* out) {
  out->Add(Encode(message));
}

}  // namespace strom::rpc
