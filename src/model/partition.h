#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/timestamp_value.h"
#include "model/data_type.h"
#include "model/table_path.h"

namespace strom::model {

/// The value of the partition that serves lookups into the lake (spec/server.md 13.5).
inline constexpr std::string_view kHistoricalPartition = "__historical__";

/// Key and value pairs as a client sends them, in any order.
using PartitionSpec = std::vector<std::pair<std::string, std::string>>;

/// A value for each partition key of a table, in the table's order.
struct ResolvedPartitionSpec {
  std::vector<std::string> keys;
  std::vector<std::string> values;

  /// "2026$eu"
  std::string Name() const;
  /// "dt=2026/region=eu"
  std::string QualifiedName() const;
  PartitionSpec ToSpec() const;
  /// True where each pair of `partial` holds for this partition.
  bool Matches(const PartitionSpec& partial) const;
};

/// The parts of a partition name; kPartitionSpecInvalid when their number is not that of `keys`.
Result<ResolvedPartitionSpec> ParsePartitionName(const std::vector<std::string>& keys, std::string_view name);

/// A spec with all of the table's keys and valid values. With `for_create` values that start with "__" are refused, too.
/// Errors: kTableNotPartitioned, kPartitionSpecInvalid. Source: spec/wire-protocol.md 6.3, formats.md 9.
Result<ResolvedPartitionSpec> ResolvePartitionSpec(const TablePath& table, const std::vector<std::string>& keys,
                                                   const PartitionSpec& spec, bool for_create);

/// Checks the keys of a spec that may leave out some of them (to list partitions).
Status ValidatePartialSpec(const TablePath& table, const std::vector<std::string>& keys, const PartitionSpec& partial);

/// kPartitionSpecInvalid for a value that is not a valid part of a partition name.
Status ValidatePartitionValue(std::string_view value, bool for_create);

/// True for the types that may be partition keys: all scalar types but DECIMAL.
bool IsPartitionKeyType(const DataType& type);

/// A value of a partition column in memory (formats.md 0): integers, DATE and TIME as int64.
using PartitionValue = std::variant<bool, int64_t, float, double, std::string, TimestampValue>;

/// The text of a value in a partition name. kPartitionSpecInvalid where value and type do not belong together.
/// Source: spec/formats.md 9; FLOAT and DOUBLE as Java writes them (trap 18).
Result<std::string> PartitionValueToString(const DataType& type, const PartitionValue& value);

}  // namespace strom::model
