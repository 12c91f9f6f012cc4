#include "format/arrow_reader.h"

#include "format/arrow_layout.h"

namespace {

using strom::model::DataType;
using strom::model::TypeRoot;

/// A type of the next bytes; nested as deep as they say, up to `depth`.
DataType TypeOf(strom::ByteView* bytes, int depth) {
  if (bytes->empty()) return DataType::Of(TypeRoot::kInteger);
  const uint8_t byte = bytes->front();
  *bytes = bytes->subspan(1);
  const auto root = static_cast<TypeRoot>(byte % (depth > 0 ? 19 : 16));
  const int32_t parameter = byte / 19 % 10;
  switch (root) {
    case TypeRoot::kChar:
      return DataType::Char(parameter + 1);
    case TypeRoot::kBinary:
      return DataType::Binary(parameter + 1);
    case TypeRoot::kDecimal:
      return DataType::Decimal(parameter * 4 + 1, 1);
    case TypeRoot::kTime:
      return DataType::Time(parameter);
    case TypeRoot::kTimestamp:
      return DataType::Timestamp(parameter);
    case TypeRoot::kTimestampLtz:
      return DataType::TimestampLtz(parameter);
    case TypeRoot::kArray:
      return DataType::Array(TypeOf(bytes, depth - 1));
    case TypeRoot::kMap: {
      const DataType key = TypeOf(bytes, depth - 1);
      return DataType::Map(key, TypeOf(bytes, depth - 1));
    }
    case TypeRoot::kRow: {
      std::vector<strom::model::DataField> fields(static_cast<size_t>(parameter % 4));
      for (auto& field : fields) field.type = TypeOf(bytes, depth - 1);
      return DataType::Row(fields);
    }
    default:
      return DataType::Of(root);
  }
}

}  // namespace

// The first byte is the number of columns, the next ones their types, the rest a message.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strom::ByteView bytes(data, size);
  if (bytes.empty()) return 0;
  const size_t columns = 1 + bytes.front() % 4;
  bytes = bytes.subspan(1);
  strom::model::Schema schema;
  for (size_t i = 0; i < columns; ++i) {
    strom::model::Column column;
    column.type = TypeOf(&bytes, 3);
    schema.columns.push_back(column);
  }
  const strom::format::ArrowReadLimits limits{.bytes_max = 1 << 20, .values_max = 1 << 16};
  (void)strom::format::DecodeArrowMessage(bytes, schema, limits).ok();
  return 0;
}
