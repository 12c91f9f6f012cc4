#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/predicate.h"
#include "rt/pieces.h"
#include "sim/world.h"

namespace strom::sim {

/// What a client asks for in one FetchLog.
struct FetchWish {
  struct Item {
    int32_t bucket = 0;
    int64_t offset = 0;
    int64_t log_end = INT64_MAX;  // when it was asked: what lies above may be out of range
  };
  std::vector<Item> items;
  int32_t max_bytes = 1 << 20;
  int32_t wait_ms = 0;
  int32_t min_bytes = 1;
  std::vector<int32_t> projection;  // empty: all columns
  std::optional<format::Predicate> filter;
  uint32_t shard = 0;  // of the connection

  bool plain() const { return projection.empty() && !filter; }
  std::string ToString() const;
};

/// What it is told of one bucket.
struct FetchedBucket {
  int32_t bucket = 0;
  ErrorCode error = ErrorCode::kNone;
  std::string message;
  int64_t high_watermark = -1;
  int64_t log_start = -1;
  std::optional<int64_t> filtered_end;
  Buffer records;
};

rt::Pieces EncodeFetch(const World& world, const FetchWish& wish);
Result<std::vector<FetchedBucket>> DecodeFetch(const Buffer& body);

/// SQL's meaning of the filter for one row: true only where it is neither false nor unknown. A column that the row lacks is null.
bool Matches(const format::Predicate& predicate, const format::Value& row);

}  // namespace strom::sim
