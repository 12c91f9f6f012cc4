#pragma once

#include <cstdint>

#include "base/named_type.h"
#include "base/timestamp.h"

namespace strom {

/// Position in a bucket's log: one a record, dense.
using LogOffset = NamedType<int64_t, struct LogOffsetTag>;
using TableId = NamedType<int64_t, struct TableIdTag>;          // from 0, cluster wide, never used twice
using PartitionId = NamedType<int64_t, struct PartitionIdTag>;  // from 0, cluster wide, never used twice
using SchemaId = NamedType<int32_t, struct SchemaIdTag>;        // from 1, a table's; int16 in record batches
using BucketId = NamedType<int32_t, struct BucketIdTag>;        // 0 .. bucket count - 1
using ServerId = NamedType<int32_t, struct ServerIdTag>;
using WriterId = NamedType<int64_t, struct WriterIdTag>;  // -1: not idempotent
using LeaderEpoch = NamedType<int32_t, struct LeaderEpochTag>;
using BucketEpoch = NamedType<int32_t, struct BucketEpochTag>;
using CoordinatorEpoch = NamedType<int32_t, struct CoordinatorEpochTag>;

inline constexpr WriterId kNoWriterId{-1};
inline constexpr ServerId kNoLeader{-1};

inline LogOffset operator+(LogOffset offset, int64_t records) { return LogOffset(offset.value() + records); }
inline int64_t operator-(LogOffset a, LogOffset b) { return a.value() - b.value(); }

}  // namespace strom
