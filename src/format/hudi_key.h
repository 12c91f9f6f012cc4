#pragma once

#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "format/field_view.h"
#include "format/value.h"

namespace strom::format {

/// The Hudi bucket key: Java's List.hashCode of the columns' text forms, 4 bytes big-endian. Source: spec/formats.md 8.1.
/// Types that it cannot hold were refused before (KeyEncoder::Make).
Status EncodeHudiKey(Fields columns, std::span<const Value> values, MutableBuffer* out);

/// The text form of one value that is not null.
Result<std::string> HudiKeyText(const model::DataType& type, const Value& value);

/// Java's String.hashCode of UTF-8 text: 31-polynomial over its UTF-16 units.
int32_t JavaStringHash(std::string_view utf8);

}  // namespace strom::format
