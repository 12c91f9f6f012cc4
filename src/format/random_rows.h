#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "format/value.h"
#include "model/data_type.h"

namespace strom::format {

/// Random types and values for property tests and fuzz entries: the same seed, the same rows.
class RandomRows {
 public:
  explicit RandomRows(uint64_t seed) : random_(seed) {}

  std::vector<model::DataField> RandomFields(size_t count_max, int depth_max) {
    std::vector<model::DataField> fields;
    for (size_t i = 1 + random_.Below(count_max); i > 0; --i) {
      fields.push_back({.name = "f" + std::to_string(fields.size()), .type = RandomType(depth_max), .description = {}, .field_id = -1});
    }
    return fields;
  }

  model::DataType RandomType(int depth_max) {
    using model::DataType;
    using model::TypeRoot;
    const auto root = static_cast<TypeRoot>(random_.Below(depth_max > 0 ? 19 : 16));
    switch (root) {
      case TypeRoot::kChar:
        return DataType::Char(static_cast<int32_t>(random_.Between(1, 20)));
      case TypeRoot::kBinary:
        return DataType::Binary(static_cast<int32_t>(random_.Between(1, 20)));
      case TypeRoot::kDecimal: {
        const auto precision = static_cast<int32_t>(random_.Between(1, 38));
        return DataType::Decimal(precision, static_cast<int32_t>(random_.Between(0, precision)));
      }
      case TypeRoot::kTime:
        return DataType::Time(static_cast<int32_t>(random_.Between(0, 9)));
      case TypeRoot::kTimestamp:
        return DataType::Timestamp(static_cast<int32_t>(random_.Between(0, 9)));
      case TypeRoot::kTimestampLtz:
        return DataType::TimestampLtz(static_cast<int32_t>(random_.Between(0, 9)));
      case TypeRoot::kArray:
        return DataType::Array(RandomType(depth_max - 1));
      case TypeRoot::kMap:
        return DataType::Map(RandomType(depth_max - 1), RandomType(depth_max - 1));
      case TypeRoot::kRow:
        return DataType::Row(RandomFields(4, depth_max - 1));
      default:
        return DataType::Of(root);
    }
  }

  Value RandomRow(const std::vector<model::DataField>& fields) {
    Value::Items items;
    for (const model::DataField& field : fields) items.push_back(RandomValue(field.type));
    return Value::Row(std::move(items));
  }

  Value RandomValue(const model::DataType& type) {
    using model::TypeRoot;
    if (random_.OneIn(5)) return Value::Null();
    switch (type.root) {
      case TypeRoot::kBoolean:
        return Value::Boolean(random_.OneIn(2));
      case TypeRoot::kTinyInt:
        return Value::Integer(static_cast<int8_t>(RandomBits()));
      case TypeRoot::kSmallInt:
        return Value::Integer(static_cast<int16_t>(RandomBits()));
      case TypeRoot::kInteger:
      case TypeRoot::kDate:
      case TypeRoot::kTime:
        return Value::Integer(static_cast<int32_t>(RandomBits()));
      case TypeRoot::kBigInt:
        return Value::Integer(static_cast<int64_t>(RandomBits()));
      case TypeRoot::kFloat:
        return Value::Float(std::bit_cast<float>(static_cast<uint32_t>(RandomBits())));
      case TypeRoot::kDouble:
        return Value::Double(std::bit_cast<double>(RandomBits()));
      case TypeRoot::kChar:
      case TypeRoot::kString:
        return Value::String(RandomText(type.root == TypeRoot::kChar ? static_cast<size_t>(type.length) : 30));
      case TypeRoot::kBinary:
      case TypeRoot::kBytes:
        return Value::String(RandomBytes(type));
      case TypeRoot::kDecimal: {
        const auto wide = static_cast<Int128>(static_cast<unsigned __int128>(RandomBits()) << 64 | RandomBits());
        return Value::Decimal(wide % PowerOfTen(static_cast<int32_t>(random_.Between(1, type.precision))));
      }
      case TypeRoot::kTimestamp:
      case TypeRoot::kTimestampLtz:
        return Value::Timestamp(static_cast<int64_t>(RandomBits()),
                                type.is_compact_timestamp() ? 0 : static_cast<int32_t>(random_.Below(1'000'000)));
      case TypeRoot::kArray:
        return Value::Array(RandomItems(type, random_.Below(40)));
      case TypeRoot::kMap:
        return Value::Map(RandomItems(type, 2 * random_.Below(4)));
      case TypeRoot::kRow:
        break;
    }
    return RandomRow(*type.fields);
  }

 private:
  /// All widths are as likely, so that varints and bounds are met.
  uint64_t RandomBits() {
    const uint64_t bits = random_.Next() >> random_.Below(64);
    return random_.OneIn(2) ? bits : ~bits;
  }
  std::string RandomText(size_t size_max) {
    std::string text;
    for (size_t size = random_.Below(size_max + 1); text.size() < size;) text += static_cast<char>('a' + random_.Below(26));
    return text;
  }
  /// BINARY(n) has exactly n bytes.
  std::string RandomBytes(const model::DataType& type) {
    std::string bytes(type.root == model::TypeRoot::kBinary ? static_cast<size_t>(type.length) : random_.Below(30), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_.Next());
    return bytes;
  }
  Value::Items RandomItems(const model::DataType& type, size_t count) {
    Value::Items items;
    for (size_t i = 0; i < count; ++i) items.push_back(RandomValue((*type.fields)[i % type.fields->size()].type));
    return items;
  }

  Random random_;
};

}  // namespace strom::format
