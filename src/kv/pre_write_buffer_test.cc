#include "kv/pre_write_buffer.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"

namespace strom::kv {
namespace {

struct Change {
  std::string key;
  std::optional<std::string> value;
  int64_t offset = 0;
};

/// Publishes entries whose records follow each other, so that the i-th takes the offset first + i.
void Publish(PreWriteBuffer* buffer, const std::vector<Change>& changes, int64_t first) {
  MutableBuffer bytes;
  for (const Change& change : changes) bytes.Append(change.value.value_or(""));
  ChangePlan plan;
  plan.bytes = bytes.Freeze();
  size_t position = 0;
  for (const Change& change : changes) {
    const size_t size = change.value ? change.value->size() : 0;
    plan.entries.push_back(
        {.key = AsBytes(change.key),
         .value = change.value ? std::optional(plan.bytes.view().subspan(position, size)) : std::nullopt,
         .last_record = static_cast<int32_t>(plan.entries.size()),
         .row_count_change = 1});
    position += size;
  }
  buffer->Publish(plan, LogOffset(first));
}

std::string Said(const PreWriteBuffer& buffer, std::string_view key) {
  const PreWriteBuffer::Found found = buffer.Find(AsBytes(key));
  return !found.found ? "nothing" : !found.value ? "removed" : std::string(AsText(*found.value));
}

TEST(PreWriteBuffer, ShowsTheNewestEntryOfAKeyUntilItHasLeft) {
  PreWriteBuffer buffer;
  Publish(&buffer, {{"a", "1"}, {"b", "2"}, {"a", std::nullopt}}, 10);
  EXPECT_EQ(Said(buffer, "a"), "removed");
  EXPECT_EQ(Said(buffer, "b"), "2");
  EXPECT_EQ(Said(buffer, "c"), "nothing");
  std::vector<int64_t> offsets;
  buffer.PopBelow(LogOffset(12), [&](const PendingEntry& entry) { offsets.push_back(entry.offset.value()); });
  EXPECT_EQ(offsets, (std::vector<int64_t>{10, 11}));
  EXPECT_EQ(Said(buffer, "a"), "removed");
  EXPECT_EQ(Said(buffer, "b"), "nothing");
  buffer.PopBelow(LogOffset(13), [](const PendingEntry&) {});
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.size_bytes(), 0U);
}

TEST(PreWriteBuffer, ShowsWhatAKeyWasBeforeATruncation) {
  PreWriteBuffer buffer;
  Publish(&buffer, {{"a", "old"}}, 0);
  const size_t before = buffer.size_bytes();
  Publish(&buffer, {{"a", "new"}, {"b", "new"}}, 1);
  buffer.TruncateFrom(LogOffset(1));
  EXPECT_EQ(Said(buffer, "a"), "old");
  EXPECT_EQ(Said(buffer, "b"), "nothing");
  EXPECT_EQ(buffer.size_bytes(), before);
  Publish(&buffer, {{"b", "again"}}, 1);
  EXPECT_EQ(Said(buffer, "b"), "again");
}

TEST(PreWriteBuffer, DoesWhatAListOfChangesDoes) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const uint64_t key_count = 1 + random.Below(300);
    PreWriteBuffer buffer;
    std::deque<Change> twin;
    int64_t end = 0;
    for (int step = 0; step < 120; ++step) {
      const uint64_t what = random.Below(10);
      if (what < 6) {
        std::vector<Change> changes;
        for (uint64_t i = random.Below(40); i > 0; --i) {
          const std::string key = fmt::format("key {}", random.Below(key_count));
          const auto value =
              random.OneIn(4) ? std::nullopt : std::optional(fmt::format("value {}", random.Below(1000)));
          changes.push_back({key, value, end + static_cast<int64_t>(changes.size())});
        }
        Publish(&buffer, changes, end);
        twin.insert(twin.end(), changes.begin(), changes.end());
        end += static_cast<int64_t>(changes.size());
      } else if (what < 9) {
        const int64_t bound = twin.empty() ? end : twin.front().offset + static_cast<int64_t>(random.Below(80));
        buffer.PopBelow(LogOffset(bound), [&](const PendingEntry& entry) {
          ASSERT_FALSE(twin.empty());
          EXPECT_EQ(entry.offset.value(), twin.front().offset);
          EXPECT_EQ(AsText(entry.key), twin.front().key);
          EXPECT_EQ(entry.value ? std::optional(std::string(AsText(*entry.value))) : std::nullopt, twin.front().value);
          twin.pop_front();
        });
        EXPECT_TRUE(twin.empty() || twin.front().offset >= bound);
      } else {
        const int64_t cut = std::max<int64_t>(0, end - static_cast<int64_t>(random.Below(30)));
        buffer.TruncateFrom(LogOffset(cut));
        while (!twin.empty() && twin.back().offset >= cut) twin.pop_back();
        end = cut;
      }
      ASSERT_EQ(buffer.entry_count(), twin.size());
      std::map<std::string, std::string> newest;
      for (const Change& change : twin) newest[change.key] = change.value.value_or("removed");
      for (uint64_t i = 0; i < key_count; ++i) {
        const std::string key = fmt::format("key {}", i);
        const auto known = newest.find(key);
        ASSERT_EQ(Said(buffer, key), known == newest.end() ? "nothing" : known->second) << key;
      }
    }
    buffer.PopBelow(LogOffset(end), [](const PendingEntry&) {});
    EXPECT_EQ(buffer.size_bytes(), 0U);
  }
}

}  // namespace
}  // namespace strom::kv
