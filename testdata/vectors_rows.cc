#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "format/row_codec.h"
#include "format/varint.h"
#include "vector.h"

namespace strom::vectors {
namespace {

using format::RowFormat;

/// Each case: the row to its bytes, and the bytes back to the row.
void CheckRows(RowFormat row_format, const Vector& vector) {
  const auto fields = FieldsFrom(vector.at("columns"));
  for (const Json& test : vector.at("cases")) {
    const std::string hex = test.at("hex").get<std::string>();
    const std::string bytes = FromHex(hex);
    const format::Value row = RowFrom(fields, test.at("row"));
    SCOPED_TRACE(row.ToString());

    MutableBuffer encoded;
    const Status status = format::EncodeRow(row_format, fields, row, &encoded);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(ToHex(encoded.view()), hex);

    const auto decoded = format::DecodeRow(row_format, fields, AsBytes(bytes));
    EXPECT_TRUE(decoded.ok()) << decoded.ToString();
    if (decoded.ok()) {
      EXPECT_EQ(*decoded, row);
    }
    const Status check = format::CheckRow(row_format, fields, AsBytes(bytes));
    EXPECT_TRUE(check.ok()) << check.ToString();
  }
}

template <typename Unsigned>
void CheckVarint(Unsigned value, const std::string& hex) {
  MutableBuffer encoded;
  format::AppendVarint(value, &encoded);
  EXPECT_EQ(ToHex(encoded.view()), hex);
  Unsigned decoded = 0;
  const std::string bytes = FromHex(hex);
  EXPECT_EQ(format::GetVarint(AsBytes(bytes), &decoded), bytes.size());
  EXPECT_EQ(decoded, value);
}

/// 64 bits where the id says long.
void CheckVarints(const Vector& vector) {
  const bool is_long = vector.id.find("long") != std::string::npos;
  for (const Json& test : vector.at("cases")) {
    const auto value = test.at("value").get<int64_t>();
    const std::string hex = test.at("hex").get<std::string>();
    if (is_long) {
      CheckVarint(static_cast<uint64_t>(value), hex);
    } else {
      CheckVarint(static_cast<uint32_t>(value), hex);
    }
  }
}

void CheckCrcs(const Vector& vector) {
  for (const Json& test : vector.at("cases")) {
    const std::string bytes = FromHex(test.at("hex").get<std::string>());
    EXPECT_EQ(fmt::format("{:08x}", Crc32c(AsBytes(bytes))), test.at("crc").get<std::string>());
  }
}

}  // namespace

void AddRowChecks(Checks* checks) {
  (*checks)["row_compacted"] = [](const Vector& vector) { CheckRows(RowFormat::kCompacted, vector); };
  (*checks)["row_indexed"] = [](const Vector& vector) { CheckRows(RowFormat::kIndexed, vector); };
  (*checks)["row_aligned"] = [](const Vector& vector) { CheckRows(RowFormat::kAligned, vector); };
  (*checks)["varint"] = CheckVarints;
  (*checks)["crc"] = CheckCrcs;
}

}  // namespace strom::vectors
