#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/data_type.h"

namespace strom::model {

struct AggregateFunction {
  std::string type;  // lower case, "_" between words
  std::map<std::string, std::string> parameters;
  bool operator==(const AggregateFunction&) const = default;
};

struct Column {
  std::string name;
  DataType type;
  std::optional<std::string> comment;
  std::optional<AggregateFunction> aggregate;
  int32_t id = -1;  // unique in the schema, shared with ids of nested fields; -1: not assigned
};

/// The columns of a table at one schema id. A plain value. Source: spec/json-formats.md 2.
struct Schema {
  std::vector<Column> columns;
  std::vector<std::string> primary_key;             // in key order; empty: a log table
  std::vector<std::string> auto_increment_columns;  // at most one
  int32_t highest_field_id = -1;                    // the largest id ever assigned

  bool has_primary_key() const { return !primary_key.empty(); }
  /// Position of a column by name or by id; nothing when there is none.
  std::optional<size_t> FindColumn(std::string_view name) const;
  std::optional<size_t> FindColumnById(int32_t id) const;
};

/// Gives ids to columns and nested fields that have none, in declaration order (a row column takes one id, then its fields, then the
/// next column), above `highest_field_id`, and sets that.
void AssignFieldIds(Schema* schema);

/// JSON of spec/json-formats.md 2. Parsing checks form only; ValidateSchema (schema_validation.h) checks meaning.
Result<Schema> ParseSchemaJson(std::string_view json);
std::string ToJson(const Schema& schema);

}  // namespace strom::model
