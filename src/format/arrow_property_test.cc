// Random schemas and rows: what is written is read, a projection is the subset of the columns, a filter drops no row that matches.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/random.h"
#include "format/arrow_projection_read.h"
#include "format/arrow_reader.h"
#include "format/arrow_writer.h"
#include "format/projection_harness.h"

namespace strom::format {
namespace {

using model::DataType;
using model::TypeRoot;

DataType RandomType(Random* random, int depth) {
  const bool nested = depth > 0 && random->OneIn(3);
  switch (nested ? 16 + random->Below(3) : random->Below(16)) {
    case 7:
      return DataType::Char(static_cast<int32_t>(random->Between(1, 12)));
    case 9:
      return DataType::Binary(static_cast<int32_t>(random->Between(1, 12)));
    case 11: {
      const auto precision = static_cast<int32_t>(random->Between(1, 38));
      return DataType::Decimal(precision, static_cast<int32_t>(random->Between(0, precision)));
    }
    case 13:
      return DataType::Time(static_cast<int32_t>(random->Between(0, 9)));
    case 14:
      return DataType::Timestamp(static_cast<int32_t>(random->Between(0, 9)));
    case 15:
      return DataType::TimestampLtz(static_cast<int32_t>(random->Between(0, 9)));
    case 16:
      return DataType::Array(RandomType(random, depth - 1));
    case 17:
      return DataType::Map(RandomType(random, depth - 1), RandomType(random, depth - 1));
    case 18: {
      std::vector<model::DataField> fields(random->Below(4));
      for (size_t i = 0; i < fields.size(); ++i) {
        fields[i].name = fmt::format("f{}", i);
        fields[i].type = RandomType(random, depth - 1);
      }
      return DataType::Row(std::move(fields));
    }
    case 0:
      return DataType::Of(TypeRoot::kBoolean);
    case 1:
      return DataType::Of(TypeRoot::kTinyInt);
    case 2:
      return DataType::Of(TypeRoot::kSmallInt);
    case 3:
      return DataType::Of(TypeRoot::kInteger);
    case 4:
      return DataType::Of(TypeRoot::kBigInt);
    case 5:
      return DataType::Of(TypeRoot::kFloat);
    case 6:
      return DataType::Of(TypeRoot::kDouble);
    case 8:
      return DataType::Of(TypeRoot::kString);
    case 10:
      return DataType::Of(TypeRoot::kBytes);
    default:
      return DataType::Of(TypeRoot::kDate);
  }
}

model::Schema RandomSchema(Random* random, size_t columns) {
  model::Schema schema;
  for (size_t i = 0; i < columns; ++i) {
    model::Column column;
    column.name = fmt::format("c{}", i);
    column.type = RandomType(random, 3);
    schema.columns.push_back(std::move(column));
  }
  model::AssignFieldIds(&schema);
  return schema;
}

std::string RandomBytes(Random* random, size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>('a' + random->Below(3));
  return bytes;
}

/// A time of that precision: what the bytes of a batch can say.
Value RandomTimestamp(Random* random, int32_t precision) {
  const int64_t millis = random->Between(-3'000'000, 3'000'000);
  const auto nanos = static_cast<int32_t>(random->Below(1'000'000));
  if (precision == 0) return Value::Timestamp(millis / 1000 * 1000);
  return Value::Timestamp(millis, precision <= 3 ? 0 : precision <= 6 ? nanos / 1000 * 1000 : nanos);
}

Value RandomValue(Random* random, const DataType& type, uint64_t one_null_in) {
  if (random->OneIn(one_null_in)) return Value::Null();
  switch (type.root) {
    case TypeRoot::kBoolean:
      return Value::Boolean(random->OneIn(2));
    case TypeRoot::kTinyInt:
      return Value::Integer(random->Between(-128, 127));
    case TypeRoot::kSmallInt:
      return Value::Integer(random->Between(-30000, 30000));
    case TypeRoot::kFloat:
      return Value::Float(random->OneIn(8) ? -0.0F : random->OneIn(8) ? NAN : static_cast<float>(random->Between(-9, 9)));
    case TypeRoot::kDouble:
      return Value::Double(random->OneIn(8) ? -0.0 : random->OneIn(8) ? NAN : static_cast<double>(random->Between(-9, 9)));
    case TypeRoot::kChar:
    case TypeRoot::kString:
    case TypeRoot::kBytes:
      return Value::String(RandomBytes(random, random->Below(12)));
    case TypeRoot::kBinary:
      return Value::String(RandomBytes(random, static_cast<size_t>(type.length)));
    case TypeRoot::kDecimal: {
      const Int128 bound = PowerOfTen(type.precision);
      Int128 unscaled = static_cast<Int128>(random->Next()) * static_cast<Int128>(random->Below(1'000'000)) % bound;
      return Value::Decimal(random->OneIn(2) ? unscaled : -unscaled);
    }
    case TypeRoot::kTime:
      return Value::Integer(type.precision == 0 ? random->Between(0, 86'399) * 1000 : random->Between(0, 86'399'999));
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      return RandomTimestamp(random, type.precision);
    case TypeRoot::kArray:
    case TypeRoot::kMap: {
      Value::Items items;
      for (size_t left = random->Below(4); left > 0; --left) {
        if (type.root == TypeRoot::kMap) items.push_back(RandomValue(random, type.key(), UINT64_MAX));
        items.push_back(RandomValue(random, type.root == TypeRoot::kMap ? type.map_value() : type.element(), one_null_in));
      }
      return type.root == TypeRoot::kMap ? Value::Map(std::move(items)) : Value::Array(std::move(items));
    }
    case TypeRoot::kRow: {
      Value::Items items;
      for (const model::DataField& field : *type.fields) items.push_back(RandomValue(random, field.type, one_null_in));
      return Value::Row(std::move(items));
    }
    default:
      return Value::Integer(random->Between(-1000, 1000));
  }
}

std::vector<Value> RandomRows(Random* random, const model::Schema& schema, size_t count) {
  const uint64_t one_null_in = random->OneIn(4) ? 1 : random->OneIn(3) ? UINT64_MAX : 4;  // all, none, some
  std::vector<Value> rows;
  for (size_t i = 0; i < count; ++i) {
    Value::Items items;
    for (const model::Column& column : schema.columns) items.push_back(RandomValue(random, column.type, one_null_in));
    rows.push_back(Value::Row(std::move(items)));
  }
  return rows;
}

ArrowCompression RandomCompression(Random* random) {
  switch (random->Below(3)) {
    case 0:
      return {};
    case 1:
      return {.codec = ArrowCodec::kLz4Frame};
    default:
      return {.codec = ArrowCodec::kZstd, .zstd_level = static_cast<int>(random->Between(1, 5))};
  }
}

std::vector<int32_t> RandomPositions(Random* random, size_t columns) {
  std::vector<int32_t> positions;
  for (size_t i = 0; i < columns; ++i) {
    if (random->OneIn(2)) positions.push_back(static_cast<int32_t>(i));
  }
  if (positions.empty()) positions.push_back(static_cast<int32_t>(random->Below(columns)));
  return positions;
}

/// The naive twin of a projection.
std::vector<Value> Select(const std::vector<Value>& rows, const std::vector<int32_t>& positions) {
  std::vector<Value> selected;
  for (const Value& row : rows) {
    Value::Items items;
    for (const int32_t position : positions) {
      const auto at = static_cast<size_t>(position);
      items.push_back(at < row.items().size() ? row.items()[at] : Value::Null());
    }
    selected.push_back(Value::Row(std::move(items)));
  }
  return selected;
}

model::Schema Select(const model::Schema& schema, const std::vector<int32_t>& positions) {
  model::Schema selected;
  for (const int32_t position : positions) selected.columns.push_back(schema.columns[static_cast<size_t>(position)]);
  return selected;
}

/// Columns that batches of this schema can have statistics of.
std::vector<int32_t> StatisticsColumns(const model::Schema& schema) {
  std::vector<int32_t> positions;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (HasStatistics(schema.columns[i].type)) positions.push_back(static_cast<int32_t>(i));
  }
  return positions;
}

/// A log of one table with two schemas, the second with columns more, and what is in it.
struct RandomLog {
  std::shared_ptr<const model::Schema> schemas[2];
  MutableBuffer bytes;
  struct Batch {
    std::vector<Value> rows;
    std::vector<ChangeType> change_types;
    uint64_t size;
    LogOffset next_offset;
  };
  std::vector<Batch> batches;

  SchemaLookup lookup() const {
    return [this](SchemaId id) { return id.value() == 1 || id.value() == 2 ? schemas[id.value() - 1] : nullptr; };
  }
};

RandomLog MakeLog(Random* random, size_t batch_count) {
  RandomLog log;
  const size_t first_columns = 1 + random->Below(6);
  model::Schema second = RandomSchema(random, first_columns + random->Below(4));
  model::Schema first = second;
  first.columns.resize(first_columns);
  log.schemas[0] = std::make_shared<const model::Schema>(first);
  log.schemas[1] = std::make_shared<const model::Schema>(second);
  LogOffset offset(static_cast<int64_t>(random->Below(1000)));
  for (size_t i = 0; i < batch_count; ++i) {
    LogBatchSpec spec;
    spec.magic = static_cast<uint8_t>(random->Below(3));
    spec.schema_id = static_cast<int16_t>(i * 2 < batch_count ? 1 : 2);
    spec.append_only = random->OneIn(2);
    spec.base_offset = offset;
    const model::Schema& schema = *log.schemas[spec.schema_id - 1];
    RandomLog::Batch batch;
    batch.rows = RandomRows(random, schema, random->OneIn(6) ? 0 : random->OneIn(4) ? random->Below(800) : random->Below(20));
    for (size_t row = 0; row < batch.rows.size(); ++row) {
      if (!spec.append_only) batch.change_types.push_back(static_cast<ChangeType>(random->Between(1, 4)));
    }
    const std::vector<int32_t> statistics = spec.magic == 0 ? std::vector<int32_t>() : StatisticsColumns(schema);
    const Result<Buffer> built = BuildArrowLogBatch(
        spec, schema, {.rows = batch.rows, .change_types = batch.change_types, .statistics_columns = statistics}, RandomCompression(random));
    STROM_ASSERT(built.ok(), "{}", built.ToString());
    const LogBatchHeader header = DecodeLogBatchHeader(built->view()).value();
    batch.size = header.total_size;
    batch.next_offset = offset = header.next_offset();
    log.bytes.Append(built->view());
    log.batches.push_back(std::move(batch));
  }
  return log;
}

std::vector<DecodedArrowBatch> DecodeAll(ByteView records, const std::function<model::Schema(int16_t)>& schema_of) {
  std::vector<DecodedArrowBatch> batches;
  while (!records.empty()) {
    const Result<LogBatchHeader> header = DecodeLogBatchHeader(records);
    EXPECT_TRUE(header.ok()) << header.ToString();
    if (!header.ok() || header->total_size > records.size()) return batches;
    Result<DecodedArrowBatch> batch = DecodeArrowBatch(records.first(header->total_size), schema_of(header->schema_id));
    EXPECT_TRUE(batch.ok()) << batch.ToString();
    if (!batch.ok()) return batches;
    batches.push_back(std::move(batch).value());
    records = records.subspan(header->total_size);
  }
  return batches;
}

TEST(ArrowProperty, AProjectedSliceIsTheChosenColumnsOfItsBatches) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const RandomLog log = MakeLog(&random, 1 + random.Below(12));
    const std::vector<int32_t> positions = RandomPositions(&random, log.schemas[1]->columns.size());
    const model::Schema projected = Select(*log.schemas[1], positions);
    ProjectionCache cache;
    ProjectSliceRequest request;
    const auto file = std::make_shared<const MemoryFile>(Buffer::CopyOf(log.bytes.view()));
    request.file = file;
    request.size = log.bytes.size();
    request.table_schema = SchemaId(2);
    request.positions = positions;
    request.min_one_batch = random.OneIn(2);
    request.max_bytes = random.OneIn(2) ? UINT64_MAX : random.Below(20'000);
    const Result<ProjectedRead> read = ProjectSlice(request, log.lookup(), &cache);
    ASSERT_TRUE(read.ok()) << read.ToString();
    EXPECT_LE(cache.size(), 2u);
    const Buffer records = rt::Flatten(read->records).value();
    ASSERT_EQ(records.size(), read->records.size());
    const std::vector<DecodedArrowBatch> batches = DecodeAll(records.view(), [&](int16_t) { return projected; });
    ASSERT_EQ(batches.size(), read->batches_sent);
    EXPECT_EQ(read->complete, batches.size() == log.batches.size());
    uint64_t counted = 0;
    for (size_t i = 0; i < batches.size(); ++i) {
      ASSERT_EQ(batches[i].rows, Select(log.batches[i].rows, positions)) << "batch " << i;
      if (!log.batches[i].change_types.empty()) {
        EXPECT_EQ(batches[i].change_types, log.batches[i].change_types);
      }
      EXPECT_EQ(batches[i].header.next_offset(), log.batches[i].next_offset);
      if (!batches[i].rows.empty()) counted += batches[i].header.total_size;
    }
    if (!batches.empty()) {
      EXPECT_EQ(read->next_offset, log.batches[batches.size() - 1].next_offset);
    }
    if (batches.size() > 1) {
      EXPECT_LE(counted, std::max(request.max_bytes, request.min_one_batch ? std::max<uint64_t>(log.batches[0].size, batches[0].header.total_size) : 0));
    }
    if (request.min_one_batch || request.max_bytes == UINT64_MAX) {
      EXPECT_FALSE(batches.empty());
    }
  }
}

bool IsTextual(const DataType& type) { return type.root == TypeRoot::kChar || type.root == TypeRoot::kString; }

/// The naive twin of a filter: does this row match? Both meanings of -0.0 and NaN: `primitive` is that of C++.
bool Matches(const Predicate& predicate, const model::Schema& schema, const Value& row, bool primitive) {
  const auto matches = [&](const Predicate& child) { return Matches(child, schema, row, primitive); };
  if (predicate.kind == Predicate::Kind::kAnd) return std::all_of(predicate.children.begin(), predicate.children.end(), matches);
  if (predicate.kind == Predicate::Kind::kOr) return std::any_of(predicate.children.begin(), predicate.children.end(), matches);
  const std::optional<size_t> position = schema.FindColumnById(predicate.column_id);
  const Value value = position.has_value() ? row.items()[*position] : Value::Null();
  using F = PredicateFunction;
  if (predicate.function == F::kIsNull) return value.is_null();
  if (predicate.function == F::kIsNotNull) return !value.is_null();
  if (value.is_null()) return false;
  const DataType& type = schema.columns[*position].type;
  const auto order = [&](const Value& literal) -> std::partial_ordering {
    if (literal.is_null()) return std::partial_ordering::unordered;
    if (primitive && type.root == TypeRoot::kDouble) return value.double_value() <=> literal.double_value();
    if (primitive && type.root == TypeRoot::kFloat) return value.float_value() <=> literal.float_value();
    DecimalBytes room_a, room_b;
    FieldView a, b;
    STROM_ASSERT(ViewOfValue(type, value, &room_a, &a).ok() && ViewOfValue(type, literal, &room_b, &b).ok(), "bad value");
    return CompareFields(type, a, b).value();
  };
  const auto any_null = std::any_of(predicate.literals.begin(), predicate.literals.end(), [](const Value& each) { return each.is_null(); });
  const auto any_equal = [&] {
    return std::any_of(predicate.literals.begin(), predicate.literals.end(), [&](const Value& each) { return order(each) == 0; });
  };
  if (predicate.function == F::kIn) return any_equal();
  if (predicate.function == F::kNotIn) return !any_null && !any_equal();
  if (any_null) return false;
  const std::partial_ordering to_literal = order(predicate.literals.front());
  switch (predicate.function) {
    case F::kEqual:
      return to_literal == 0;
    case F::kNotEqual:
      return to_literal != 0;
    case F::kLess:
      return to_literal < 0;
    case F::kLessOrEqual:
      return to_literal <= 0;
    case F::kGreater:
      return to_literal > 0;
    case F::kGreaterOrEqual:
      return to_literal >= 0;
    case F::kStartsWith:
      return value.text().starts_with(predicate.literals.front().text());
    case F::kContains:
      return value.text().find(predicate.literals.front().text()) != std::string_view::npos;
    default:
      return value.text().ends_with(predicate.literals.front().text());
  }
}

Predicate RandomPredicate(Random* random, const model::Schema& schema, int depth) {
  Predicate predicate;
  if (depth > 0 && random->OneIn(2)) {
    predicate.kind = random->OneIn(2) ? Predicate::Kind::kAnd : Predicate::Kind::kOr;
    for (size_t left = 1 + random->Below(3); left > 0; --left) predicate.children.push_back(RandomPredicate(random, schema, depth - 1));
    return predicate;
  }
  std::vector<int32_t> columns = StatisticsColumns(schema);
  const model::Column& column = schema.columns[static_cast<size_t>(columns[random->Below(columns.size())])];
  predicate.column_id = column.id;
  do {
    predicate.function = static_cast<PredicateFunction>(random->Below(kPredicateFunctionMax + 1));
  } while (predicate.function >= PredicateFunction::kStartsWith && predicate.function <= PredicateFunction::kEndsWith && !IsTextual(column.type));
  size_t literals = 1;
  if (predicate.function == PredicateFunction::kIsNull || predicate.function == PredicateFunction::kIsNotNull) literals = 0;
  if (predicate.function == PredicateFunction::kIn || predicate.function == PredicateFunction::kNotIn) literals = random->Below(4);
  for (; literals > 0; --literals) predicate.literals.push_back(RandomValue(random, column.type, 12));
  return predicate;
}

// L11 of spec/server.md 14.
TEST(ArrowProperty, AFilterDropsNoBatchWithAMatchingRow) {
  size_t dropped = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const RandomLog log = MakeLog(&random, 1 + random.Below(8));
    if (StatisticsColumns(*log.schemas[0]).empty()) continue;
    const Predicate predicate = RandomPredicate(&random, *log.schemas[1], 2);
    // Rows of old batches: what their schema lacks is null.
    std::vector<int32_t> all;
    for (size_t i = 0; i < log.schemas[1]->columns.size(); ++i) all.push_back(static_cast<int32_t>(i));
    BatchFilter filter(predicate, log.lookup());
    ProjectionCache cache;
    ProjectSliceRequest request;
    request.file = std::make_shared<const MemoryFile>(Buffer::CopyOf(log.bytes.view()));
    request.size = log.bytes.size();
    request.table_schema = SchemaId(2);
    if (random.OneIn(2)) request.positions = all;
    request.filter = &filter;
    request.max_bytes = UINT64_MAX;
    const Result<ProjectedRead> read = ProjectSlice(request, log.lookup(), &cache);
    ASSERT_TRUE(read.ok()) << read.ToString();
    EXPECT_TRUE(read->complete);
    EXPECT_EQ(read->next_offset, log.batches.back().next_offset);
    EXPECT_EQ(read->batches_sent + read->batches_dropped, log.batches.size());
    dropped += read->batches_dropped;

    const bool projected = !request.positions.empty();
    const auto batches = DecodeAll(rt::Flatten(read->records).value().view(),
                                   [&](int16_t id) { return *log.schemas[projected ? 1 : id - 1]; });
    ASSERT_EQ(batches.size(), read->batches_sent);
    size_t sent = 0;
    for (const RandomLog::Batch& batch : log.batches) {
      if (sent < batches.size() && batches[sent].header.next_offset() == batch.next_offset) {
        ++sent;
        continue;
      }
      for (const Value& row : Select(batch.rows, all)) {
        ASSERT_FALSE(Matches(predicate, *log.schemas[1], row, false)) << row.ToString();
        ASSERT_FALSE(Matches(predicate, *log.schemas[1], row, true)) << row.ToString();
      }
    }
    const bool tail_dropped = batches.empty() || batches.back().header.next_offset() != log.batches.back().next_offset;
    EXPECT_EQ(read->filtered_end_offset.has_value(), tail_dropped);
    if (tail_dropped) {
      EXPECT_EQ(*read->filtered_end_offset, log.batches.back().next_offset);
    }
  }
  EXPECT_GT(dropped, 50u) << "the filters are too weak to test anything";
}

}  // namespace
}  // namespace strom::format
