#include "sim/fetch.h"

#include <algorithm>
#include <compare>

#include <fmt/ranges.h>

#include "rpc/messages.h"

namespace strom::sim {

namespace {

using format::Predicate;
using format::PredicateFunction;
using format::Value;

rpc::PbLiteralValue LiteralOf(const Value& value) {
  rpc::PbLiteralValue literal;
  literal.is_null = value.is_null();
  if (value.kind() == Value::Kind::kBytes) {
    literal.literal_type = static_cast<int32_t>(rpc::LiteralType::kVarchar);
    literal.string_value = value.text();
  } else {
    literal.literal_type = static_cast<int32_t>(rpc::LiteralType::kInt);
    if (!value.is_null()) literal.int_value = static_cast<int32_t>(value.integer());
  }
  return literal;
}

/// The texts of the message are the predicate's own.
rpc::PbPredicate MessageOf(const Predicate& predicate) {
  rpc::PbPredicate message;
  if (predicate.kind == Predicate::Kind::kLeaf) {
    message.type = static_cast<int32_t>(rpc::PredicateType::kLeaf);
    message.leaf.emplace();
    message.leaf->function = static_cast<int32_t>(predicate.function);
    message.leaf->field_id = predicate.column_id;
    for (const Value& literal : predicate.literals) message.leaf->literals.push_back(LiteralOf(literal));
    return message;
  }
  message.type = static_cast<int32_t>(rpc::PredicateType::kCompound);
  message.compound.emplace();
  message.compound->function =
      static_cast<int32_t>(predicate.kind == Predicate::Kind::kAnd ? rpc::CompoundFunction::kAnd : rpc::CompoundFunction::kOr);
  for (const Predicate& child : predicate.children) message.compound->children.push_back(MessageOf(child));
  return message;
}

std::strong_ordering Compare(const Value& a, const Value& b) {
  if (a.kind() == Value::Kind::kBytes) return a.text() <=> b.text();
  return a.integer() <=> b.integer();
}

bool LeafMatches(const Predicate& leaf, const Value& value) {
  if (leaf.function == PredicateFunction::kIsNull) return value.is_null();
  if (leaf.function == PredicateFunction::kIsNotNull) return !value.is_null();
  if (value.is_null()) return false;
  if (leaf.function == PredicateFunction::kIn) {
    return std::any_of(leaf.literals.begin(), leaf.literals.end(), [&](const Value& each) { return Compare(value, each) == 0; });
  }
  const Value& literal = leaf.literals.front();
  if (leaf.function == PredicateFunction::kStartsWith) return value.text().starts_with(literal.text());
  const std::strong_ordering order = Compare(value, literal);
  switch (leaf.function) {
    case PredicateFunction::kEqual: return order == 0;
    case PredicateFunction::kNotEqual: return order != 0;
    case PredicateFunction::kLess: return order < 0;
    case PredicateFunction::kLessOrEqual: return order <= 0;
    case PredicateFunction::kGreater: return order > 0;
    case PredicateFunction::kGreaterOrEqual: return order >= 0;
    default: STROM_ASSERT(false, "the simulation sends no filter of function {}", static_cast<int>(leaf.function));
  }
  return true;
}

}  // namespace

bool Matches(const Predicate& predicate, const Value& row) {
  const auto matches = [&row](const Predicate& child) { return Matches(child, row); };
  if (predicate.kind == Predicate::Kind::kAnd) return std::all_of(predicate.children.begin(), predicate.children.end(), matches);
  if (predicate.kind == Predicate::Kind::kOr) return std::any_of(predicate.children.begin(), predicate.children.end(), matches);
  const auto column = static_cast<size_t>(predicate.column_id);  // ids are positions in this table
  return LeafMatches(predicate, column < row.items().size() ? row.items()[column] : Value::Null());
}

std::string FetchWish::ToString() const {
  std::string text = "fetch";
  for (const Item& item : items) text += fmt::format(" {}@{}", item.bucket, item.offset);
  text += fmt::format(" max {} wait {} ms", max_bytes, wait_ms);
  if (!projection.empty()) text += fmt::format(" columns {}", fmt::join(projection, ","));
  if (filter) text += " filtered";
  return text;
}

rt::Pieces EncodeFetch(const World& world, const FetchWish& wish) {
  rpc::FetchLogRequest message;
  message.follower_server_id = -1;
  message.max_bytes = wish.max_bytes;
  message.min_bytes = wish.min_bytes;
  message.max_wait_ms = wish.wait_ms;
  rpc::PbFetchLogReqForTable table;
  table.table_id = world.table_id;
  table.projection_pushdown_enabled = !wish.projection.empty();
  table.projected_fields = wish.projection;
  if (wish.filter) {
    table.filter_predicate = MessageOf(*wish.filter);
    table.filter_schema_id = world.latest_schema();
  }
  for (const FetchWish::Item& item : wish.items) {
    rpc::PbFetchLogReqForBucket each;
    each.bucket_id = item.bucket;
    each.fetch_offset = item.offset;
    each.max_fetch_bytes = wish.max_bytes;
    table.buckets_req.push_back(each);
  }
  message.tables_req.push_back(std::move(table));
  return rpc::Encode(message);
}

Result<std::vector<FetchedBucket>> DecodeFetch(const Buffer& body) {
  rpc::FetchLogResponse message;
  STROM_TRY(rpc::Decode(body, &message));
  std::vector<FetchedBucket> fetched;
  for (const rpc::PbFetchLogRespForTable& table : message.tables_resp) {
    for (const rpc::PbFetchLogRespForBucket& each : table.buckets_resp) {
      FetchedBucket bucket;
      bucket.bucket = each.bucket_id;
      bucket.error = static_cast<ErrorCode>(each.error_code.value_or(0));
      bucket.message = each.error_message.value_or("");
      bucket.high_watermark = each.high_watermark.value_or(-1);
      bucket.log_start = each.log_start_offset.value_or(-1);
      bucket.filtered_end = each.filtered_end_offset;
      if (each.records) {
        STROM_ASSIGN(bucket.records, rt::Flatten(*each.records));
      }
      fetched.push_back(std::move(bucket));
    }
  }
  return fetched;
}

}  // namespace strom::sim
