#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/timestamp.h"
#include "model/partition.h"
#include "model/table_descriptor.h"
#include "model/time_zone.h"

namespace strom::model {

enum class PartitionTimeUnit : uint8_t { kYear, kQuarter, kMonth, kDay, kHour };

/// How a table's time partitions come and go: the table.auto-partition.* options, parsed. Source: spec/server.md 5.4, 14.1.
struct AutoPartition {
  bool enabled = false;
  std::string key;  // empty: the table's first partition key
  PartitionTimeUnit unit = PartitionTimeUnit::kDay;
  std::string time_format;  // of the option or, when that is absent, the unit's own
  bool has_time_format = false;
  int32_t num_precreate = 2;
  int32_t num_retention = 7;  // < 0: keep all
  TimeZone zone;

  /// The position of the time's key among a table's partition keys.
  size_t KeyPosition(const std::vector<std::string>& partition_keys) const;
};

/// kInvalidConfig names the option, its value and what is allowed. Without the option the zone is the machine's.
Result<AutoPartition> ParseAutoPartition(const Properties& properties);

/// OK where texts of the pattern sort as their times do: exactly the unit's fields, largest first, with fixed widths, and literals
/// that may stand in a partition name. Source: spec/formats.md 9. kInvalidTable, as the reference.
Status ValidateTimeFormat(std::string_view format, PartitionTimeUnit unit);

/// The time value of the partition `offset` units after the one that `now` belongs to; kPartitionSpecInvalid outside of the
/// years 0 to 9999, where texts would not sort.
Result<std::string> AutoPartitionValue(const AutoPartition& partitioning, TimestampMs now, int64_t offset);

/// The values from now on that are to be made ahead, at most `limit` of them.
std::vector<std::string> AutoPartitionValuesAhead(const AutoPartition& partitioning, TimestampMs now, size_t limit);

/// True where retention says that a partition with this time value goes. Never for kHistoricalPartition.
bool IsExpiredPartition(const AutoPartition& partitioning, TimestampMs now, std::string_view value);

/// Checks the time value of a partition that a client wants to make: of the table's format, and not expired. Does nothing for
/// tables without auto partitioning and without a time format. kPartitionSpecInvalid.
Status CheckNewPartitionTime(const AutoPartition& partitioning, TimestampMs now, const ResolvedPartitionSpec& spec);

std::string_view PartitionTimeUnitName(PartitionTimeUnit unit);

}  // namespace strom::model
