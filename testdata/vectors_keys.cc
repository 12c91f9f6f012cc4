#include <gtest/gtest.h>

#include "format/bucketing.h"
#include "format/key_encoder.h"
#include "format/row_codec.h"
#include "vector.h"

namespace strom::vectors {
namespace {

using format::KeyFormat;
using format::LakeFormat;

KeyFormat KeyFormatOf(const std::string& encoder) {
  if (encoder == "paimon") return KeyFormat::kPaimon;
  if (encoder == "iceberg") return KeyFormat::kIceberg;
  if (encoder == "hudi") return KeyFormat::kHudi;
  EXPECT_EQ(encoder, "compacted");
  return KeyFormat::kCompacted;
}

LakeFormat LakeOf(KeyFormat format) {
  switch (format) {
    case KeyFormat::kPaimon:
      return LakeFormat::kPaimon;
    case KeyFormat::kIceberg:
      return LakeFormat::kIceberg;
    case KeyFormat::kHudi:
      return LakeFormat::kHudi;
    case KeyFormat::kCompacted:
      break;
  }
  return LakeFormat::kNone;
}

/// The key columns in key order, as positions: all columns, or those that `key_columns` names.
std::vector<size_t> KeyPositions(const Vector& vector, format::Fields fields) {
  std::vector<size_t> positions;
  if (!vector.has("key_columns")) {
    for (size_t i = 0; i < fields.size(); ++i) positions.push_back(i);
    return positions;
  }
  for (const Json& name : vector.at("key_columns")) {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].name == name.get<std::string>()) positions.push_back(i);
    }
  }
  return positions;
}

void CheckBuckets(LakeFormat lake, ByteView key, const Json& counts, const Json& buckets) {
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto bucket = format::BucketOf(lake, key, counts.at(i).get<int32_t>());
    ASSERT_TRUE(bucket.ok()) << bucket.ToString();
    EXPECT_EQ(*bucket, buckets.at(i).get<int32_t>()) << "of " << counts.at(i);
  }
}

void CheckKeys(const Vector& vector) {
  const auto fields = FieldsFrom(vector.at("columns"));
  const auto positions = KeyPositions(vector, fields);
  std::vector<model::DataField> key_fields;
  for (const size_t position : positions) key_fields.push_back(fields[position]);
  const KeyFormat format = KeyFormatOf(vector.text("encoder"));
  const auto encoder = format::KeyEncoder::Make(format, key_fields);
  ASSERT_TRUE(encoder.ok()) << encoder.ToString();

  for (const Json& test : vector.at("cases")) {
    const format::Value row = RowFrom(fields, test.at("row"));
    SCOPED_TRACE(row.ToString());
    format::Value::Items key;
    for (const size_t position : positions) key.push_back(row.items()[position]);

    MutableBuffer encoded;
    const Status status = encoder->Encode(key, &encoded);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(ToHex(encoded.view()), test.at("hex").get<std::string>());
    if (test.contains("buckets")) {
      CheckBuckets(LakeOf(format), encoded.view(), vector.at("num_buckets"), test.at("buckets"));
    } else {
      EXPECT_FALSE(format::BucketOf(LakeOf(format), encoded.view(), 7).ok()) << test.value("note", "");
    }
    if (format == KeyFormat::kCompacted) {
      const std::string bytes = FromHex(test.at("hex").get<std::string>());
      const auto decoded = format::DecodeCompactedKey(key_fields, AsBytes(bytes));
      ASSERT_TRUE(decoded.ok()) << decoded.ToString();
      EXPECT_EQ(*decoded, format::Value::Row(key));
    }
  }
}

void CheckUnsupportedKey(const Vector& vector) {
  const auto encoder = format::KeyEncoder::Make(KeyFormatOf(vector.text("encoder")), FieldsFrom(vector.at("columns")));
  EXPECT_EQ(encoder.code(), ErrorCode::kInvalidTable);
}

void CheckHashes(const Vector& vector) {
  for (const Json& test : vector.at("cases")) {
    const std::string key = FromHex(test.at("hex").get<std::string>());
    SCOPED_TRACE(test.at("hex").get<std::string>());
    const int32_t murmur = format::MurmurOfKey(AsBytes(key));
    EXPECT_EQ(murmur, test.at("murmur_seed42").get<int32_t>());
    EXPECT_EQ(format::MathMurmur(murmur), test.at("math_murmur").get<int32_t>());
    const Json& counts = vector.at("num_buckets");
    CheckBuckets(LakeFormat::kNone, AsBytes(key), counts, test.at("fluss"));
    CheckBuckets(LakeFormat::kPaimon, AsBytes(key), counts, test.at("paimon"));
    CheckBuckets(LakeFormat::kIceberg, AsBytes(key), counts, test.at("iceberg"));
  }
}

/// "encoder+bucketing" of each lake, or "encoder (bucket key) / encoder (primary key) + bucketing".
void CheckBucketingTable(const Vector& vector) {
  for (const auto& [name, expected] : vector.json.items()) {
    if (name == "id" || name == "kind" || name == "description") continue;
    SCOPED_TRACE(name);
    const auto lake = name == "null" ? Result<LakeFormat>(LakeFormat::kNone) : format::ParseLakeFormat(name);
    ASSERT_TRUE(lake.ok()) << lake.ToString();
    const std::string text = expected.get<std::string>();
    const bool two_encoders = text.find('/') != std::string::npos;
    const std::string encoder = text.substr(0, text.find_first_of("+ "));
    EXPECT_EQ(format::BucketKeyFormat(*lake), KeyFormatOf(encoder));
    EXPECT_EQ(format::PrimaryKeyFormat(*lake, 1, false), two_encoders ? KeyFormat::kCompacted : KeyFormatOf(encoder));
    EXPECT_EQ(format::PrimaryKeyFormat(*lake, 2, true), two_encoders ? KeyFormat::kCompacted : KeyFormatOf(encoder));
    EXPECT_EQ(format::PrimaryKeyFormat(*lake, 2, false), KeyFormat::kCompacted);
  }
}

}  // namespace

void AddKeyChecks(Checks* checks) {
  (*checks)["key"] = CheckKeys;
  (*checks)["key_unsupported"] = CheckUnsupportedKey;
  (*checks)["hash"] = CheckHashes;
  (*checks)["bucketing_table"] = CheckBucketingTable;
}

}  // namespace strom::vectors
