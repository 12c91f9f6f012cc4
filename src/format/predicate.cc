#include "format/predicate.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace strom::format {
namespace {

using model::DataType;
using model::TypeRoot;

bool IsText(const DataType& type) { return type.root == TypeRoot::kChar || type.root == TypeRoot::kString; }

/// How many literals a function takes; -1 for any number.
int LiteralCount(PredicateFunction function) {
  switch (function) {
    case PredicateFunction::kIsNull:
    case PredicateFunction::kIsNotNull:
      return 0;
    case PredicateFunction::kIn:
    case PredicateFunction::kNotIn:
      return -1;
    default:
      return 1;
  }
}

/// a <= b
Result<bool> NotAbove(const DataType& type, const FieldView& a, const FieldView& b) {
  STROM_ASSIGN(const std::strong_ordering order, CompareFields(type, a, b));
  return order <= 0;
}

Result<bool> Below(const DataType& type, const FieldView& a, const FieldView& b) {
  STROM_ASSIGN(const std::strong_ordering order, CompareFields(type, a, b));
  return order < 0;
}

}  // namespace

BoundPredicate BoundPredicate::Bind(const Predicate& predicate, const model::Schema& schema) {
  BoundPredicate bound;
  bound.root_ = BindNode(predicate, schema, 0);
  return bound;
}

BoundPredicate::Node BoundPredicate::BindNode(const Predicate& predicate, const model::Schema& schema, int depth) {
  Node node;
  node.kind = predicate.kind;
  node.function = predicate.function;
  if (depth >= kPredicateDepthMax) {
    node.unknown = true;
    return node;
  }
  if (predicate.kind != Predicate::Kind::kLeaf) {
    node.unknown = predicate.children.empty();
    for (const Predicate& child : predicate.children) node.children.push_back(BindNode(child, schema, depth + 1));
    return node;
  }
  const std::optional<size_t> position = schema.FindColumnById(predicate.column_id);
  const int count = LiteralCount(predicate.function);
  if (!position.has_value() || (count >= 0 && predicate.literals.size() != static_cast<size_t>(count))) {
    node.unknown = true;
    return node;
  }
  node.position = *position;
  node.type = &schema.columns[*position].type;
  for (const Value& value : predicate.literals) {
    auto literal = std::make_unique<Literal>();
    if (!BindLiteral(*node.type, value, literal.get())) {
      node.unknown = true;
      return node;
    }
    node.literals.push_back(std::move(literal));
  }
  return node;
}

bool BoundPredicate::BindLiteral(const DataType& type, const Value& value, Literal* literal) {
  literal->is_null = value.is_null();
  if (literal->is_null) return true;
  if (type.is_nested() || !ViewOfValue(type, value, &literal->room, &literal->low).ok()) return false;
  literal->high = literal->low;
  if (type.root == TypeRoot::kFloat) {
    literal->is_nan = std::isnan(value.float_value());
    if (value.float_value() == 0) {
      literal->low = FieldView::Number(std::bit_cast<uint32_t>(-0.0F));
      literal->high = FieldView::Number(0);
    }
  }
  if (type.root == TypeRoot::kDouble) {
    literal->is_nan = std::isnan(value.double_value());
    if (value.double_value() == 0) {
      literal->low = FieldView::Number(std::bit_cast<int64_t>(-0.0));
      literal->high = FieldView::Number(0);
    }
  }
  return true;
}

bool BoundPredicate::MayMatch(int32_t record_count, const BatchStatistics& statistics) const {
  return NodeMayMatch(root_, record_count, statistics);
}

// No node negates its children, so a leaf that answers true for "unknown" never makes the whole answer false too early.
bool BoundPredicate::NodeMayMatch(const Node& node, int32_t record_count, const BatchStatistics& statistics) {
  if (node.unknown) return true;
  const auto may_match = [&](const Node& child) { return NodeMayMatch(child, record_count, statistics); };
  switch (node.kind) {
    case Predicate::Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), may_match);
    case Predicate::Kind::kOr:
      return std::any_of(node.children.begin(), node.children.end(), may_match);
    case Predicate::Kind::kLeaf:
      return LeafMayMatch(node, record_count, statistics);
  }
  return true;
}

