#include "kv/testing/merge_twin.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kv/testing/roaring_images.h"

namespace strom::kv::testing {

using format::Int128;
using format::Value;
using model::MergeEngine;
using model::TypeRoot;

namespace {

/// Decimal digits, the lowest first: what one does on paper.
using Digits = std::vector<int>;

Digits DigitsOf(Int128 magnitude) {
  Digits digits;
  std::string text = format::Int128ToString(magnitude);
  if (text.front() == '-') text.erase(0, 1);
  for (auto c = text.rbegin(); c != text.rend(); ++c) digits.push_back(*c - '0');
  return digits;
}

void Trim(Digits* digits) {
  while (!digits->empty() && digits->back() == 0) digits->pop_back();
}

/// Null beyond the precision.
Value DecimalOf(Digits digits, bool is_negative, int32_t precision) {
  Trim(&digits);
  if (digits.size() > static_cast<size_t>(precision)) return Value::Null();
  Int128 value = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) value = value * 10 + *digit;
  return Value::Decimal(is_negative ? -value : value);
}

Value DecimalProduct(const model::DataType& type, Int128 a, Int128 b) {
  const Digits x = DigitsOf(a);
  const Digits y = DigitsOf(b);
  Digits product(x.size() + y.size() + 1, 0);
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < y.size(); ++j) product[i + j] += x[i] * y[j];
  }
  const auto scale = static_cast<size_t>(type.scale);
  product.resize(std::max(product.size(), scale + 1), 0);
  if (scale > 0) {
    // Carry first, so that the digit that decides is one digit.
    for (size_t i = 0; i + 1 < product.size(); ++i) {
      product[i + 1] += product[i] / 10;
      product[i] %= 10;
    }
    const bool rounds_up = product[scale - 1] >= 5;
    product.erase(product.begin(), product.begin() + static_cast<std::ptrdiff_t>(scale));
    if (rounds_up) ++product[0];
  }
  product.push_back(0);
  for (size_t i = 0; i + 1 < product.size(); ++i) {
    product[i + 1] += product[i] / 10;
    product[i] %= 10;
  }
  return DecimalOf(product, (a < 0) != (b < 0), type.precision);
}

Value DecimalSum(const model::DataType& type, Int128 a, Int128 b) {
  if (type.precision <= 18) {
    const Int128 sum = a + b;
    const bool fits = sum >= std::numeric_limits<int64_t>::min() && sum <= std::numeric_limits<int64_t>::max();
    return fits ? Value::Decimal(sum) : Value::Null();
  }
  // |a| and |b| are below 10^38, their sum is below 2^128: as magnitudes where the signs agree.
  if ((a < 0) != (b < 0)) return DecimalOf(DigitsOf(a + b), a + b < 0, type.precision);
  Digits x = DigitsOf(a);
  const Digits y = DigitsOf(b);
  x.resize(std::max(x.size(), y.size()) + 1, 0);
  for (size_t i = 0; i < y.size(); ++i) x[i] += y[i];
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    x[i + 1] += x[i] / 10;
    x[i] %= 10;
  }
  return DecimalOf(x, a < 0, type.precision);
}

int64_t Wrap(Int128 exact, int bits) {
  const Int128 modulus = Int128{1} << bits;
  Int128 rest = exact % modulus;
  if (rest < 0) rest += modulus;
  if (rest >= modulus / 2) rest -= modulus;
  return static_cast<int64_t>(rest);
}

int BitsOf(TypeRoot root) {
  switch (root) {
    case TypeRoot::kTinyInt:
      return 8;
    case TypeRoot::kSmallInt:
      return 16;
    case TypeRoot::kInteger:
      return 32;
    default:
      return 64;
  }
}

Value Arithmetic(const model::DataType& type, const Value& a, const Value& b, bool is_sum) {
  switch (type.root) {
    case TypeRoot::kFloat:
      return Value::Float(is_sum ? a.float_value() + b.float_value() : a.float_value() * b.float_value());
    case TypeRoot::kDouble:
      return Value::Double(is_sum ? a.double_value() + b.double_value() : a.double_value() * b.double_value());
    case TypeRoot::kDecimal:
      return is_sum ? DecimalSum(type, a.decimal(), b.decimal()) : DecimalProduct(type, a.decimal(), b.decimal());
    default: {
      const Int128 x = a.integer();
      const Int128 y = b.integer();
      return Value::Integer(Wrap(is_sum ? x + y : x * y, BitsOf(type.root)));
    }
  }
}

/// Floats as integers of the same order: the bits, those of negative numbers turned round; a NaN is above all.
int64_t OrderOf(double value) {
  if (std::isnan(value)) return std::numeric_limits<int64_t>::max();
  const auto bits = std::bit_cast<int64_t>(value);
  return bits >= 0 ? bits : std::numeric_limits<int64_t>::min() - bits - 1;
}

