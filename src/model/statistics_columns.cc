#include "model/statistics_columns.h"

#include <algorithm>

#include "model/config_value.h"
#include "model/names.h"

namespace strom::model {

bool HasStatistics(const DataType& type) {
  return !type.is_nested() && type.root != TypeRoot::kBinary && type.root != TypeRoot::kBytes;
}

Result<std::vector<size_t>> FindStatisticsColumns(const Schema& schema, std::string_view value) {
  const auto wrong = [](std::string_view what) {
    return MakeError(ErrorCode::kInvalidConfig, "the option 'table.statistics.columns': {}", what);
  };
  std::vector<size_t> positions;
  if (Trimmed(value) == "*") {
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      if (HasStatistics(schema.columns[i].type)) positions.push_back(i);
    }
    return positions;
  }
  for (size_t start = 0; start <= value.size();) {
    const size_t end = std::min(value.find(',', start), value.size());
    const std::string_view name = Trimmed(value.substr(start, end - start));
    start = end + 1;
    if (name.empty()) continue;
    const std::optional<size_t> at = schema.FindColumn(name);
    if (!at) return wrong(fmt::format("the table has no column {}", Shown(name)));
    if (!HasStatistics(schema.columns[*at].type)) {
      return wrong(fmt::format("the column {} has the type {}; BINARY, BYTES, ARRAY, MAP and ROW have no statistics",
                               Shown(name), schema.columns[*at].type.ToString()));
    }
    if (std::find(positions.begin(), positions.end(), *at) != positions.end()) {
      return wrong(fmt::format("the column {} comes twice", Shown(name)));
    }
    positions.push_back(*at);
  }
  if (positions.empty())
    return wrong("it names no column; '*' stands for all, and without the option there are no statistics");
  return positions;
}

}  // namespace strom::model
