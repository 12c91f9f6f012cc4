#include "kv/changelog_replay.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"
#include "format/random_rows.h"
#include "format/row_codec.h"
#include "kv/change_planner.h"
#include "kv/testing/changelog.h"
#include "kv/testing/tables.h"

namespace strom::kv {
namespace {

using format::ChangeType;
using format::Value;
using model::DataType;
using model::TypeRoot;
using testing::Change;
using testing::ReadChangelog;

/// The columns of schema 1; schema 2 has another one at its end. Types that each log format keeps exactly.
std::vector<testing::ColumnSpec> Columns(bool nested) {
  std::vector<testing::ColumnSpec> columns = {{"k", DataType::Of(TypeRoot::kInteger)},
                                              {"s", DataType::Of(TypeRoot::kString)},
                                              {"d", DataType::Of(TypeRoot::kDouble)},
                                              {"b", DataType::Of(TypeRoot::kBoolean)},
                                              {"narrow", DataType::Decimal(10, 2)},
                                              {"wide", DataType::Decimal(30, 4)},
                                              {"bytes", DataType::Of(TypeRoot::kBytes)},
                                              {"small", DataType::Of(TypeRoot::kSmallInt)},
                                              {"fixed", DataType::Binary(5)},
                                              {"date", DataType::Of(TypeRoot::kDate)}};
  if (nested) {
    columns.push_back({"array", DataType::Array(DataType::Of(TypeRoot::kInteger))});
    columns.push_back(
        {"row",
         DataType::Row({{.name = "x", .type = DataType::Of(TypeRoot::kBigInt), .description = {}, .field_id = -1},
                        {.name = "y", .type = DataType::Of(TypeRoot::kString), .description = {}, .field_id = -1}})});
  }
  return columns;
}

std::shared_ptr<const KvTable> MakeTable(model::Properties properties, bool nested = false) {
  testing::TableSpec spec;
  spec.schemas = {testing::MakeSchema(Columns(nested), {"k"})};
  spec.schemas.push_back(spec.schemas[0]);
  testing::AppendColumns({{"later", DataType::Of(TypeRoot::kBigInt)}}, &spec.schemas[1]);
  spec.properties = std::move(properties);
  return testing::MakeTable(spec);
}

/// One bucket: its stored values as the plans leave them, and as the replay of the changelog makes them.
class Bucket {
 public:
  Bucket(std::shared_ptr<const KvTable> table, std::span<const int32_t> target = {}, MergeMode mode = MergeMode::kTable)
      : table_(std::move(table)),
        planner_(table_),
        replay_(table_),
        merger_(MakeMerger(table_, target, mode).value()) {}

  using State = std::map<std::string, std::string>;

  Result<std::vector<Change>> Put(format::KvBatchBuilder* builder, AutoIncrementIds* ids = nullptr) {
    const Buffer batch = builder->Finish();
    STROM_ASSIGN(const format::KvBatchHeader header, format::DecodeKvBatchHeader(batch.view()));
    STROM_TRY(planner_.Read(header, batch.view()));
    std::vector<std::optional<ByteView>> old;
    for (const ByteView key : planner_.keys()) {
      const auto known = state.find(std::string(AsText(key)));
      old.push_back(known == state.end() ? std::nullopt : std::optional(AsBytes(known->second)));
    }
    STROM_ASSIGN(const ChangePlan plan, planner_.Plan(*merger_, old, ids));
    for (const PlannedEntry& entry : plan.entries) {
      const std::string key(AsText(entry.key));
      row_count += entry.row_count_change;
      EXPECT_LT(entry.last_record, plan.record_count);
      entry.value ? void(state[key] = std::string(AsText(*entry.value))) : void(state.erase(key));
    }
    Replay(plan);
    return ReadChangelog(*table_, plan.changelog.view());
  }

  /// The state in the latest schema, as the replay has it.
  State Latest() {
    State latest;
    std::vector<format::FieldView> fields;
    for (const auto& [key, value] : state) {
      const auto stored = format::DecodeKvValue(table_->value_layout(), AsBytes(value)).value();
      MutableBuffer out;
      format::AppendKvValue(table_->latest().schema_id, {}, &out);
      EXPECT_TRUE(table_->ReadInLatest({stored.schema_id, stored.row}, &fields).ok());
      EXPECT_TRUE(table_->WriteLatest(fields, &out).ok());
      latest[key] = std::string(AsText(out.view()));
    }
    return latest;
  }

