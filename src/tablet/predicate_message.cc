#include "tablet/predicate_message.h"

namespace strom::tablet {

namespace {

using format::Predicate;
using format::Value;

Error Malformed(std::string_view what, int64_t value) {
  return MakeError(ErrorCode::kUnsupportedVersion, "the filter of the fetch has an unknown {}: {}", what, value);
}

Result<Value> ParseDecimal(const rpc::PbLiteralValue& literal) {
  if (literal.decimal_value) return Value::Decimal(*literal.decimal_value);
  if (!literal.decimal_bytes || literal.decimal_bytes->empty() || literal.decimal_bytes->size() > sizeof(format::Int128)) {
    return MakeError(ErrorCode::kUnsupportedVersion, "a decimal literal of the fetch's filter has {} bytes, 1 to 16 are allowed",
                     literal.decimal_bytes ? literal.decimal_bytes->size() : 0);
  }
  // Big-endian two's complement.
  const ByteView bytes = AsBytes(*literal.decimal_bytes);
  auto unscaled = static_cast<unsigned __int128>((bytes[0] & 0x80) != 0 ? ~static_cast<unsigned __int128>(0) : 0);
  for (const uint8_t byte : bytes) unscaled = (unscaled << 8) | byte;
  return Value::Decimal(static_cast<format::Int128>(unscaled));
}

Result<Value> ParseLiteral(const rpc::PbLiteralValue& literal) {
  if (literal.is_null) return Value::Null();
  const Error missing = MakeError(ErrorCode::kUnsupportedVersion,
                                  "a literal of type {} in the fetch's filter lacks its value", literal.literal_type);
  switch (static_cast<rpc::LiteralType>(literal.literal_type)) {
    case rpc::LiteralType::kBoolean:
      if (!literal.boolean_value) return missing;
      return Value::Boolean(*literal.boolean_value);
    case rpc::LiteralType::kTinyint:
    case rpc::LiteralType::kSmallint:
    case rpc::LiteralType::kInt:
    case rpc::LiteralType::kTimeWithoutTimeZone:
      if (!literal.int_value) return missing;
      return Value::Integer(*literal.int_value);
    case rpc::LiteralType::kBigint:
    case rpc::LiteralType::kDate:
      if (!literal.bigint_value) return missing;
      return Value::Integer(*literal.bigint_value);
    case rpc::LiteralType::kFloat:
      if (!literal.float_value) return missing;
      return Value::Float(*literal.float_value);
    case rpc::LiteralType::kDouble:
      if (!literal.double_value) return missing;
      return Value::Double(*literal.double_value);
    case rpc::LiteralType::kChar:
    case rpc::LiteralType::kVarchar:
      if (!literal.string_value) return missing;
      return Value::String(std::string(*literal.string_value));
    case rpc::LiteralType::kDecimal: return ParseDecimal(literal);
    case rpc::LiteralType::kTimestampWithoutTimeZone:
    case rpc::LiteralType::kTimestampWithLocalTimeZone:
      if (!literal.timestamp_millis_value) return missing;
      return Value::Timestamp(*literal.timestamp_millis_value, literal.timestamp_nano_of_millis_value.value_or(0));
    case rpc::LiteralType::kBinary:
    case rpc::LiteralType::kBytes:
      if (!literal.binary_value) return missing;
      return Value::Bytes(AsBytes(*literal.binary_value));
  }
  return Malformed("literal type", literal.literal_type);
}

// The decoder has bounded the depth of the message (design.md 2), so the recursion here is bounded, too.
Result<Predicate> ParseNode(const rpc::PbPredicate& message) {
  Predicate predicate;
  switch (static_cast<rpc::PredicateType>(message.type)) {
    case rpc::PredicateType::kLeaf: {
      if (!message.leaf) return Malformed("shape (a leaf without a leaf), type", message.type);
      if (message.leaf->function < 0 || message.leaf->function > format::kPredicateFunctionMax) {
        return Malformed("function", message.leaf->function);
      }
      predicate.function = static_cast<format::PredicateFunction>(message.leaf->function);
      predicate.column_id = message.leaf->field_id;
      for (const rpc::PbLiteralValue& literal : message.leaf->literals) {
        STROM_ASSIGN(Value value, ParseLiteral(literal));
        predicate.literals.push_back(std::move(value));
      }
      return predicate;
    }
    case rpc::PredicateType::kCompound: {
      if (!message.compound) return Malformed("shape (a compound without children), type", message.type);
      const int32_t function = message.compound->function;
      if (function != static_cast<int32_t>(rpc::CompoundFunction::kAnd) &&
          function != static_cast<int32_t>(rpc::CompoundFunction::kOr)) {
        return Malformed("compound function", function);
      }
      predicate.kind = function == static_cast<int32_t>(rpc::CompoundFunction::kAnd) ? Predicate::Kind::kAnd
                                                                                     : Predicate::Kind::kOr;
      for (const rpc::PbPredicate& child : message.compound->children) {
        STROM_ASSIGN(Predicate parsed, ParseNode(child));
        predicate.children.push_back(std::move(parsed));
      }
      return predicate;
    }
  }
  return Malformed("type", message.type);
}

}  // namespace

Result<format::Predicate> ParsePredicate(const rpc::PbPredicate& message) { return ParseNode(message); }

}  // namespace strom::tablet
