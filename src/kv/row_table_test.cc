#include "kv/row_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"

namespace strom::kv {
namespace {

using Rows = std::map<std::pair<uint64_t, std::string>, std::optional<std::string>>;
constexpr LifeId kLife{1};

std::optional<ByteView> View(const std::optional<std::string>& value) {
  if (!value) return std::nullopt;
  return AsBytes(*value);
}

std::optional<std::string> Copy(const std::optional<ByteView>& value) {
  if (!value) return std::nullopt;
  return std::string(AsText(*value));
}

void Put(RowTable* table, std::string_view key, const std::optional<std::string>& value, int64_t offset) {
  table->Put(kLife, AsBytes(key), View(value), LogOffset(offset));
}

std::string Read(RowTable* table, std::string_view key) {
  const auto entry = table->Get(kLife, AsBytes(key));
  if (!entry) return "unknown";
  return entry->value ? std::string(AsText(*entry->value)) : "absent";
}

TEST(RowTable, AStaleReadOfTheStoreNeverReplacesARowThatWasDrainedAndEvicted) {
  RowTable table;
  const RowTable::Ticket ticket = table.StartRead();  // the store still says "old"
  Put(&table, "k", "new", 1);
  table.Freeze();
  table.FinishDrain();
  table.Trim(0);
  ASSERT_EQ(Read(&table, "k"), "unknown");
  EXPECT_FALSE(table.Fill(ticket, kLife, AsBytes("k"), AsBytes("old")));
  EXPECT_EQ(Read(&table, "k"), "unknown");
  EXPECT_TRUE(table.Fill(table.StartRead(), kLife, AsBytes("k"), AsBytes("new")));
  EXPECT_FALSE(table.Fill(table.StartRead(), kLife, AsBytes("k"), AsBytes("other")));
  EXPECT_EQ(Read(&table, "k"), "new");
}

TEST(RowTable, AWriteUnderADrainLeavesTheFrozenRowAsItWas) {
  for (const bool in_store : {true, false}) {
    RowTable table;
    Put(&table, "k", "one", 1);
    const std::vector<FrozenRow> rows = table.Freeze();
    Put(&table, "k", "two", 2);  // of the same size: could be written in place
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(AsText(*rows[0].value), "one");
    EXPECT_EQ(rows[0].offset, LogOffset(1));
    in_store ? table.FinishDrain() : table.AbortDrain();
    const std::vector<FrozenRow> next = table.Freeze();
    ASSERT_EQ(next.size(), 1u);
    EXPECT_EQ(AsText(*next[0].value), "two");
  }
}

TEST(RowTable, ALifeDroppedUnderADrainIsForgottenButItsFrozenRowsStayReadable) {
  RowTable table;
  Put(&table, "frozen", "f", 1);
  const std::vector<FrozenRow> rows = table.Freeze();
  Put(&table, "dirty", "d", 2);
  table.DropLife(kLife);
  EXPECT_EQ(Read(&table, "frozen"), "unknown");
  EXPECT_EQ(Read(&table, "dirty"), "unknown");
  EXPECT_EQ(AsText(*rows[0].value), "f");
  table.AbortDrain();
  EXPECT_TRUE(table.Freeze().empty());
  EXPECT_EQ(table.rows(), 0u);
}

TEST(RowTable, GivesMemoryBackWhenValuesShrink) {
  RowTable table;
  for (const size_t size : {4000, 40, 70000, 40}) {
    for (int i = 0; i < 300; i++) Put(&table, "key" + std::to_string(i), std::string(size, 'x'), i);
    table.Trim(300 * (size + 128) + (600 << 10));
    EXPECT_LE(table.bytes(), 300 * (size + 128) + (600 << 10)) << size;
    for (int i = 0; i < 300; i++) ASSERT_EQ(Read(&table, "key" + std::to_string(i)), std::string(size, 'x'));
  }
}

/// Table and store together are always what was written; table and drain are what was written since the last one that ended well.
class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed) {}

