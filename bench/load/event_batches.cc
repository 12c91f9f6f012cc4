#include "load/event_batches.h"

#include <algorithm>
#include <string>

#include "base/random.h"
#include "format/arrow_writer.h"

namespace strom::bench {

namespace {

constexpr int32_t kFixedBytes = 8 + 4 + 8 + 8 + 20;

/// Short words and some numbers, so that it compresses about as business data does (2 to 4 times).
class Texts {
 public:
  explicit Texts(uint64_t seed) : random_(seed) {
    for (std::string& word : words_) {
      for (int64_t i = random_.Between(3, 9); i > 0; --i) word.push_back(static_cast<char>('a' + random_.Below(26)));
    }
  }
  std::string Make(size_t size) {
    std::string text;
    while (text.size() < size) {
      text += words_[random_.Below(std::size(words_))];
      if (random_.OneIn(10)) text += std::to_string(random_.Below(1'000'000));
      text.push_back(' ');
    }
    text.resize(size);
    return text;
  }

 private:
  Random random_;
  std::string words_[1000];
};

}  // namespace

model::Schema EventSchema() {
  using model::DataType;
  using model::TypeRoot;
  model::Schema schema;
  const auto add = [&](const char* name, DataType type) {
    model::Column column;
    column.name = name;
    column.type = std::move(type);
    schema.columns.push_back(std::move(column));
  };
  add("id", DataType::Of(TypeRoot::kBigInt));
  add("device", DataType::Of(TypeRoot::kInteger));
  add("value", DataType::Of(TypeRoot::kDouble));
  add("time", DataType::TimestampLtz(3));
  add("name", DataType::Of(TypeRoot::kString));
  add("payload", DataType::Of(TypeRoot::kString));
  model::AssignFieldIds(&schema);
  return schema;
}

Result<std::vector<Buffer>> MakeEventBatches(const BatchOptions& options) {
  using format::Value;
  const model::Schema schema = EventSchema();
  const auto payload_bytes = static_cast<size_t>(std::max(4, options.row_bytes - kFixedBytes));
  Texts names(1);
  Texts payloads(2);
  std::vector<Buffer> batches;
  int64_t id = 0;
  for (int32_t i = 0; i < options.count; ++i) {
    std::vector<Value> rows;
    for (int32_t row = 0; row < options.rows; ++row, ++id) {
      rows.push_back(Value::Row({Value::Integer(id), Value::Integer(id % 1000), Value::Double(static_cast<double>(id) * 0.25),
                                 Value::Timestamp(1'700'000'000'000 + id), Value::String(names.Make(20)),
                                 Value::String(payloads.Make(payload_bytes))}));
    }
    format::ArrowCompression compression;
    if (options.compressed) compression.codec = format::ArrowCodec::kZstd;
    STROM_ASSIGN(Buffer batch, format::BuildArrowLogBatch({}, schema, {.rows = rows}, compression));
    batches.push_back(std::move(batch));
  }
  return batches;
}

}  // namespace strom::bench
