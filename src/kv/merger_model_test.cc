#include <gtest/gtest.h>

#include <cstdlib>

#include "base/random.h"
#include "format/random_rows.h"
#include "kv/merger.h"
#include "kv/testing/merge_twin.h"
#include "kv/testing/roaring_images.h"
#include "kv/testing/tables.h"

// Each merge engine against MergeTwin: random tables whose schema grew, random rows with nulls and of older schemas, random target columns. The seed is
// printed; STROM_MERGE_OPERATIONS makes more operations of each engine, STROM_MERGE_SEED runs one table alone.

namespace strom::kv {
namespace {

using format::Value;
using model::DataType;
using model::MergeEngine;
using model::TypeRoot;
using testing::MergeTwin;
using testing::TwinRow;

constexpr int kOperationsOfATable = 300;
constexpr uint64_t kKeys = 6;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

struct StoredRow {
  int16_t schema_id = 0;
  Buffer row;
  RowView view() const { return {schema_id, row.view()}; }
};

class RandomTable {
 public:
  RandomTable(uint64_t seed, MergeEngine engine) : random_(seed), rows_(seed), engine_(engine) {
    testing::TableSpec spec;
    is_indexed_ = random_.OneIn(2);
    spec.properties["table.kv.format"] = is_indexed_ ? "indexed" : "compacted";
    std::vector<testing::ColumnSpec> columns = {{"key", DataType::Of(TypeRoot::kInteger)}};
    if (engine == MergeEngine::kFirstRow) spec.properties["table.merge-engine"] = "first_row";
    if (engine == MergeEngine::kAggregation) spec.properties["table.merge-engine"] = "aggregation";
    if (engine == MergeEngine::kVersioned) {
      spec.properties["table.merge-engine"] = "versioned";
      spec.properties["table.merge-engine.versioned.ver-column"] = "version";
      const DataType types[] = {DataType::Of(TypeRoot::kInteger), DataType::Of(TypeRoot::kBigInt),
                                DataType::Timestamp(3), DataType::Timestamp(9), DataType::TimestampLtz(6)};
      if (random_.OneIn(2)) AddColumns(&columns);
      columns.push_back({"version", types[random_.Below(5)]});
    }
    AddColumns(&columns);
    spec.schemas.push_back(testing::MakeSchema(columns, {"key"}));
    for (uint64_t growths = random_.Below(3); growths > 0; --growths) {
      std::vector<testing::ColumnSpec> more;
      AddColumns(&more);
      spec.schemas.push_back(spec.schemas.back());
      testing::AppendColumns(more, &spec.schemas.back());
    }
    table_ = testing::MakeTable(spec);
  }

  const std::shared_ptr<const KvTable>& table() const { return table_; }
  Random& random() { return random_; }
  const std::vector<model::Column>& columns() const { return table_->latest().schema->columns; }

  /// A row of a random schema; some values come from `old`, so that equal ones meet.
  StoredRow RandomRow(int32_t key, const std::optional<TwinRow>& old) {
    const auto schema_id = static_cast<int16_t>(random_.Between(1, table_->latest().schema_id));
    std::vector<Value> values;
    for (const model::Column& column : table_->Find(schema_id)->schema->columns) {
      const bool again = old && old->contains(column.id) && random_.OneIn(4) && SafeToRepeat(column);
      values.push_back(values.empty() ? Value::Integer(key) : again ? old->at(column.id) : RandomValue(column));
    }
    return {schema_id, testing::EncodeRow(*table_, schema_id, values)};
  }