  void Step() {
    const uint64_t life = 1 + random_.Below(3);
    const std::string key = "k" + std::to_string(random_.Below(400));
    const uint64_t what = random_.Below(1000);
    if (what < 600) return Write(life, key);
    if (what < 900) return Check(life, key);
    if (what < 980) return CheckFill(life, key);
    if (what < 988) return Drain();
    if (what < 995) return table_.Trim(random_.Below(1 << 20));
    if (what < 997) return Drop(life);
  }

  void CheckAll() {
    for (uint64_t life = 1; life <= 3; life++)
      for (int i = 0; i < 400; i++) Check(life, "k" + std::to_string(i));
  }

 private:
  void Write(uint64_t life, const std::string& key) {
    std::optional<std::string> value;
    const size_t size = random_.OneIn(50) ? 5000 + random_.Below(80000) : random_.Below(40);
    if (!random_.OneIn(5)) value = std::string(size, static_cast<char>('a' + random_.Below(26)));
    written_[{life, key}] = value;
    table_.Put(LifeId(life), AsBytes(key), View(value), LogOffset(++offset_));
  }

  void Check(uint64_t life, const std::string& key) {
    const auto entry = table_.Get(LifeId(life), AsBytes(key));
    const auto got = entry ? Copy(entry->value) : Find(store_, life, key);
    ASSERT_EQ(got, Find(written_, life, key)) << life << key;
  }

  void CheckFill(uint64_t life, const std::string& key) {
    if (!reading_) {
      reading_.emplace(life, key);
      ticket_ = table_.StartRead();
      read_ = Find(store_, life, key);
      return;
    }
    table_.Fill(ticket_, LifeId(reading_->first), AsBytes(reading_->second), View(read_));
    Check(reading_->first, reading_->second);
    reading_.reset();
  }

  void Drain() {
    if (!draining_) {
      frozen_ = table_.Freeze();
      expected_.clear();
      for (const FrozenRow& row : frozen_) {
        const auto inserted = expected_.emplace(std::pair(row.life.value(), std::string(AsText(row.key))), Copy(row.value));
        ASSERT_TRUE(inserted.second) << "a key is in a generation twice";
      }
      draining_ = true;
      return;
    }
    draining_ = false;
    for (const FrozenRow& row : frozen_)
      ASSERT_EQ(expected_.at({row.life.value(), std::string(AsText(row.key))}), Copy(row.value)) << "changed under a drain";
    if (random_.OneIn(4)) return table_.AbortDrain();
    for (const auto& [key, value] : expected_) store_[key] = value;
    table_.FinishDrain();
  }

  // Lives are three here, so that keys meet again: a life is dropped only when no drain could bring it back.
  void Drop(uint64_t life) {
    if (draining_) return;
    table_.DropLife(LifeId(life));
    std::erase_if(written_, [&](const auto& row) { return row.first.first == life; });
    std::erase_if(store_, [&](const auto& row) { return row.first.first == life; });
  }

  static std::optional<std::string> Find(const Rows& rows, uint64_t life, const std::string& key) {
    const auto found = rows.find({life, key});
    return found == rows.end() ? std::nullopt : found->second;
  }

  Random random_;
  RowTable table_;
  Rows written_;
  Rows store_;
  Rows expected_;
  std::vector<FrozenRow> frozen_;
  bool draining_ = false;
  int64_t offset_ = 0;
  std::optional<std::pair<uint64_t, std::string>> reading_;
  std::optional<std::string> read_;
  RowTable::Ticket ticket_;
};

TEST(RowTable, AgreesWithAMapOverWritesDrainsFillsEvictionsAndDrops) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Model model(seed);
    for (int i = 0; i < 10000; i++) {
      model.Step();
      if (::testing::Test::HasFatalFailure()) return;
    }
    model.CheckAll();
  }
}

}  // namespace
}  // namespace strom::kv
