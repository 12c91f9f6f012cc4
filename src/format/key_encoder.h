#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/bucketing.h"
#include "format/field_view.h"
#include "format/value.h"
#include "model/data_type.h"

namespace strom::format {

/// How key columns become bytes (spec/formats.md 8.1).
enum class KeyFormat : uint8_t {
  kCompacted,  // compacted row without bitmap
  kPaimon,     // aligned row; no nested types
  kIceberg,    // one column, in Iceberg's single-value form
  kHudi,       // 4 bytes: Java's hash of the text forms; only routes
};

/// How the bucket key of a table is encoded.
KeyFormat BucketKeyFormat(LakeFormat lake);
/// How its primary key is encoded. `kv_format_version`: 1 where the table's option is absent. `default_bucket_key`: the bucket keys are the
/// primary key without partition columns.
KeyFormat PrimaryKeyFormat(LakeFormat lake, int32_t kv_format_version, bool default_bucket_key);

/// Encodes the key columns of rows, in key order.
class KeyEncoder {
 public:
  /// kInvalidTable, with the column, where the format cannot hold a type.
  static Result<KeyEncoder> Make(KeyFormat format, std::vector<model::DataField> key_columns);

  /// Appends the key of `values`, one for each key column, none of them null (Hudi takes nulls).
  Status Encode(std::span<const Value> values, MutableBuffer* out) const;

 private:
  KeyEncoder(KeyFormat format, std::vector<model::DataField> columns) : format_(format), columns_(std::move(columns)) {}

  KeyFormat format_;
  std::vector<model::DataField> columns_;
};

}  // namespace strom::format
