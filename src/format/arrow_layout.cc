#include "format/arrow_layout.h"

namespace strom::format {
namespace {

using model::DataType;
using model::TypeRoot;

void AddNode(const ArrowNodeLayout& node, ArrowLayout* layout) {
  layout->nodes.push_back(node);
  layout->buffer_count += static_cast<uint32_t>(ArrowBufferCount(node.kind));
}

void AddType(const DataType& type, bool below_list, ArrowLayout* layout) {
  ArrowNodeLayout node = ArrowNodeOf(type);
  node.below_list = below_list;
  AddNode(node, layout);
  switch (type.root) {
    case TypeRoot::kArray:
      AddType(type.element(), true, layout);
      return;
    case TypeRoot::kMap:
      AddNode({.kind = ArrowKind::kStruct, .below_list = true}, layout);
      AddType(type.key(), true, layout);
      AddType(type.map_value(), true, layout);
      return;
    case TypeRoot::kRow:
      for (const model::DataField& field : *type.fields) AddType(field.type, below_list, layout);
      return;
    default:
      return;
  }
}

uint32_t FixedWidth(const DataType& type) {
  switch (type.root) {
    case TypeRoot::kTinyInt:
      return 1;
    case TypeRoot::kSmallInt:
      return 2;
    case TypeRoot::kInteger:
    case TypeRoot::kFloat:
    case TypeRoot::kDate:
      return 4;
    case TypeRoot::kTime:
      return type.precision <= 3 ? 4 : 8;
    case TypeRoot::kDecimal:
      return 16;
    case TypeRoot::kBinary:
      return static_cast<uint32_t>(type.length);
    default:
      return 8;
  }
}

}  // namespace

ArrowNodeLayout ArrowNodeOf(const DataType& type) {
  switch (type.root) {
    case TypeRoot::kBoolean:
      return {.kind = ArrowKind::kBits};
    case TypeRoot::kChar:
    case TypeRoot::kString:
    case TypeRoot::kBytes:
      return {.kind = ArrowKind::kVariable};
    case TypeRoot::kArray:
    case TypeRoot::kMap:
      return {.kind = ArrowKind::kList};
    case TypeRoot::kRow:
      return {.kind = ArrowKind::kStruct};
    default:
      return {.kind = ArrowKind::kFixed, .width = FixedWidth(type)};
  }
}

ArrowLayout ArrowLayout::Of(const model::Schema& schema) {
  ArrowLayout layout;
  layout.fields.reserve(schema.columns.size());
  for (const model::Column& column : schema.columns) {
    ArrowFieldLayout field{.first_node = static_cast<uint32_t>(layout.nodes.size()), .first_buffer = layout.buffer_count};
    AddType(column.type, false, &layout);
    field.node_count = static_cast<uint32_t>(layout.nodes.size()) - field.first_node;
    field.buffer_count = layout.buffer_count - field.first_buffer;
    layout.fields.push_back(field);
  }
  return layout;
}

}  // namespace strom::format
