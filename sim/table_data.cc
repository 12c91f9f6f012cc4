#include "sim/table_data.h"

#include <algorithm>

#include "format/arrow_writer.h"

namespace strom::sim {

model::TableDescriptor MakeTableDescriptor(const Settings& settings) {
  const auto column = [](std::string name, model::TypeRoot root, bool nullable) {
    return model::Column{.name = std::move(name), .type = model::DataType::Of(root, nullable), .comment = {}, .aggregate = {}, .id = -1};
  };
  model::TableDescriptor table;
  table.schema.columns = {column("id", model::TypeRoot::kBigInt, false), column("a", model::TypeRoot::kInteger, true),
                          column("s", model::TypeRoot::kString, true)};
  table.has_distribution = true;
  table.bucket_count = settings.buckets;
  table.properties["table.log.format"] = "arrow";
  table.properties["table.log.ttl"] = fmt::format("{} ms", settings.ttl_ms);
  if (settings.statistics) table.properties["table.statistics.columns"] = "a,s";
  return table;
}

std::string SentBatch::ToString() const {
  const std::string who = idempotent() ? fmt::format("writer {} batch {}", writer, sequence) : "no writer";
  return fmt::format("[{}, {} rows, bucket {}, crc {:08x}]", who, rows.size(), bucket, header.crc);
}

std::vector<format::Value> SentBatches::MakeRow(size_t columns) {
  static constexpr const char* kTexts[] = {"", "a", "ab", "abc", "b", "zz"};
  std::vector<format::Value> row;
  row.push_back(format::Value::Integer(next_id_++));
  if (random_.OneIn(8)) {
    row.push_back(format::Value::Null());
  } else {
    const int64_t edge = random_.OneIn(20) ? INT32_MAX : random_.OneIn(20) ? INT32_MIN : random_.Between(-9, 9);
    row.push_back(format::Value::Integer(edge));
  }
  if (random_.OneIn(8)) {
    row.push_back(format::Value::Null());
  } else {
    std::string text = kTexts[random_.Below(std::size(kTexts))];
    if (random_.OneIn(4)) text += fmt::format("{}", random_.Below(1000));
    row.push_back(format::Value::String(std::move(text)));
  }
  if (columns > 3) row.push_back(random_.OneIn(5) ? format::Value::Null() : format::Value::Integer(random_.Between(-1000, 1000)));
  return row;
}

SentBatch* SentBatches::Make(const Wish& wish) {
  SentBatch batch;
  batch.bucket = wish.bucket;
  batch.writer = wish.writer;
  batch.sequence = wish.sequence;
  batch.schema_id = wish.schema_id;
  for (int i = 0; i < wish.rows; ++i) batch.rows.push_back(format::Value::Row(MakeRow(wish.schema->columns.size())));
  format::LogBatchSpec spec;
  spec.magic = settings_.statistics ? 1 : 0;
  spec.schema_id = wish.schema_id;
  spec.writer_id = wish.writer;
  spec.batch_sequence = wish.sequence;
  const std::vector<int32_t> statistics = settings_.statistics ? std::vector<int32_t>{1, 2} : std::vector<int32_t>();
  Result<Buffer> bytes = format::BuildArrowLogBatch(
      spec, *wish.schema, {.rows = batch.rows, .change_types = {}, .statistics_columns = statistics}, {.codec = settings_.codec});
  STROM_ASSERT(bytes.ok(), "{}", bytes.ToString());
  batch.bytes = std::move(bytes).value();
  batch.header = *format::DecodeLogBatchHeader(batch.bytes.view());
  if (SentBatch* same = Find(batch.header, batch.bytes.view())) return same;
  batches_.push_back(std::move(batch));
  by_crc_.emplace(batches_.back().header.crc, &batches_.back());
  return &batches_.back();
}

SentBatch* SentBatches::Find(const format::LogBatchHeader& header, ByteView batch) const {
  const auto [from, to] = by_crc_.equal_range(header.crc);
  for (auto at = from; at != to; ++at) {
    const ByteView sent = at->second->bytes.view();
    if (sent.size() != batch.size() || at->second->header.magic != header.magic) continue;
    if (std::equal(sent.begin() + static_cast<ptrdiff_t>(header.crc_start()), sent.end(),
                   batch.begin() + static_cast<ptrdiff_t>(header.crc_start()))) {
      return at->second;
    }
  }
  return nullptr;
}

}  // namespace strom::sim
