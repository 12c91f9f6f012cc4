#include "kv/aggregate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "kv/decimal_math.h"
#include "model/schema_validation.h"

namespace strom::kv {

using format::FieldView;
using format::Int128;
using model::TypeRoot;

namespace {

std::optional<AggregateKind> KindOf(std::string_view function) {
  struct Named {
    std::string_view name;
    AggregateKind kind;
  };
  static constexpr Named kKinds[] = {
      {"sum", AggregateKind::kSum},
      {"product", AggregateKind::kProduct},
      {"max", AggregateKind::kMax},
      {"min", AggregateKind::kMin},
      {"last_value", AggregateKind::kLastValue},
      {"last_value_ignore_nulls", AggregateKind::kLastValueIgnoreNulls},
      {"first_value", AggregateKind::kFirstValue},
      {"first_value_ignore_nulls", AggregateKind::kFirstValue},
      {"listagg", AggregateKind::kListAggregate},
      {"string_agg", AggregateKind::kListAggregate},
      {"bool_and", AggregateKind::kBoolAnd},
      {"bool_or", AggregateKind::kBoolOr},
      {"rbm32", AggregateKind::kRoaring32},
      {"rbm64", AggregateKind::kRoaring64},
  };
  for (const Named& named : kKinds) {
    if (named.name == function) return named.kind;
  }
  return std::nullopt;
}

/// In the width of T, wrapping like Java.
template <typename T>
int64_t Wrapped(int64_t a, int64_t b, bool is_sum) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  return static_cast<T>(is_sum ? x + y : x * y);
}

template <typename T>
int Compared(T a, T b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

/// Java's total order: -0.0 below 0.0, NaN above all and equal to itself.
template <typename T>
int ComparedFloats(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return Compared(std::isnan(a), std::isnan(b));
  if (a == b) return Compared(std::signbit(b), std::signbit(a));
  return Compared(a, b);
}

int ComparedBytes(ByteView a, ByteView b) {
  const size_t shared = std::min(a.size(), b.size());
  const int order = shared == 0 ? 0 : std::memcmp(a.data(), b.data(), shared);
  return order != 0 ? order : Compared(a.size(), b.size());
}

Result<int> ComparedFields(const model::DataType& type, const FieldView& a, const FieldView& b) {
  switch (type.root) {
    case TypeRoot::kFloat:
      return ComparedFloats(a.float_value(), b.float_value());
    case TypeRoot::kDouble:
      return ComparedFloats(a.double_value(), b.double_value());
    case TypeRoot::kChar:
    case TypeRoot::kString:
      return ComparedBytes(a.bytes, b.bytes);
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      return a.number != b.number ? Compared(a.number, b.number) : Compared(a.nanos_of_milli, b.nanos_of_milli);
    case TypeRoot::kDecimal: {
      STROM_ASSIGN(const Int128 x, format::DecimalOf(type, a));
      STROM_ASSIGN(const Int128 y, format::DecimalOf(type, b));
      return Compared(x, y);
    }
    default:
      return Compared(a.number, b.number);
  }
}

}  // namespace

Result<ColumnAggregate> ColumnAggregate::Make(const model::Column& column) {
  if (!column.aggregate) return ColumnAggregate(AggregateKind::kLastValueIgnoreNulls, column.type, column.name, "");
  STROM_TRY(model::ValidateAggregate(column));
  const model::AggregateFunction& function = *column.aggregate;
  const std::optional<AggregateKind> kind = KindOf(function.type);
  if (!kind)
    return MakeError(ErrorCode::kInvalidConfig, "the column {} has the aggregate function {}, which is none",
                     column.name, function.type);
  const auto delimiter = function.parameters.find("delimiter");
  ColumnAggregate made(*kind, column.type, column.name,
                       delimiter == function.parameters.end() ? "," : delimiter->second);
  if (*kind == AggregateKind::kRoaring32) made.bitmaps32_ = std::make_unique<Roaring32Union>();
  if (*kind == AggregateKind::kRoaring64) made.bitmaps64_ = std::make_unique<Roaring64Union>();
  return made;
}

Error ColumnAggregate::WithColumn(const Status& status) const {
  return MakeError(status.code(), "column {}: {}", column_, status.error().message);
}

Status ColumnAggregate::FoldValues(const FieldView& input, FieldView* accumulator) {
  switch (kind_) {
    case AggregateKind::kSum:
    case AggregateKind::kProduct:
      return Arithmetic(input, accumulator);
    case AggregateKind::kMax:
    case AggregateKind::kMin:
      return Extreme(input, accumulator);
    case AggregateKind::kLastValue:
    case AggregateKind::kLastValueIgnoreNulls:
      *accumulator = input;
      return Status::OK();
    case AggregateKind::kFirstValue:
      return Status::OK();
    case AggregateKind::kListAggregate:
      Join(input, accumulator);
      return Status::OK();
    case AggregateKind::kBoolAnd:
      accumulator->number &= input.number;
      return Status::OK();
    case AggregateKind::kBoolOr:
      accumulator->number |= input.number;
      return Status::OK();
    case AggregateKind::kRoaring32:
    case AggregateKind::kRoaring64:
      break;
  }
  return UniteBitmaps(input, accumulator);
}

Status ColumnAggregate::Arithmetic(const FieldView& input, FieldView* accumulator) {
  const bool is_sum = kind_ == AggregateKind::kSum;
  int64_t& number = accumulator->number;
  switch (type_.root) {
    case TypeRoot::kTinyInt:
      number = Wrapped<int8_t>(number, input.number, is_sum);
      break;
    case TypeRoot::kSmallInt:
      number = Wrapped<int16_t>(number, input.number, is_sum);
      break;
    case TypeRoot::kInteger:
      number = Wrapped<int32_t>(number, input.number, is_sum);
      break;
    case TypeRoot::kFloat: {
      const float a = accumulator->float_value();
      const float b = input.float_value();
      number = std::bit_cast<uint32_t>(is_sum ? a + b : a * b);
      break;
    }
    case TypeRoot::kDouble: {
      const double a = accumulator->double_value();
      const double b = input.double_value();
      number = std::bit_cast<int64_t>(is_sum ? a + b : a * b);
      break;
    }
    case TypeRoot::kDecimal:
      return DecimalArithmetic(input, accumulator);
    default:
      number = Wrapped<int64_t>(number, input.number, is_sum);
  }
  return Status::OK();
}

Status ColumnAggregate::DecimalArithmetic(const FieldView& input, FieldView* accumulator) {
  const bool is_compact = type_.is_compact_decimal();
  if (is_compact && kind_ == AggregateKind::kSum) {
    // The reference adds compact decimals without a look at the precision; a sum beyond 64 bits is beyond every compact precision, and so null.
    if (__builtin_add_overflow(accumulator->number, input.number, &accumulator->number))
      *accumulator = FieldView::Null();
    return Status::OK();
  }
  const Result<Int128> a = format::DecimalOf(type_, *accumulator);
  const Result<Int128> b = format::DecimalOf(type_, input);
  if (!a.ok()) return WithColumn(a.status());
  if (!b.ok()) return WithColumn(b.status());
  const std::optional<Int128> folded = kind_ == AggregateKind::kSum
                                           ? SumOfDecimals(a.value(), b.value(), type_.precision)
                                           : ProductOfDecimals(a.value(), b.value(), type_.precision, type_.scale);
  if (!folded) {
    *accumulator = FieldView::Null();
  } else if (is_compact) {
    *accumulator = FieldView::Number(static_cast<int64_t>(*folded));
  } else {
    *accumulator = FieldView::Bytes(format::DecimalToBytes(*folded, &decimal_));
  }
  return Status::OK();
}

Status ColumnAggregate::Extreme(const FieldView& input, FieldView* accumulator) {
  const Result<int> order = ComparedFields(type_, *accumulator, input);
  if (!order.ok()) return WithColumn(order.status());
  // Of equals max keeps the old one and min takes the new one, as the reference does: it shows where equal values differ in their bytes.
  const bool take_input = kind_ == AggregateKind::kMax ? order.value() < 0 : order.value() >= 0;
  if (take_input) *accumulator = input;
  return Status::OK();
}

void ColumnAggregate::Join(const FieldView& input, FieldView* accumulator) {
  bytes_.Clear();
  bytes_.Append(accumulator->bytes);
  bytes_.Append(delimiter_);
  bytes_.Append(input.bytes);
  *accumulator = FieldView::Bytes(bytes_.view());
}

Status ColumnAggregate::UniteBitmaps(const FieldView& input, FieldView* accumulator) {
  bytes_.Clear();
  const Status united = kind_ == AggregateKind::kRoaring32
                            ? bitmaps32_->Unite(accumulator->bytes, input.bytes, &bytes_)
                            : bitmaps64_->Unite(accumulator->bytes, input.bytes, &bytes_);
  if (!united.ok()) return WithColumn(united);
  *accumulator = FieldView::Bytes(bytes_.view());
  return Status::OK();
}

}  // namespace strom::kv
