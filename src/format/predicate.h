#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/log_batch.h"
#include "format/statistics.h"
#include "format/value.h"
#include "model/schema.h"

namespace strom::format {

/// Predicates nested deeper than this are refused (design: recursive messages).
inline constexpr int kPredicateDepthMax = 64;

/// What a leaf asks of a column. The numbers are the protocol's (spec/wire-protocol.md 6.20).
enum class PredicateFunction : uint8_t {
  kEqual = 0,
  kNotEqual = 1,
  kLess = 2,
  kLessOrEqual = 3,
  kGreater = 4,
  kGreaterOrEqual = 5,
  kIsNull = 6,
  kIsNotNull = 7,
  kStartsWith = 8,
  kContains = 9,
  kEndsWith = 10,
  kIn = 11,
  kNotIn = 12,
};
inline constexpr uint8_t kPredicateFunctionMax = 12;

/// The filter of a fetch: a tree of comparisons of columns with literals. A plain value.
struct Predicate {
  enum class Kind : uint8_t { kLeaf, kAnd, kOr };
  Kind kind = Kind::kLeaf;

  // kLeaf
  PredicateFunction function = PredicateFunction::kEqual;
  int32_t column_id = -1;       // of a top-level column
  std::vector<Value> literals;  // none for (not) null, any number for (not) in, else one; of the column's type, or null

  // kAnd, kOr
  std::vector<Predicate> children;
};

/// A predicate with its columns found in one schema, so that a batch is judged without looking anything up.
class BoundPredicate {
 public:
  /// A leaf on a column that the schema lacks, with literals that do not fit the column's type or deeper than kPredicateDepthMax lets
  /// every batch through. `predicate` and `schema` must outlive the result.
  static BoundPredicate Bind(const Predicate& predicate, const model::Schema& schema);

  /// False only if no record of the batch can match. Source: spec/formats.md 6. Where clients disagree on what matches (-0.0 and 0.0,
  /// NaN) the batch is kept for either meaning.
  bool MayMatch(int32_t record_count, const BatchStatistics& statistics) const;

 private:
  struct Literal {
    bool is_null = false;
    bool is_nan = false;
    // Usually the same; -0.0 and 0.0 for a literal zero, as clients may take both for one number.
    FieldView low;
    FieldView high;
    DecimalBytes room;  // what `low` and `high` of a wide decimal look at
  };
  struct Node {
    Predicate::Kind kind = Predicate::Kind::kLeaf;
    bool unknown = false;  // keeps every batch
    PredicateFunction function = PredicateFunction::kEqual;
    const model::DataType* type = nullptr;
    size_t position = 0;
    std::vector<std::unique_ptr<Literal>> literals;  // do not move: a literal may look at its own room
    std::vector<Node> children;
  };
  /// The range of one column in one batch.
  struct Range {
    FieldView min;
    FieldView max;
  };

  static Node BindNode(const Predicate& predicate, const model::Schema& schema, int depth);
  static bool BindLiteral(const model::DataType& type, const Value& value, Literal* literal);
  static bool NodeMayMatch(const Node& node, int32_t record_count, const BatchStatistics& statistics);
  static bool LeafMayMatch(const Node& node, int32_t record_count, const BatchStatistics& statistics);
  static Result<bool> RangeMayMatch(const Node& node, const Range& range);

  Node root_;
};

/// Where schemas come from; null for an id that is not known.
using SchemaLookup = std::function<std::shared_ptr<const model::Schema>(SchemaId)>;

/// The filter of one fetch over batches of any schemas of the table. Not thread safe.
class BatchFilter {
 public:
  BatchFilter(Predicate predicate, SchemaLookup schemas) : predicate_(std::move(predicate)), schemas_(std::move(schemas)) {}

  /// Whether the batch is kept; `statistics` is its statistics block, empty when it has none. Everything unknown or unreadable is kept.
  bool MayMatch(const LogBatchHeader& header, ByteView statistics);

 private:
  struct Bound {
    std::shared_ptr<const model::Schema> schema;
    BoundPredicate predicate;
  };
  const Predicate predicate_;
  const SchemaLookup schemas_;
  std::map<int16_t, std::unique_ptr<Bound>> bound_;  // null: the schema is not known
};

}  // namespace strom::format
