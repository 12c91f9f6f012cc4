#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/schema.h"

namespace strom::format {

/// How one node of a flattened schema lies in a record batch. The buffers of each kind, in order:
enum class ArrowKind : uint8_t {
  kBits,      // validity, one bit a value
  kFixed,     // validity, `width` bytes a value
  kVariable,  // validity, i32 offsets, bytes
  kList,      // validity, i32 offsets; the next node holds the elements (of a map: a struct of key and value)
  kStruct,    // validity; the next nodes hold the fields
};

constexpr size_t ArrowBufferCount(ArrowKind kind) {
  return kind == ArrowKind::kVariable ? 3 : kind == ArrowKind::kStruct ? 1 : 2;
}

struct ArrowNodeLayout {
  ArrowKind kind = ArrowKind::kFixed;
  bool below_list = false;  // under an array or a map: its length is not that of the batch
  uint32_t width = 0;       // kFixed: bytes a value
};

/// The nodes and buffers of one top-level column: it and all its descendants, depth first.
struct ArrowFieldLayout {
  uint32_t first_node = 0;
  uint32_t node_count = 0;
  uint32_t first_buffer = 0;
  uint32_t buffer_count = 0;
};

/// The nodes and buffers of a record batch of one schema. A plain value, made once a schema. Source: spec/formats.md 3.
struct ArrowLayout {
  std::vector<ArrowNodeLayout> nodes;
  std::vector<ArrowFieldLayout> fields;  // one a column
  uint32_t buffer_count = 0;

  static ArrowLayout Of(const model::Schema& schema);
};

/// The layout of one node, without its children.
ArrowNodeLayout ArrowNodeOf(const model::DataType& type);

/// The unit in which TIME(p) and TIMESTAMP(p) count: how many of them are a second (1, 1'000, 1'000'000 or 1'000'000'000).
constexpr int64_t ArrowTicksPerSecond(int32_t precision) {
  return precision == 0 ? 1 : precision <= 3 ? 1'000 : precision <= 6 ? 1'000'000 : 1'000'000'000;
}

}  // namespace strom::format
