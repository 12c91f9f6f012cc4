#include <benchmark/benchmark.h>

#include "kv/change_planner.h"
#include "model/schema_validation.h"

namespace strom::kv {
namespace {

using model::DataType;
using model::TypeRoot;

constexpr int64_t kRows = 1000;

std::shared_ptr<const KvTable> MakeTable(const char* log_format, const char* image) {
  auto schema = std::make_shared<model::Schema>();
  const DataType types[] = {DataType::Of(TypeRoot::kBigInt, false), DataType::Of(TypeRoot::kString),
                            DataType::Of(TypeRoot::kInteger), DataType::Of(TypeRoot::kDouble),
                            DataType::Of(TypeRoot::kBigInt)};
  for (const DataType& type : types) {
    schema->columns.emplace_back();
    schema->columns.back().name = fmt::format("c{}", schema->columns.size());
    schema->columns.back().type = type;
  }
  schema->primary_key = {"c1"};
  model::NormalizeSchema(schema.get());
  auto info = std::make_shared<model::TableInfo>();
  info->path = {"bench", "rows"};
  info->descriptor.schema = *schema;
  info->descriptor.properties = {{"table.log.format", log_format}, {"table.changelog.image", image}};
  info->config = model::ParseTableConfig(info->descriptor.properties).value();
  return KvTable::Make(std::move(info), {{int16_t{1}, schema}}).value();
}

/// A batch of rows of about 100 bytes, each key once, every one of them in the state already.
void PlanUpserts(benchmark::State& state, const char* log_format, const char* image) {
  const auto table = MakeTable(log_format, image);
  format::KvBatchBuilder builder({.schema_id = 1});
  const std::string text(70, 'x');
  std::vector<Buffer> stored;
  for (int64_t i = 0; i < kRows; ++i) {
    const format::FieldView fields[] = {format::FieldView::Number(i), format::FieldView::Bytes(AsBytes(text)),
                                        format::FieldView::Number(i * 7), format::FieldView::Number(i << 40),
                                        format::FieldView::Number(i << 50)};
    MutableBuffer row, key, value;
    STROM_ASSERT(table->WriteLatest(fields, &row).ok(), "the row does not fit");
    const format::Value number = format::Value::Integer(i);
    STROM_ASSERT(table->key_encoder().Encode({&number, 1}, &key).ok(), "the key does not fit");
    format::AppendKvValue(1, row.view(), &value);
    builder.Append(key.view(), row.view());
    stored.push_back(value.Freeze());
  }
  const Buffer batch = builder.Finish();
  const std::vector<std::optional<ByteView>> old = [&] {
    std::vector<std::optional<ByteView>> views;
    for (const Buffer& value : stored) views.push_back(value.view());
    return views;
  }();
  const auto header = format::DecodeKvBatchHeader(batch.view()).value();
  const auto merger = MakeMerger(table, {}, MergeMode::kTable).value();
  ChangePlanner planner(table);
  for (auto _ : state) {
    STROM_ASSERT(planner.Read(header, batch.view()).ok(), "the batch does not fit");
    auto plan = planner.Plan(*merger, old, nullptr);
    STROM_ASSERT(plan.ok(), "{}", plan.ToString());
    benchmark::DoNotOptimize(plan);
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}

BENCHMARK_CAPTURE(PlanUpserts, arrow_full, "arrow", "full");
BENCHMARK_CAPTURE(PlanUpserts, arrow_wal, "arrow", "wal");
BENCHMARK_CAPTURE(PlanUpserts, compacted_full, "compacted", "full");
BENCHMARK_CAPTURE(PlanUpserts, indexed_full, "indexed", "full");

}  // namespace
}  // namespace strom::kv
