#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "format/field_view.h"
#include "kv/roaring32.h"
#include "kv/roaring64.h"
#include "model/schema.h"

namespace strom::kv {

/// The functions of the aggregation engine. listagg and string_agg are one; so are first_value and first_value_ignore_nulls, since a null is never
/// remembered as the first value (spec/server.md 10.4).
enum class AggregateKind : uint8_t {
  kSum,
  kProduct,
  kMax,
  kMin,
  kLastValue,
  kLastValueIgnoreNulls,
  kFirstValue,
  kListAggregate,
  kBoolAnd,
  kBoolOr,
  kRoaring32,
  kRoaring64,
};

/// Folds the values of one column (spec/server.md 10.4, spec/formats.md 13.4), each in its type's own arithmetic. Keeps the memory that its results
/// need, so a fold allocates nothing in the steady state.
class ColumnAggregate {
 public:
  /// The function of a column; last_value_ignore_nulls where it has none. kInvalidConfig where it does not take the column's type.
  static Result<ColumnAggregate> Make(const model::Column& column);
  /// What key columns have.
  static ColumnAggregate LastValue() { return ColumnAggregate(AggregateKind::kLastValue, {}, "", ""); }

  AggregateKind kind() const { return kind_; }

  /// `accumulator` becomes the result. Its bytes are views into those of the operands, or into this aggregate, where they hold until the next fold.
  /// kCorruptRecord, with the column, where bytes are no decimal or no bitmap.
  Status Fold(const format::FieldView& input, format::FieldView* accumulator) {
    if (kind_ == AggregateKind::kLastValue) {
      *accumulator = input;
      return Status::OK();
    }
    if (input.is_null) return Status::OK();
    if (accumulator->is_null) {
      *accumulator = input;
      return Status::OK();
    }
    return FoldValues(input, accumulator);
  }

 private:
  ColumnAggregate(AggregateKind kind, model::DataType type, std::string column, std::string delimiter)
      : kind_(kind), type_(std::move(type)), column_(std::move(column)), delimiter_(std::move(delimiter)) {}

  Status FoldValues(const format::FieldView& input, format::FieldView* accumulator);
  Status Arithmetic(const format::FieldView& input, format::FieldView* accumulator);
  Status DecimalArithmetic(const format::FieldView& input, format::FieldView* accumulator);
  Status Extreme(const format::FieldView& input, format::FieldView* accumulator);
  void Join(const format::FieldView& input, format::FieldView* accumulator);
  Status UniteBitmaps(const format::FieldView& input, format::FieldView* accumulator);
  Error WithColumn(const Status& status) const;

  AggregateKind kind_;
  model::DataType type_;
  std::string column_;
  std::string delimiter_;
  format::DecimalBytes decimal_{};
  MutableBuffer bytes_;
  std::unique_ptr<Roaring32Union> bitmaps32_;  // rbm32 only
  std::unique_ptr<Roaring64Union> bitmaps64_;  // rbm64 only
};

}  // namespace strom::kv