bool BoundPredicate::LeafMayMatch(const Node& node, int32_t record_count, const BatchStatistics& statistics) {
  const std::optional<size_t> entry = statistics.Find(node.position);
  if (!entry.has_value()) return true;
  const int64_t null_count = statistics.null_count(*entry);
  const bool known = null_count >= 0;
  if (node.function == PredicateFunction::kIsNull) return !known || null_count > 0;
  if (node.function == PredicateFunction::kIsNotNull) return !known || null_count < record_count;

  const bool all_null = known && null_count == record_count;
  if (all_null) return false;  // nothing compares with null
  Range range;
  if (!statistics.Min(*entry, *node.type, &range.min).ok() || !statistics.Max(*entry, *node.type, &range.max).ok()) return true;
  if (range.min.is_null || range.max.is_null) return true;
  const bool single = node.function != PredicateFunction::kIn && node.function != PredicateFunction::kNotIn;
  if (single && node.literals.front()->is_null) return !known;
  const Result<bool> may_match = RangeMayMatch(node, range);
  return !may_match.ok() || may_match.value();
}

namespace {

/// Some text in [min, max] may start with `prefix`: min is not above all of those, max not below.
bool PrefixMayMatch(std::string_view prefix, std::string_view min, std::string_view max) {
  return (min.starts_with(prefix) || min <= prefix) && (max.starts_with(prefix) || max >= prefix);
}

}  // namespace

Result<bool> BoundPredicate::RangeMayMatch(const Node& node, const Range& range) {
  const DataType& type = *node.type;
  const auto within = [&](const Literal& literal) -> Result<bool> {
    STROM_ASSIGN(const bool from, NotAbove(type, range.min, literal.high));
    STROM_ASSIGN(const bool to, NotAbove(type, literal.low, range.max));
    return from && to;
  };
  // All values are this one literal, whatever is taken for equal: never so for zero, whose bounds differ.
  const auto only = [&](const Literal& literal) -> Result<bool> {
    if (literal.is_nan) return false;
    STROM_ASSIGN(const std::strong_ordering spread, CompareFields(type, range.min, range.max));
    STROM_ASSIGN(const std::strong_ordering low, CompareFields(type, range.min, literal.low));
    STROM_ASSIGN(const std::strong_ordering high, CompareFields(type, range.max, literal.high));
    return spread == 0 && low == 0 && high == 0;
  };
  switch (node.function) {
    case PredicateFunction::kEqual:
      return within(*node.literals.front());
    case PredicateFunction::kNotEqual: {
      STROM_ASSIGN(const bool all_equal, only(*node.literals.front()));
      return !all_equal;
    }
    case PredicateFunction::kLess:
      return Below(type, range.min, node.literals.front()->high);
    case PredicateFunction::kLessOrEqual:
      return NotAbove(type, range.min, node.literals.front()->high);
    case PredicateFunction::kGreater:
      return Below(type, node.literals.front()->low, range.max);
    case PredicateFunction::kGreaterOrEqual:
      return NotAbove(type, node.literals.front()->low, range.max);
    case PredicateFunction::kStartsWith:
      return !IsText(type) || PrefixMayMatch(node.literals.front()->low.text(), range.min.text(), range.max.text());
    case PredicateFunction::kIn:
      for (const auto& literal : node.literals) {
        if (literal->is_null) continue;
        STROM_ASSIGN(const bool inside, within(*literal));
        if (inside) return true;
      }
      return false;
    case PredicateFunction::kNotIn:
      for (const auto& literal : node.literals) {
        if (literal->is_null) return false;  // x NOT IN (..., NULL) is never true
        STROM_ASSIGN(const bool all_equal, only(*literal));
        if (all_equal) return false;
      }
      return true;
    case PredicateFunction::kContains:
    case PredicateFunction::kEndsWith:
    case PredicateFunction::kIsNull:
    case PredicateFunction::kIsNotNull:
      return true;
  }
  return true;
}

bool BatchFilter::MayMatch(const LogBatchHeader& header, ByteView statistics) {
  if (statistics.empty()) return true;
  const auto [found, added] = bound_.try_emplace(header.schema_id);
  if (added) {
    if (auto schema = schemas_(SchemaId(header.schema_id)); schema != nullptr) {
      BoundPredicate predicate = BoundPredicate::Bind(predicate_, *schema);
      found->second = std::make_unique<Bound>(Bound{std::move(schema), std::move(predicate)});
    }
  }
  if (found->second == nullptr) return true;
  const Result<BatchStatistics> parsed = BatchStatistics::Parse(statistics);
  return !parsed.ok() || found->second->predicate.MayMatch(header.record_count, parsed.value());
}

}  // namespace strom::format
