#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "meta/meta_store.h"

namespace strom::meta {

/// A node as the embedded store keeps it, little-endian:
///
/// | offset | size | field |
/// | --- | --- | --- |
/// | 0 | 1 | format, 1 |
/// | 1 | 1 | flags: bit 0 ephemeral; the others 0 |
/// | 2 | 4 | version |
/// | 6 | 8 | created_at |
/// | 14 | rest | data |
std::string EncodeNodeRecord(const Node& node);
/// kCorruptData for anything else than such a record.
Result<Node> DecodeNodeRecord(std::string_view record);

}  // namespace strom::meta
