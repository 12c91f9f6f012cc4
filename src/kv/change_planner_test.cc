#include "kv/change_planner.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "kv/testing/changelog.h"
#include "kv/testing/tables.h"

// The changelog of random batches is a valid history of each key, and its fold is the state that the plans' entries make (K1, K2, K7 of spec/server.md 16.3).

namespace strom::kv {
namespace {

using format::ChangeType;
using format::Value;
using model::DataType;
using model::TypeRoot;
using testing::Change;
using testing::ReadChangelog;
using Row = std::vector<Value>;
using State = std::map<std::string, std::string>;  // encoded key to stored value

/// A stored value in the latest schema, columns that its own lacks null.
Row Latest(const KvTable& table, std::string_view value) {
  const auto decoded = format::DecodeKvValue(table.value_layout(), AsBytes(value));
  Row row = testing::DecodeRow(table, decoded->schema_id, decoded->row);
  for (Value& field : row) field = field.Owned();
  row.resize(table.latest().fields.size());
  return row;
}

std::string KeyOf(const KvTable& table, const Row& row) {
  MutableBuffer key;
  const Value id = row[0];
  EXPECT_TRUE(table.key_encoder().Encode({&id, 1}, &key).ok());
  return std::string(AsText(key.view()));
}

std::shared_ptr<const KvTable> MakeTable(model::Properties properties) {
  testing::TableSpec spec;
  spec.properties = std::move(properties);
  spec.schemas.push_back(testing::MakeSchema({{"id", DataType::Of(TypeRoot::kInteger)},
                                              {"name", DataType::Of(TypeRoot::kString)},
                                              {"tags", DataType::Array(DataType::Of(TypeRoot::kInteger))}},
                                             {"id"}));
  spec.schemas.push_back(spec.schemas[0]);
  testing::AppendColumns({{"amount", DataType::Of(TypeRoot::kBigInt)}}, &spec.schemas[1]);
  return testing::MakeTable(spec);
}

class History {
 public:
  History(model::Properties properties, uint64_t seed) : table_(MakeTable(std::move(properties))), planner_(table_), random_(seed) {}

  void RunBatch() {
    const Buffer batch = RandomBatch();
    const auto header = format::DecodeKvBatchHeader(batch.view());
    ASSERT_TRUE(header.ok() && format::CheckKvBatch(*header, batch.view()).ok());
    const Status read = planner_.Read(*header, batch.view());
    ASSERT_TRUE(read.ok()) << read.ToString();
    std::vector<std::optional<ByteView>> old;
    for (const ByteView key : planner_.keys()) {
      const auto found = state_.find(std::string(AsText(key)));
      old.push_back(found == state_.end() ? std::nullopt : std::optional(AsBytes(found->second)));
    }
    auto merger = MakeMerger(table_, {}, MergeMode::kTable);
    ASSERT_TRUE(merger.ok());
    auto plan = planner_.Plan(**merger, old, nullptr);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    Check(*plan);
  }

  void Check(const ChangePlan& plan) {
    const std::vector<Change> changes = ReadChangelog(*table_, plan.changelog.view());
    ASSERT_EQ(changes.size(), static_cast<size_t>(plan.record_count));
    Fold(changes);
    int32_t last = -1;
    for (const PlannedEntry& entry : plan.entries) {
      EXPECT_GT(entry.last_record, last);
      last = entry.last_record;
      rows_ += entry.row_count_change;
      if (entry.value) {
        state_[std::string(AsText(entry.key))] = std::string(AsText(*entry.value));
      } else {
        state_.erase(std::string(AsText(entry.key)));
      }
    }
    EXPECT_EQ(last, plan.record_count - 1);
    ASSERT_EQ(state_.size(), fold_.size());
    for (const auto& [key, row] : fold_) {
      ASSERT_TRUE(state_.contains(key));
      EXPECT_EQ(Value::Row(Latest(*table_, state_[key])), Value::Row(row));
    }
    if (table_->config().changelog_image == model::ChangelogImage::kFull) {
      EXPECT_EQ(rows_, static_cast<int64_t>(state_.size()));
    }
  }

  size_t records() const { return records_; }

 private:
  Buffer RandomBatch() {
    const auto schema_id = static_cast<int16_t>(random_.Between(1, 2));
    format::KvBatchBuilder builder({.schema_id = schema_id, .writer_id = WriterId(3), .batch_sequence = 1});
    for (uint64_t i = random_.Below(12); i > 0; --i) {
      Row row = {Value::Integer(random_.Between(0, 7)), random_.OneIn(4) ? Value::Null() : Value::String(std::string(random_.Below(9), 'x')),
                 random_.OneIn(3) ? Value::Null() : Value::Array({Value::Integer(1), Value::Null()})};
      if (schema_id == 2) row.push_back(random_.OneIn(3) ? Value::Null() : Value::Integer(random_.Between(-5, 5)));
      const std::string key = KeyOf(*table_, row);
      const bool removal = random_.OneIn(4);
      const Buffer bytes = testing::EncodeRow(*table_, schema_id, row);
      builder.Append(AsBytes(key), removal ? ByteView() : bytes.view());
    }
    return builder.Finish();
  }