  TwinRow Decoded(const RowView& row) const {
    const std::vector<Value> values = testing::DecodeRow(*table_, row.schema_id, row.row);
    const std::vector<model::Column>& columns = table_->Find(row.schema_id)->schema->columns;
    TwinRow decoded;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].is_null()) decoded.emplace(columns[i].id, Plain(columns[i], values[i]));
    }
    return decoded;
  }

  TwinRow Plain(TwinRow row) const {
    for (const model::Column& column : columns()) {
      if (const auto value = row.find(column.id); value != row.end()) value->second = Plain(column, value->second);
    }
    return row;
  }

  /// The key and others at random; empty (all columns) is among them.
  std::vector<int32_t> RandomTargets() {
    if (engine_ == MergeEngine::kFirstRow || engine_ == MergeEngine::kVersioned || random_.OneIn(3)) return {};
    std::vector<int32_t> targets;
    for (size_t i = 0; i < columns().size(); ++i) {
      if (i == 0 || random_.OneIn(2)) targets.push_back(static_cast<int32_t>(i));
    }
    return targets;
  }

 private:
  void AddColumns(std::vector<testing::ColumnSpec>* columns) {
    for (uint64_t count = 1 + random_.Below(5); count > 0; --count) {
      testing::ColumnSpec column = {fmt::format("c{}", ++named_), rows_.RandomType(1)};
      if (engine_ == MergeEngine::kAggregation) ChooseFunction(&column);
      columns->push_back(std::move(column));
    }
  }

  void ChooseFunction(testing::ColumnSpec* column) {
    static constexpr const char* kFunctions[] = {"sum",
                                                 "product",
                                                 "max",
                                                 "min",
                                                 "last_value",
                                                 "last_value_ignore_nulls",
                                                 "first_value",
                                                 "first_value_ignore_nulls",
                                                 "listagg",
                                                 "string_agg",
                                                 "bool_and",
                                                 "bool_or",
                                                 "rbm32",
                                                 "rbm64",
                                                 ""};
    column->aggregate = kFunctions[random_.Below(std::size(kFunctions))];
    const std::string& function = column->aggregate;
    static constexpr TypeRoot kNumbers[] = {TypeRoot::kTinyInt, TypeRoot::kSmallInt, TypeRoot::kInteger,
                                            TypeRoot::kBigInt,  TypeRoot::kFloat,    TypeRoot::kDouble};
    if (function == "sum" || function == "product" || function == "max" || function == "min") {
      if (random_.OneIn(3)) {
        const auto precision = static_cast<int32_t>(random_.Between(1, 38));
        column->type = DataType::Decimal(precision, static_cast<int32_t>(random_.Between(0, precision)));
      } else if (function.starts_with('m') && random_.OneIn(2)) {
        const DataType types[] = {DataType::Of(TypeRoot::kString), DataType::Char(9),
                                  DataType::Of(TypeRoot::kDate),   DataType::Time(3),
                                  DataType::Timestamp(9),          DataType::Timestamp(0),
                                  DataType::TimestampLtz(3),       DataType::TimestampLtz(4)};
        column->type = types[random_.Below(std::size(types))];
      } else {
        column->type = DataType::Of(kNumbers[random_.Below(std::size(kNumbers))]);
      }
    }
    if (function == "listagg" || function == "string_agg") {
      // An indexed row has no room for a longer CHAR; that has a test of its own.
      column->type = is_indexed_ || random_.OneIn(2) ? DataType::Of(TypeRoot::kString) : DataType::Char(20);
      if (random_.OneIn(2)) column->delimiter = random_.OneIn(2) ? "|" : " and ";
    }
    if (function.starts_with("bool")) column->type = DataType::Of(TypeRoot::kBoolean);
    if (function.starts_with("rbm")) column->type = DataType::Of(TypeRoot::kBytes);
  }

  static bool IsBitmap(const model::Column& column) {
    return column.aggregate && column.aggregate->type.starts_with("rbm");
  }
  /// Not a text, which would double each time, nor a sum of decimals, which may be beyond the precision that a client can write.
  static bool SafeToRepeat(const model::Column& column) {
    if (!column.aggregate) return true;
    const std::string& function = column.aggregate->type;
    return function != "listagg" && function != "string_agg" &&
           (function != "sum" || column.type.root != TypeRoot::kDecimal);
  }

  Value RandomValue(const model::Column& column) {
    if (!IsBitmap(column)) return rows_.RandomValue(column.type);
    if (random_.OneIn(5)) return Value::Null();
    std::vector<uint64_t> values;
    uint64_t value = random_.Next() >> random_.Below(64);
    for (uint64_t count = random_.Below(40); count > 0; --count) {
      values.push_back(value);
      value += random_.OneIn(10) ? random_.Next() >> random_.Between(12, 60) : random_.Between(1, 3);
    }
    if (column.aggregate->type == "rbm64") return Value::Bytes(testing::Roaring64Image(values).view());
    std::set<uint32_t> narrow;
    for (const uint64_t wide : values) narrow.insert(static_cast<uint32_t>(wide));
    return Value::Bytes(testing::Roaring32Image(narrow).view());
  }

  /// One form for all that counts as equal: which NaN it is, and how a bitmap is laid out.
  static Value Plain(const model::Column& column, const Value& value) {
    if (value.kind() == Value::Kind::kFloat && value.float_value() != value.float_value())
      return Value::Float(__builtin_nanf(""));
    if (value.kind() == Value::Kind::kDouble && value.double_value() != value.double_value())
      return Value::Double(__builtin_nan(""));
    if (!IsBitmap(column)) return value;
    if (column.aggregate->type == "rbm64")
      return Value::Bytes(testing::Roaring64Image(testing::Roaring64Values(value.bytes())).view());
    const std::vector<uint64_t> values = testing::Roaring32Values(value.bytes());
    return Value::Bytes(testing::Roaring32Image({values.begin(), values.end()}).view());
  }

  Random random_;
  format::RandomRows rows_;
  MergeEngine engine_;
  bool is_indexed_ = false;
  int named_ = 0;
  std::shared_ptr<const KvTable> table_;
};

/// The state of one table, as it lies in a store and as the twin has it.
class Model {
 public:
  Model(uint64_t seed, MergeEngine engine) : table_(seed, engine), engine_(engine) {}

