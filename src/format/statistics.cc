#include "format/statistics.h"

#include <bit>
#include <cmath>
#include <limits>

#include "format/aligned_row.h"
#include "format/slot.h"

namespace strom::format {
namespace {

using model::DataType;
using model::TypeRoot;

constexpr uint8_t kStatisticsVersion = 1;
constexpr size_t kCountEnd = 3;  // version and column count

/// A float as a number of the same total order: negative ones have all bits but the sign turned over.
template <typename Bits, typename Float>
Bits OrderedBits(Float value) {
  if (std::isnan(value)) return std::numeric_limits<Bits>::max();
  const Bits bits = std::bit_cast<Bits>(value);
  return bits < 0 ? static_cast<Bits>(bits ^ std::numeric_limits<Bits>::max()) : bits;
}

Error Unreadable(std::string_view what) { return MakeError(ErrorCode::kCorruptRecord, "batch statistics: {}", what); }

}  // namespace

bool HasStatistics(const DataType& type) {
  return !type.is_nested() && type.root != TypeRoot::kBinary && type.root != TypeRoot::kBytes;
}

Result<std::strong_ordering> CompareFields(const DataType& type, const FieldView& a, const FieldView& b) {
  switch (type.root) {
    case TypeRoot::kFloat:
      return OrderedBits<int32_t>(a.float_value()) <=> OrderedBits<int32_t>(b.float_value());
    case TypeRoot::kDouble:
      return OrderedBits<int64_t>(a.double_value()) <=> OrderedBits<int64_t>(b.double_value());
    case TypeRoot::kChar:
    case TypeRoot::kString:
    case TypeRoot::kBinary:
    case TypeRoot::kBytes:
      return a.text() <=> b.text();  // char_traits compares as unsigned
    case TypeRoot::kDecimal: {
      STROM_ASSIGN(const Int128 left, DecimalOf(type, a));
      STROM_ASSIGN(const Int128 right, DecimalOf(type, b));
      return left < right ? std::strong_ordering::less : left > right ? std::strong_ordering::greater : std::strong_ordering::equal;
    }
    case TypeRoot::kTimestamp:
    case TypeRoot::kTimestampLtz:
      if (a.number != b.number) return a.number <=> b.number;
      return a.nanos_of_milli <=> b.nanos_of_milli;
    default:
      return a.number <=> b.number;
  }
}

Result<BatchStatistics> BatchStatistics::Parse(ByteView block) {
  if (block.size() < kCountEnd) return Unreadable("too few bytes");
  if (block[0] != kStatisticsVersion) return MakeError(ErrorCode::kCorruptRecord, "batch statistics: version {}, known is 1", block[0]);
  const int16_t count = LoadLe<int16_t>(block.data() + 1);
  if (count <= 0) return Unreadable("no columns");
  BatchStatistics statistics;
  statistics.count_ = static_cast<size_t>(count);
  ByteView rest = block.subspan(kCountEnd);
  if (rest.size() < statistics.count_ * 6) return Unreadable("too few bytes for the columns");
  statistics.positions_ = rest.data();
  statistics.null_counts_ = rest.data() + statistics.count_ * 2;
  rest = rest.subspan(statistics.count_ * 6);
  for (ByteView* row : {&statistics.min_row_, &statistics.max_row_}) {
    if (rest.size() < 4) return Unreadable("too few bytes for a row");
    const uint32_t size = LoadLe<uint32_t>(rest.data());
    rest = rest.subspan(4);
    if (size > rest.size() || size < AlignedRowHeadSize(statistics.count_) + 8 * statistics.count_) return Unreadable("a row has a bad size");
    *row = rest.first(size);
    rest = rest.subspan(size);
  }
  return statistics;
}

std::optional<size_t> BatchStatistics::Find(size_t position) const {
  for (size_t i = 0; i < count_; ++i) {
    if (this->position(i) >= 0 && static_cast<size_t>(this->position(i)) == position) return i;
  }
  return std::nullopt;
}

Status BatchStatistics::Get(ByteView row, size_t i, const DataType& type, FieldView* view) const {
  STROM_ASSERT(i < count_, "entry {} of {}", i, count_);
  const size_t bit = i + 8;  // the row kind comes first
  if ((row[bit / 8] >> (bit % 8) & 1) != 0) {
    *view = FieldView::Null();
    return Status::OK();
  }
  if (!slot::Get(type, row, row.data() + AlignedRowHeadSize(count_) + 8 * i, view)) {
    return MakeError(ErrorCode::kCorruptRecord, "batch statistics: entry {} ({}) points outside of its row", i, type.ToString());
  }
  return Status::OK();
}

namespace {

/// What is known of one column after all rows.
struct ColumnRange {
  int32_t null_count = 0;
  const Value* min = nullptr;
  const Value* max = nullptr;
};

Result<std::strong_ordering> CompareValues(const DataType& type, const Value& a, const Value& b) {
  DecimalBytes room_a, room_b;
  FieldView left, right;
  STROM_TRY(ViewOfValue(type, a, &room_a, &left));
  STROM_TRY(ViewOfValue(type, b, &room_b, &right));
  return CompareFields(type, left, right);
}

Result<ColumnRange> RangeOf(const DataType& type, size_t position, std::span<const Value> rows) {
  ColumnRange range;
  for (const Value& row : rows) {
    const Value& value = row.items()[position];
    if (value.is_null()) {
      ++range.null_count;
      continue;
    }
    if (range.min == nullptr) {
      range.min = range.max = &value;
      continue;
    }
    STROM_ASSIGN(const std::strong_ordering to_min, CompareValues(type, value, *range.min));
    if (to_min < 0) range.min = &value;
    STROM_ASSIGN(const std::strong_ordering to_max, CompareValues(type, value, *range.max));
    if (to_max > 0) range.max = &value;
  }
  return range;
}

Status AppendRow(const model::Schema& schema, std::span<const int32_t> positions, std::span<const Value* const> values, MutableBuffer* out) {
  const size_t size_at = out->size();
  out->Extend(4);
  AlignedRowWriter writer(positions.size(), out);
  for (size_t i = 0; i < positions.size(); ++i) {
    const DataType& type = schema.columns[static_cast<size_t>(positions[i])].type;
    DecimalBytes room;
    FieldView view = FieldView::Null();
    if (values[i] != nullptr) STROM_TRY(ViewOfValue(type, *values[i], &room, &view));
    STROM_TRY(writer.Append(type, view));
  }
  StoreLe(out->data() + size_at, static_cast<int32_t>(out->size() - size_at - 4));
  return Status::OK();
}

}  // namespace

Status AppendStatistics(const model::Schema& schema, std::span<const int32_t> positions, std::span<const Value> rows, MutableBuffer* out) {
  if (rows.empty() || positions.empty()) return Status::OK();
  if (positions.size() > static_cast<size_t>(std::numeric_limits<int16_t>::max())) {
    return MakeError(ErrorCode::kUnknownServerError, "statistics of {} columns, at most 32767 are possible", positions.size());
  }
  std::vector<ColumnRange> ranges;
  for (const int32_t position : positions) {
    if (position < 0 || static_cast<size_t>(position) >= schema.columns.size() ||
        !HasStatistics(schema.columns[static_cast<size_t>(position)].type)) {
      return MakeError(ErrorCode::kUnknownServerError, "column {} of a schema with {} cannot have statistics", position, schema.columns.size());
    }
    const size_t at = static_cast<size_t>(position);
    STROM_ASSIGN(ColumnRange range, RangeOf(schema.columns[at].type, at, rows));
    ranges.push_back(range);
  }

  out->AppendByte(kStatisticsVersion);
  StoreLe(out->Extend(2), static_cast<int16_t>(positions.size()));
  for (const int32_t position : positions) StoreLe(out->Extend(2), static_cast<int16_t>(position));
  std::vector<const Value*> least, greatest;
  for (const ColumnRange& range : ranges) {
    StoreLe(out->Extend(4), range.null_count);
    least.push_back(range.min);
    greatest.push_back(range.max);
  }
  STROM_TRY(AppendRow(schema, positions, least, out));
  return AppendRow(schema, positions, greatest, out);
}

}  // namespace strom::format
