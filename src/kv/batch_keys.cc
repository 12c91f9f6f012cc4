#include "kv/batch_keys.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace strom::kv {

Status BatchKeys::Read(const format::KvBatchHeader& header, ByteView batch) {
  records_.clear();
  keys_.clear();
  // The count is the client's word: memory follows the bytes that are there. A record is at least its length, a key length and nothing more.
  constexpr size_t kRecordSizeMin = 5;
  const size_t most =
      std::min<size_t>(static_cast<size_t>(std::max(header.record_count, 0)), batch.size() / kRecordSizeMin);
  records_.reserve(most);
  slots_.assign(std::bit_ceil(std::max<size_t>(2 * most, 8)), 0);
  format::KvRecordReader reader(header, batch);
  format::KvRecord record;
  while (!reader.done()) {
    STROM_TRY(reader.Next(&record));
    records_.push_back({NumberOf(record.key), record.row});
  }
  return Status::OK();
}

uint32_t BatchKeys::NumberOf(ByteView key) {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = std::hash<std::string_view>()(AsText(key)) & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      keys_.push_back(key);
      slots_[slot] = static_cast<uint32_t>(keys_.size());
      return slots_[slot] - 1;
    }
    const ByteView known = keys_[slots_[slot] - 1];
    if (std::ranges::equal(known, key)) return slots_[slot] - 1;
  }
}

}  // namespace strom::kv
