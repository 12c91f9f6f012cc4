#include "format/random_rows.h"
#include "format/row_codec.h"

// The first two bytes choose format and fields, the rest is the row.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom::format;
  if (size < 2) return 0;
  const auto format = static_cast<RowFormat>(data[0] % 3);
  const auto fields = RandomRows(data[1]).RandomFields(10, 3);
  const strom::ByteView row(data + 2, size - 2);
  const bool passes = CheckRow(format, fields, row).ok();
  const auto decoded = DecodeRow(format, fields, row);
  STROM_ASSERT(!passes || decoded.ok(), "passes the check, but: {}", decoded.ToString());
  (void)DecodeCompactedKey(fields, row).ok();
  return 0;
}