bool Less(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Value::Kind::kFloat:
      return OrderOf(a.float_value()) < OrderOf(b.float_value());
    case Value::Kind::kDouble:
      return OrderOf(a.double_value()) < OrderOf(b.double_value());
    case Value::Kind::kDecimal:
      return a.decimal() < b.decimal();
    case Value::Kind::kTimestamp:
      return std::pair(a.timestamp().millis, a.timestamp().nanos_of_milli) <
             std::pair(b.timestamp().millis, b.timestamp().nanos_of_milli);
    case Value::Kind::kBytes:
      return a.text() < b.text();  // char_traits<char> compares as unsigned bytes
    default:
      return a.integer() < b.integer();
  }
}

Value United(const Value& a, const Value& b, bool is_wide) {
  const auto values = [&](const Value& image) {
    return is_wide ? Roaring64Values(image.bytes()) : Roaring32Values(image.bytes());
  };
  std::set<uint64_t> united;
  for (const uint64_t value : values(a)) united.insert(value);
  for (const uint64_t value : values(b)) united.insert(value);
  if (is_wide) return Value::Bytes(Roaring64Image({united.begin(), united.end()}).view());
  return Value::Bytes(Roaring32Image({united.begin(), united.end()}).view());
}

}  // namespace

Value AggregatedValue(const model::Column& column, const Value& old, const Value& incoming) {
  const std::string function = column.aggregate ? column.aggregate->type : "last_value_ignore_nulls";
  if (function == "sum" || function == "product") return Arithmetic(column.type, old, incoming, function == "sum");
  if (function == "max") return Less(old, incoming) ? incoming : old;
  if (function == "min") return Less(old, incoming) ? old : incoming;
  if (function.starts_with("last_value")) return incoming;
  if (function.starts_with("first_value")) return old;
  if (function == "bool_and") return Value::Boolean(old.boolean() && incoming.boolean());
  if (function == "bool_or") return Value::Boolean(old.boolean() || incoming.boolean());
  if (function == "rbm32" || function == "rbm64") return United(old, incoming, function == "rbm64");
  const auto& parameters = column.aggregate->parameters;
  const std::string delimiter = parameters.contains("delimiter") ? parameters.at("delimiter") : ",";
  return Value::String(std::string(old.text()) + delimiter + std::string(incoming.text()));
}

MergeTwin::MergeTwin(const model::Schema* latest, const model::TableConfig& config, std::set<int32_t> targets,
                     MergeMode mode)
    : latest_(latest), config_(config), targets_(std::move(targets)) {
  if (mode == MergeMode::kOverwrite) config_.merge_engine = MergeEngine::kDefault;
  if (targets_.size() == latest->columns.size()) targets_.clear();
  for (const std::string& name : latest->primary_key) key_.insert(latest->columns[*latest->FindColumn(name)].id);
}

std::optional<TwinRow> MergeTwin::Merge(const std::optional<TwinRow>& old, const TwinRow& incoming) const {
  if (config_.merge_engine == MergeEngine::kFirstRow) return old ? std::nullopt : std::optional(incoming);
  if (config_.merge_engine == MergeEngine::kVersioned) {
    if (!old) return incoming;
    const int32_t version = latest_->columns[*latest_->FindColumn(*config_.versioned_column)].id;
    if (!old->contains(version)) return incoming;  // random versions do not meet the least one of their type
    if (!incoming.contains(version)) return std::nullopt;
    return Less(incoming.at(version), old->at(version)) ? std::nullopt : std::optional(incoming);
  }
  if (config_.merge_engine == MergeEngine::kAggregation) return old ? Aggregated(*old, incoming) : incoming;
  if (targets_.empty()) return incoming;
  if (old && targets_ == key_) return std::nullopt;
  TwinRow row;
  for (const model::Column& column : latest_->columns) {
    const TwinRow* from = IsTarget(column.id) ? &incoming : old ? &*old : nullptr;
    if (from != nullptr && from->contains(column.id)) row.emplace(column.id, from->at(column.id));
  }
  return row;
}

TwinRow MergeTwin::Aggregated(const TwinRow& old, const TwinRow& incoming) const {
  TwinRow row;
  for (const model::Column& column : latest_->columns) {
    const auto a = old.find(column.id);
    const auto b = incoming.find(column.id);
    Value value;
    if (!IsTarget(column.id)) {
      if (a != old.end()) value = a->second;
    } else if (key_.contains(column.id) || (column.aggregate && column.aggregate->type == "last_value")) {
      if (b != incoming.end()) value = b->second;
    } else if (a == old.end() || b == incoming.end()) {
      if (a != old.end()) value = a->second;
      if (b != incoming.end()) value = b->second;
    } else {
      value = AggregatedValue(column, a->second, b->second);
    }
    if (!value.is_null()) row.emplace(column.id, value);
  }
  return row;
}

std::optional<TwinRow> MergeTwin::Delete(const TwinRow& old) const {
  TwinRow row;
  bool keeps = false;
  for (const auto& [id, value] : old) {
    const bool is_kept = !targets_.empty() && !targets_.contains(id);
    keeps = keeps || is_kept;
    if (is_kept || key_.contains(id)) row.emplace(id, value);
  }
  return keeps ? std::optional(row) : std::nullopt;
}

}  // namespace strom::kv::testing