  /// Applies change records, and checks that they are ones that the history so far allows.
  void Fold(const std::vector<Change>& changes) {
    const bool full = table_->config().changelog_image == model::ChangelogImage::kFull;
    records_ += changes.size();
    for (size_t i = 0; i < changes.size(); ++i) {
      const Change& change = changes[i];
      const std::string key = KeyOf(*table_, change.row);
      const bool present = fold_.contains(key);
      switch (change.type) {
        case ChangeType::kInsert:
          EXPECT_FALSE(present);
          break;
        case ChangeType::kUpdateBefore:
          ASSERT_LT(i + 1, changes.size());
          EXPECT_EQ(changes[i + 1].type, ChangeType::kUpdateAfter);
          EXPECT_EQ(KeyOf(*table_, changes[i + 1].row), key);
          [[fallthrough]];
        case ChangeType::kDelete:
          ASSERT_TRUE(present);
          EXPECT_EQ(Value::Row(fold_[key]), Value::Row(change.row));
          break;
        case ChangeType::kUpdateAfter:
          EXPECT_TRUE(!full || (i > 0 && changes[i - 1].type == ChangeType::kUpdateBefore));
          break;
        case ChangeType::kAppendOnly:
          FAIL() << "an append-only record in a changelog";
      }
      if (change.type == ChangeType::kDelete) fold_.erase(key);
      if (change.type == ChangeType::kInsert || change.type == ChangeType::kUpdateAfter) fold_[key] = change.row;
    }
  }

  std::shared_ptr<const KvTable> table_;
  ChangePlanner planner_;
  Random random_;
  State state_;
  std::map<std::string, Row> fold_;
  int64_t rows_ = 0;
  size_t records_ = 0;
};

TEST(ChangePlanner, TheChangelogIsAValidHistoryWhoseFoldIsTheState) {
  uint64_t seed = 1;
  for (const char* log_format : {"arrow", "indexed", "compacted"}) {
    for (const char* kv_format : {"compacted", "indexed"}) {
      for (const char* image : {"full", "wal"}) {
        for (const char* engine : {"", "first_row"}) {
          model::Properties properties = {{"table.log.format", log_format}, {"table.kv.format", kv_format}, {"table.changelog.image", image}};
          if (*engine != '\0') properties["table.merge-engine"] = engine;
          SCOPED_TRACE(fmt::format("{} {} {} {} seed {}", log_format, kv_format, image, engine, seed));
          History history(std::move(properties), seed++);
          for (int batch = 0; batch < 60 && !::testing::Test::HasFatalFailure(); ++batch) history.RunBatch();
          EXPECT_GT(history.records(), 5U);
        }
      }
    }
  }
}

Result<ChangePlan> PlanOne(const std::shared_ptr<const KvTable>& table, const format::KvBatchSpec& spec, bool removal) {
  const Buffer row = testing::EncodeRow(*table, 1, {Value::Integer(1), Value::Null(), Value::Null()});
  const std::string key = KeyOf(*table, {Value::Integer(1)});
  format::KvBatchBuilder builder(spec);
  builder.Append(AsBytes(key), removal ? ByteView() : row.view());
  const Buffer batch = builder.Finish();
  ChangePlanner planner(table);
  STROM_ASSIGN(const format::KvBatchHeader header, format::DecodeKvBatchHeader(batch.view()));
  STROM_TRY(planner.Read(header, batch.view()));
  STROM_ASSIGN(const std::unique_ptr<Merger> merger, MakeMerger(table, {}, MergeMode::kTable));
  const std::optional<ByteView> absent;
  return planner.Plan(*merger, {&absent, 1}, nullptr);
}

TEST(ChangePlanner, ABatchThatChangesNothingStillTakesOneOffsetForItsWriter) {
  const Result<ChangePlan> plan = PlanOne(MakeTable({}), {.schema_id = 1, .writer_id = WriterId(9), .batch_sequence = 4}, true);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  const auto header = format::DecodeLogBatchHeader(plan->changelog.view());
  EXPECT_EQ(header->record_count, 0);
  EXPECT_EQ(header->writer_id, WriterId(9));
  EXPECT_EQ(header->batch_sequence, 4);
  EXPECT_TRUE(plan->entries.empty());
}

TEST(ChangePlanner, RefusesAnUnknownSchemaAndADeleteWhereDeletesAreDisabled) {
  EXPECT_EQ(PlanOne(MakeTable({}), {.schema_id = 3}, false).code(), ErrorCode::kSchemaNotExist);
  EXPECT_EQ(PlanOne(MakeTable({{"table.delete.behavior", "disable"}}), {.schema_id = 1}, true).code(), ErrorCode::kDeletionDisabled);
}

TEST(ChangePlanner, RefusesARowThatIsNoneOfItsSchema) {
  const auto table = MakeTable({});
  format::KvBatchBuilder builder({.schema_id = 1});
  builder.Append(AsBytes(std::string_view("k")), AsBytes(std::string_view("\x00\x85", 2)));
  const Buffer batch = builder.Finish();
  ChangePlanner planner(table);
  const Status read = planner.Read(*format::DecodeKvBatchHeader(batch.view()), batch.view());
  EXPECT_EQ(read.code(), ErrorCode::kCorruptRecord);
  EXPECT_NE(read.error().message.find("record 0"), std::string::npos) << read.ToString();
}

}  // namespace
}  // namespace strom::kv
