#pragma once

#include <optional>

#include "base/result.h"
#include "model/table_bucket.h"
#include "rpc/string_arena.h"

namespace strom::tablet {

inline model::TableBucket MakeTableBucket(int64_t table_id, std::optional<int64_t> partition_id, int32_t bucket_id) {
  return {TableId(table_id), partition_id ? std::optional(PartitionId(*partition_id)) : std::nullopt, BucketId(bucket_id)};
}

/// Puts an error into an entry of a response. Reads of a bucket that is refused for damaged data get CORRUPT_RECORD.
template <typename Entry>
void SetReadError(const Error& error, rpc::StringArena* arena, Entry* entry) {
  entry->error_code = static_cast<int32_t>(ToWireCode(error.code));
  entry->error_message = arena->Keep(error.message);
}

/// The same for writes and lookups: a refused bucket gets a code that clients do not retry for ever (design.md 2).
template <typename Entry>
void SetWriteError(const Error& error, rpc::StringArena* arena, Entry* entry) {
  const ErrorCode code =
      error.code == ErrorCode::kCorruptData ? ErrorCode::kOperationNotAttempted : ToWireCode(error.code);
  entry->error_code = static_cast<int32_t>(code);
  entry->error_message = arena->Keep(error.message);
}

}  // namespace strom::tablet
