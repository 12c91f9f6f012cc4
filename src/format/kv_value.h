#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"

namespace strom::format {

/// How a row lies in the KV store (spec/formats.md 13.1).
///
/// | layout | bytes |
/// |--------|-------|
/// | plain  | i16 LE schema id, row |
/// | tagged | i64 BE tag (the row's time), i16 LE schema id, row |
enum class KvValueLayout : uint8_t { kPlain = 1, kTagged = 2 };

struct KvValueView {
  int64_t tag = 0;  // tagged only
  int16_t schema_id = 0;
  ByteView row;
  ByteView body;  // schema id and row: what every response carries, never the tag
};

/// kCorruptData when the value is too short: it comes from our own store.
Result<KvValueView> DecodeKvValue(KvValueLayout layout, ByteView value);

/// Appends a value to `out`.
void AppendKvValue(int16_t schema_id, ByteView row, MutableBuffer* out);
void AppendTaggedKvValue(int64_t tag, int16_t schema_id, ByteView row, MutableBuffer* out);

}  // namespace strom::format