  void Run(int operations) {
    while (operations > 0 && !::testing::Test::HasFailure()) {
      const std::vector<int32_t> targets = table_.RandomTargets();
      mode_ = table_.random().OneIn(8) ? MergeMode::kOverwrite : MergeMode::kTable;
      auto merger = MakeMerger(table_.table(), targets, mode_);
      ASSERT_TRUE(merger.ok()) << merger.ToString();
      std::set<int32_t> ids;
      for (const int32_t target : targets) ids.insert(table_.columns()[static_cast<size_t>(target)].id);
      const MergeTwin twin(table_.table()->latest().schema.get(), table_.table()->config(), ids, mode_);
      for (uint64_t count = 1 + table_.random().Below(20); count > 0; --count, --operations)
        Step(merger.value().get(), twin);
    }
  }

 private:
  void Step(Merger* merger, const MergeTwin& twin) {
    const auto key = static_cast<int32_t>(table_.random().Below(kKeys));
    const auto stored = stored_.find(key);
    if (stored != stored_.end() && table_.random().OneIn(6)) {
      Delete(merger, twin, key, stored->second);
      return;
    }
    const std::optional<RowView> old = stored == stored_.end() ? std::nullopt : std::optional(stored->second.view());
    const std::optional<TwinRow> old_row = old ? std::optional(state_.at(key)) : std::nullopt;
    const StoredRow incoming = table_.RandomRow(key, old_row);
    out_.Clear();
    const auto verdict = merger->Merge(old, incoming.view(), &out_);
    ASSERT_TRUE(verdict.ok()) << verdict.ToString();
    const std::optional<TwinRow> expected = twin.Merge(old_row, table_.Decoded(incoming.view()));
    ASSERT_NE(verdict.value(), MergeVerdict::kRemoved);
    ASSERT_EQ(verdict.value() == MergeVerdict::kUnchanged, !expected);
    if (!expected) return;
    Keep(key,
         verdict.value() == MergeVerdict::kIncoming
             ? incoming
             : StoredRow{table_.table()->latest().schema_id, Buffer::CopyOf(out_.view())},
         *expected);
  }

  void Delete(Merger* merger, const MergeTwin& twin, int32_t key, const StoredRow& old) {
    out_.Clear();
    const auto verdict = merger->Delete(old.view(), &out_);
    if (mode_ == MergeMode::kTable && (engine_ == MergeEngine::kFirstRow || engine_ == MergeEngine::kVersioned)) {
      ASSERT_EQ(verdict.code(), ErrorCode::kDeletionDisabled);
      return;
    }
    ASSERT_TRUE(verdict.ok()) << verdict.ToString();
    const std::optional<TwinRow> expected = twin.Delete(state_.at(key));
    ASSERT_EQ(verdict.value(), expected ? MergeVerdict::kMerged : MergeVerdict::kRemoved);
    if (expected) {
      Keep(key, {table_.table()->latest().schema_id, Buffer::CopyOf(out_.view())}, *expected);
    } else {
      stored_.erase(key);
      state_.erase(key);
    }
  }

  void Keep(int32_t key, StoredRow row, const TwinRow& expected) {
    const TwinRow decoded = table_.Decoded(row.view());
    const TwinRow wanted = table_.Plain(expected);
    if (decoded != wanted)
      ADD_FAILURE() << "got " << Shown(decoded) << "\nnot " << Shown(wanted) << "\nwas " << Shown(state_[key]);
    stored_[key] = std::move(row);
    state_[key] = wanted;
  }

  std::string Shown(const TwinRow& row) const {
    std::string text;
    for (const model::Column& column : table_.columns()) {
      const std::string function = column.aggregate ? " " + column.aggregate->type : "";
      const std::string value = row.contains(column.id) ? row.at(column.id).ToString() : "null";
      text += fmt::format("\n  {} {}{}: {}", column.name, column.type.ToString(), function, value);
    }
    return text;
  }

  RandomTable table_;
  MergeEngine engine_;
  MergeMode mode_ = MergeMode::kTable;
  std::map<int32_t, StoredRow> stored_;
  std::map<int32_t, TwinRow> state_;
  MutableBuffer out_;
};

class MergerModel : public ::testing::TestWithParam<MergeEngine> {};

TEST_P(MergerModel, FoldsAsTheTwinDoes) {
  const uint64_t operations = FromEnvironment("STROM_MERGE_OPERATIONS", 40'000);
  const uint64_t first_seed = FromEnvironment("STROM_MERGE_SEED", 1);
  const uint64_t tables = std::getenv("STROM_MERGE_SEED") != nullptr ? 1 : operations / kOperationsOfATable + 1;
  for (uint64_t seed = first_seed; seed < first_seed + tables && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("STROM_MERGE_SEED={}", seed));
    Model(seed, GetParam()).Run(kOperationsOfATable);
  }
}

std::string EngineName(const ::testing::TestParamInfo<MergeEngine>& info) {
  constexpr const char* kNames[] = {"Default", "FirstRow", "Versioned", "Aggregation"};
  return kNames[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Engines, MergerModel,
                         ::testing::Values(MergeEngine::kDefault, MergeEngine::kFirstRow, MergeEngine::kVersioned,
                                           MergeEngine::kAggregation),
                         EngineName);

}  // namespace
}  // namespace strom::kv
