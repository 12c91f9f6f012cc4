#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/kv_batch.h"

namespace strom::kv {

/// The records of one PutKv batch with their distinct keys numbered in the order of their first record, so that old rows are asked for once a key and
/// kept by number. Views into the batch. Keeps its memory from batch to batch.
class BatchKeys {
 public:
  struct Record {
    uint32_t key = 0;  // number of the key
    ByteView row;      // empty: a delete
  };

  /// kCorruptRecord where the batch is not what its header says.
  Status Read(const format::KvBatchHeader& header, ByteView batch);

  const std::vector<Record>& records() const { return records_; }
  /// By number.
  const std::vector<ByteView>& keys() const { return keys_; }

 private:
  uint32_t NumberOf(ByteView key);

  std::vector<Record> records_;
  std::vector<ByteView> keys_;
  std::vector<uint32_t> slots_;  // open addressing: number + 1, 0 is free; a power of two, at most half full
};

}  // namespace strom::kv