  State state;
  State replayed;
  int64_t row_count = 0;
  int64_t replayed_row_count = 0;

 private:
  void Replay(const ChangePlan& plan) {
    const auto header = format::DecodeLogBatchHeader(plan.changelog.view()).value();
    EXPECT_EQ(header.record_count, plan.record_count);
    const auto entries = replay_.Read(header, plan.changelog.view());
    ASSERT_TRUE(entries.ok()) << entries.error().message;
    ASSERT_EQ(entries->size(), plan.entries.size());
    for (size_t i = 0; i < entries->size(); ++i) {
      const ReplayedEntry& entry = (*entries)[i];
      EXPECT_EQ(AsText(entry.key), AsText(plan.entries[i].key));
      EXPECT_EQ(entry.offset.value(), plan.entries[i].last_record);
      replayed_row_count += entry.row_count_change;
      const std::string key(AsText(entry.key));
      entry.value ? void(replayed[key] = std::string(AsText(*entry.value))) : void(replayed.erase(key));
    }
  }

  std::shared_ptr<const KvTable> table_;
  ChangePlanner planner_;
  ChangelogReplay replay_;
  std::unique_ptr<Merger> merger_;
};

Buffer KeyOf(const KvTable& table, int64_t key) {
  MutableBuffer out;
  const Value value = Value::Integer(key);
  EXPECT_TRUE(table.key_encoder().Encode({&value, 1}, &out).ok());
  return out.Freeze();
}

std::vector<Value> RandomValues(const KvTable& table, int16_t schema_id, int64_t key, format::RandomRows* rows) {
  std::vector<Value> values = rows->RandomRow(table.Find(schema_id)->fields).items();
  values[0] = Value::Integer(key);
  return values;
}

void PadToLatest(const KvTable& table, std::vector<Value>* row) { row->resize(table.latest().fields.size()); }

/// What spec/server.md 10.2 says of the default engine, on plain values.
class Twin {
 public:
  explicit Twin(bool full_image) : full_image_(full_image) {}

  void Upsert(int64_t key, std::vector<Value> row) {
    const auto old = rows.find(key);
    if (!full_image_) {
      changes.push_back({ChangeType::kUpdateAfter, row});
    } else if (old == rows.end()) {
      changes.push_back({ChangeType::kInsert, row});
    } else {
      changes.push_back({ChangeType::kUpdateBefore, old->second});
      changes.push_back({ChangeType::kUpdateAfter, row});
    }
    rows[key] = std::move(row);
  }
  void Delete(int64_t key) {
    const auto old = rows.find(key);
    if (old == rows.end()) return;
    changes.push_back({ChangeType::kDelete, old->second});
    rows.erase(old);
  }

  std::map<int64_t, std::vector<Value>> rows;
  std::vector<Change> changes;

