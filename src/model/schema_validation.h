#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/schema.h"

namespace strom::model {

/// A column that an AlterTable request adds.
struct AddColumn {
  std::string name;
  DataType type;
  std::optional<std::string> comment;
  int32_t position = 0;  // ColumnPositionType of the wire; only LAST (0) is allowed
  std::optional<AggregateFunction> aggregate;
};

/// Checks what a schema means: names, ids, primary key, auto increment, aggregate functions. kInvalidTable says which column and why.
/// Source: spec/json-formats.md 2, spec/server.md 14.1.
Status ValidateSchema(const Schema& schema);

/// The columns of the primary key become NOT NULL, ids are assigned.
void NormalizeSchema(Schema* schema);

/// The schema with more columns at its end: nullable, with new names and new ids. kInvalidAlterTable.
Result<Schema> AddColumns(const Schema& schema, std::span<const AddColumn> columns);

/// Whether the function takes a column of this type and these parameters; kInvalidConfig.
Status ValidateAggregate(const Column& column);

/// The function of a request's texts: the name in any letter case, "-" for "_". kInvalidAlterTable when there is none of that name.
Result<AggregateFunction> MakeAggregate(std::string_view name, std::map<std::string, std::string> parameters);

}  // namespace strom::model
