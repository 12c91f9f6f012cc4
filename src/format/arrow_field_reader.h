#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/arrow_metadata.h"
#include "format/field_view.h"

namespace strom::format {

/// Reads the fields of an Arrow record batch message as views, row by row, without Values (spec/formats.md 3): for the replay of changelogs. Takes any
/// Arrow writer's output, as DecodeArrowMessage() does. Columns without nested types only. Keeps its memory from message to message. Single owner.
class ArrowFieldReader {
 public:
  /// Whether the columns are such.
  static bool Takes(Fields fields);

  /// `fields` and `message` must stay as long as views are used. `bytes_max`: of all buffers, uncompressed. kCorruptRecord for what does not fit the
  /// fields or itself, then only Open() may follow; else every field inside the bounds can be read.
  Status Open(Fields fields, ByteView message, uint64_t bytes_max = uint64_t{1} << 30);

  int64_t record_count() const { return record_count_; }
  /// `row` is below record_count(). The view of a wide decimal holds until the column's next field is read. kCorruptRecord for a value that its type
  /// does not have.
  Status Read(size_t column, int64_t row, FieldView* view);

 private:
  struct Column {
    ByteView validity;  // empty: nothing is null
    ByteView offsets;
    ByteView values;
    uint32_t width = 0;
    MutableBuffer rooms[3];
    DecimalBytes decimal;
  };

  Result<ByteView> NextBuffer(const ArrowBatchMetadata& metadata, ByteView body, MutableBuffer* room);
  Status OpenColumn(const model::DataType& type, const ArrowBatchMetadata& metadata, ByteView body, Column* column);
  Status CheckOffsets(const model::DataType& type, const Column& column) const;
  Status ReadFixed(const model::DataType& type, Column* column, const uint8_t* slot, FieldView* view) const;

  Fields fields_;
  std::vector<Column> columns_;
  int64_t record_count_ = 0;
  uint64_t bytes_left_ = 0;
  size_t buffer_ = 0;
};

}  // namespace strom::format
