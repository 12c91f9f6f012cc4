#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/schema.h"

namespace strom::model {

/// True for the types that batch statistics are kept of. Source: spec/formats.md 0 (version matrix), 4.
bool HasStatistics(const DataType& type);

/// The positions of the columns that `table.statistics.columns` names: "*" is every column with a fitting type, in schema order;
/// else a list whose order is kept. kInvalidConfig for an empty list, an unknown or repeated column, or one of another type.
Result<std::vector<size_t>> FindStatisticsColumns(const Schema& schema, std::string_view value);

}  // namespace strom::model