 private:
  bool full_image_;
};

TEST(PlanAndReplay, SaysWhatAMapOfRowsSaysInEveryFormatAndItsReplayMakesTheSameState) {
  size_t records = 0;
  for (uint64_t seed = 1; seed <= 96; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const char* const log_formats[] = {"arrow", "indexed", "compacted"};
    const bool full_image = random.Below(3) != 0;
    const std::string kv_format = random.OneIn(2) ? "indexed" : "compacted";
    const auto table = MakeTable({{"table.log.format", log_formats[seed % 3]},
                                  {"table.kv.format", kv_format},
                                  {"table.changelog.image", full_image ? "full" : "wal"}},
                                 random.OneIn(3));
    format::RandomRows rows(seed);
    Bucket bucket(table);
    Twin twin(full_image);
    for (int32_t step = 0; step < 30; ++step) {
      const auto schema_id = static_cast<int16_t>(step < 12 ? 1 : 1 + random.Below(2));
      format::KvBatchBuilder builder({.schema_id = schema_id, .writer_id = WriterId(9), .batch_sequence = step});
      twin.changes.clear();
      for (uint64_t i = random.Below(20); i > 0; --i) {
        const auto key = static_cast<int64_t>(random.Below(12));
        if (random.OneIn(4)) {
          builder.Append(KeyOf(*table, key).view(), {});
          twin.Delete(key);
          continue;
        }
        std::vector<Value> row = RandomValues(*table, schema_id, key, &rows);
        builder.Append(KeyOf(*table, key).view(), testing::EncodeRow(*table, schema_id, row).view());
        PadToLatest(*table, &row);
        twin.Upsert(key, std::move(row));
      }
      const auto changes = bucket.Put(&builder);
      ASSERT_TRUE(changes.ok()) << changes.error().message;
      ASSERT_EQ(changes->size(), twin.changes.size());
      for (size_t i = 0; i < changes->size(); ++i) {
        ASSERT_EQ((*changes)[i].type, twin.changes[i].type) << "record " << i;
        ASSERT_EQ(Value::Row((*changes)[i].row).ToString(), Value::Row(twin.changes[i].row).ToString())
            << "record " << i;
      }
      records += changes->size();
      ASSERT_EQ(bucket.Latest(), bucket.replayed);
      ASSERT_EQ(bucket.state.size(), twin.rows.size());
      if (full_image) {
        ASSERT_EQ(bucket.row_count, static_cast<int64_t>(twin.rows.size()));
        ASSERT_EQ(bucket.replayed_row_count, bucket.row_count);
      }
    }
  }
  EXPECT_GT(records, 10'000U);
}

TEST(PlanAndReplay, MakesValidSequencesWithEveryEngine) {
  const model::Properties engines[] = {
      {{"table.merge-engine", "first_row"}},
      {{"table.merge-engine", "versioned"}, {"table.merge-engine.versioned.ver-column", "k2"}},
      {{"table.merge-engine", "aggregation"}},
      {}};
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    testing::TableSpec spec;
    spec.schemas = {testing::MakeSchema({{"k", DataType::Of(TypeRoot::kInteger)},
                                         {"k2", DataType::Of(TypeRoot::kBigInt)},
                                         {"sum", DataType::Of(TypeRoot::kInteger), "sum"},
                                         {"s", DataType::Of(TypeRoot::kString)}},
                                        {"k"})};
    if (seed % 4 != 2) spec.schemas[0].columns[2].aggregate.reset();
    spec.properties = engines[seed % 4];
    const auto table = testing::MakeTable(spec);
    const bool partial = (seed % 4 == 2 || seed % 4 == 3) && random.OneIn(2);
    const int32_t target[] = {0, 2};
    Bucket bucket(table, partial ? std::span<const int32_t>(target) : std::span<const int32_t>());
    format::RandomRows rows(seed);
    std::map<int64_t, std::string> present;
    for (int step = 0; step < 40; ++step) {
      format::KvBatchBuilder builder({.schema_id = 1});
      for (uint64_t i = random.Below(12); i > 0; --i) {
        const auto key = static_cast<int64_t>(random.Below(8));
        const bool removal = random.OneIn(4);
        builder.Append(
            KeyOf(*table, key).view(),
            removal ? ByteView() : testing::EncodeRow(*table, 1, RandomValues(*table, 1, key, &rows)).view());
      }
      const auto changes = bucket.Put(&builder);
      ASSERT_TRUE(changes.ok()) << changes.error().message;
      for (size_t i = 0; i < changes->size(); ++i) {
        const Change& change = (*changes)[i];
        const int64_t key = change.row[0].integer();
        const std::string row = Value::Row(change.row).ToString();
        switch (change.type) {
          case ChangeType::kInsert:
            ASSERT_EQ(present.count(key), 0U);
            present[key] = row;
            break;
          case ChangeType::kUpdateBefore:
            ASSERT_EQ(present.at(key), row);
            ASSERT_LT(i + 1, changes->size());
            ASSERT_EQ((*changes)[i + 1].type, ChangeType::kUpdateAfter);
            ASSERT_EQ((*changes)[i + 1].row[0].integer(), key);
            break;
          case ChangeType::kUpdateAfter:
            ASSERT_EQ((*changes)[i - 1].type, ChangeType::kUpdateBefore);
            present[key] = row;
            break;
          case ChangeType::kDelete:
            ASSERT_EQ(present.at(key), row);
            present.erase(key);
            break;
          case ChangeType::kAppendOnly:
            FAIL();
        }
      }
      ASSERT_EQ(bucket.Latest(), bucket.replayed);
      ASSERT_EQ(bucket.row_count, static_cast<int64_t>(bucket.state.size()));
      ASSERT_EQ(present.size(), bucket.state.size());
    }
  }
}

TEST(PlanAndReplay, MakesABatchThatOnlyTakesAnOffsetWhereNothingChanges) {
  const auto table = MakeTable({});
  ChangePlanner planner(table);
  auto merger = MakeMerger(table, {}, MergeMode::kTable).value();
  format::KvBatchBuilder builder({.schema_id = 2, .writer_id = WriterId(3), .batch_sequence = 8});
  builder.Append(KeyOf(*table, 1).view(), {});
  const Buffer batch = builder.Finish();
  ASSERT_TRUE(planner.Read(format::DecodeKvBatchHeader(batch.view()).value(), batch.view()).ok());
  const std::optional<ByteView> nothing[] = {std::nullopt};
  const ChangePlan plan = planner.Plan(*merger, nothing, nullptr).value();
  const auto header = format::DecodeLogBatchHeader(plan.changelog.view()).value();
  EXPECT_EQ(header.record_count, 0);
  EXPECT_EQ(header.last_offset_delta, 0);
  EXPECT_EQ(header.writer_id, WriterId(3));
  EXPECT_EQ(header.batch_sequence, 8);
  EXPECT_TRUE(plan.entries.empty());
  EXPECT_TRUE(ChangelogReplay(table).Read(header, plan.changelog.view())->empty());
}

TEST(PlanAndReplay, RefusesUnknownSchemasBrokenRowsAndForbiddenDeletes) {
  const auto table = MakeTable({{"table.delete.behavior", "disable"}});
  const auto read = [&](int16_t schema_id, ByteView row) {
    Bucket bucket(table);
    format::KvBatchBuilder builder({.schema_id = schema_id});
    builder.Append(KeyOf(*table, 1).view(), row);
    const auto result = bucket.Put(&builder);
    EXPECT_TRUE(result.ok() || bucket.state.empty());
    return result.code();
  };
  format::RandomRows rows(1);
  const Buffer row = testing::EncodeRow(*table, 1, RandomValues(*table, 1, 1, &rows));
  EXPECT_EQ(read(1, row.view()), ErrorCode::kNone);
  EXPECT_EQ(read(3, row.view()), ErrorCode::kSchemaNotExist);
  EXPECT_EQ(read(-1, row.view()), ErrorCode::kSchemaNotExist);
  EXPECT_EQ(read(1, row.view().first(row.size() - 1)), ErrorCode::kCorruptRecord);
  EXPECT_EQ(read(1, {}), ErrorCode::kDeletionDisabled);
  std::vector<Value> without_key = RandomValues(*table, 1, 1, &rows);
  without_key[0] = Value::Null();
  EXPECT_EQ(read(1, testing::EncodeRow(*table, 1, without_key).view()), ErrorCode::kCorruptRecord);
}

class CountedIds : public AutoIncrementIds {
 public:
  explicit CountedIds(int64_t last) : last_(last) {}
  Result<int64_t> Next() override {
    if (next_ > last_) return MakeError(ErrorCode::kUnknownServerError, "no more ids");
    return next_++;
  }

