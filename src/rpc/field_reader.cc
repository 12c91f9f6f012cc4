#include "rpc/field_reader.h"

#include <algorithm>

namespace strom::rpc {

namespace {

/// Steps over one varint; null when it does not end within ten bytes and before `end`.
const uint8_t* SkipVarint(const uint8_t* at, const uint8_t* end) {
  for (int i = 0; i < 10 && at != end; ++i) {
    if (*at++ < 0x80) return at;
  }
  return nullptr;
}

const uint8_t* ParseVarint(const uint8_t* at, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 70 && at != end; shift += 7) {
    const uint8_t byte = *at++;
    result |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  return nullptr;
}

/// Steps over the value of a field with `tag`; null when it is malformed or a group.
const uint8_t* SkipValue(uint32_t tag, const uint8_t* at, const uint8_t* end) {
  const size_t left = static_cast<size_t>(end - at);
  switch (static_cast<WireType>(tag & 7)) {
    case WireType::kVarint:
      return SkipVarint(at, end);
    case WireType::kFixed64:
      return left < 8 ? nullptr : at + 8;
    case WireType::kFixed32:
      return left < 4 ? nullptr : at + 4;
    case WireType::kLengthDelimited: {
      uint64_t length;
      at = ParseVarint(at, end, &length);
      if (at == nullptr || length > static_cast<uint64_t>(end - at)) return nullptr;
      return at + length;
    }
  }
  return nullptr;
}

}  // namespace

void FieldReader::Read(rt::Pieces* into) {
  ByteView bytes;
  if (!ReadLengthDelimited(&bytes)) return;
  *into = rt::Pieces();
  into->Add(context_.owner != nullptr ? context_.owner->SliceOf(bytes) : Buffer::CopyOf(bytes));
}

void FieldReader::Skip() {
  const uint8_t* next = SkipValue(tag_, at_, end_);
  if (next == nullptr) {
    const uint32_t wire_type = tag_ & 7;
    Fail(wire_type == 3 || wire_type == 4 ? "groups are not part of the protocol"
         : wire_type > 5                  ? "a wire type that does not exist"
                                          : "the message ends inside an unknown field");
    return;
  }
  at_ = next;
}

bool FieldReader::ReadLongVarint(uint64_t* value) {
  const uint8_t* next = ParseVarint(at_, end_, value);
  if (next == nullptr) {
    return Fail(end_ - at_ < 10 ? "the message ends inside a number" : "a number of more than ten bytes");
  }
  at_ = next;
  return true;
}

bool FieldReader::ReadLongTag() {
  uint64_t tag;
  tag_ = 0;
  if (!ReadLongVarint(&tag)) return false;
  if (tag > UINT32_MAX) return Fail("a tag of more than 32 bits");
  tag_ = static_cast<uint32_t>(tag);
  return true;
}

size_t FieldReader::CountVarints(ByteView run) {
  // A varint has exactly one byte without the continuation bit.
  return static_cast<size_t>(std::count_if(run.begin(), run.end(), [](uint8_t byte) { return byte < 0x80; }));
}

size_t FieldReader::CountElements() const {
  size_t count = 0;
  uint64_t tag = tag_;
  for (const uint8_t* at = at_; at != nullptr;) {
    if (tag == tag_) ++count;
    at = SkipValue(static_cast<uint32_t>(tag), at, end_);
    if (at == nullptr || at == end_) break;
    at = ParseVarint(at, end_, &tag);
    if (tag > UINT32_MAX) break;
  }
  return count;
}

bool FieldReader::Charge(size_t bytes) {
  if (bytes > context_.element_bytes_left) {
    return Fail("its repeated fields would take far more memory than the message itself");
  }
  context_.element_bytes_left -= bytes;
  return true;
}

bool FieldReader::Fail(std::string_view what) {
  if (context_.problem.empty()) context_.problem = what;
  return Abandon();
}

bool FieldReader::FailLength(uint64_t length) {
  if (context_.problem.empty()) {
    context_.problem = fmt::format("a length of {} where {} bytes are left", length, end_ - at_);
  }
  return Abandon();
}

void FieldReader::FailDepth() {
  if (context_.problem.empty()) {
    context_.problem = fmt::format("messages nest more than {} deep", kMessageDepthMax);
  }
  Abandon();
}

bool FieldReader::FinishBadly(const MessageInfo& message, uint32_t seen) {
  // The innermost message names the place; the ones around it pass the sentence on.
  if (context_.placed) return Abandon();
  context_.placed = true;
  if (failed_) {
    const uint32_t number = tag_ >> 3;
    std::string_view name = "an unknown field";
    for (const FieldInfo& field : message.fields) {
      if (field.number == number) name = field.name;
    }
    context_.problem = fmt::format("{}: {} ({}): {}", message.name, name, number, context_.problem);
    return false;
  }
  for (size_t k = 0; k < message.required.size(); ++k) {
    if ((seen >> k & 1) != 0) continue;
    context_.problem = fmt::format("{}: the required field {} is missing", message.name, message.required[k]);
    break;
  }
  return Abandon();
}

}  // namespace strom::rpc