 private:
  int64_t next_ = 1;
  int64_t last_;
};

TEST(PlanAndReplay, NumbersInsertsOnlyAndFailsWhereIdsEnd) {
  testing::TableSpec spec;
  spec.schemas = {testing::MakeSchema({{"k", DataType::Of(TypeRoot::kInteger)},
                                       {"id", DataType::Of(TypeRoot::kBigInt)},
                                       {"v", DataType::Of(TypeRoot::kInteger)}},
                                      {"k"})};
  spec.schemas[0].auto_increment_columns = {"id"};
  const auto table = testing::MakeTable(spec);
  const int32_t target[] = {0, 2};
  Bucket bucket(table, target);
  CountedIds ids(2);
  const auto put = [&](std::vector<int64_t> keys) {
    format::KvBatchBuilder builder({.schema_id = 1});
    for (const int64_t key : keys) {
      builder.Append(KeyOf(*table, key).view(),
                     testing::EncodeRow(*table, 1, {Value::Integer(key), Value::Null(), Value::Integer(7)}).view());
    }
    return bucket.Put(&builder, &ids);
  };
  const auto changes = put({5, 6, 5});
  ASSERT_TRUE(changes.ok()) << changes.error().message;
  ASSERT_EQ(changes->size(), 4U);
  EXPECT_EQ((*changes)[0].row[1].integer(), 1);
  EXPECT_EQ((*changes)[1].row[1].integer(), 2);
  EXPECT_EQ((*changes)[3].row[1].integer(), 1);
  EXPECT_EQ(put({7}).code(), ErrorCode::kUnknownServerError);
  EXPECT_EQ(bucket.state.size(), 2U);
}

}  // namespace
}  // namespace strom::kv
