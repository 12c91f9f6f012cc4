#pragma once

#include <optional>
#include <string_view>

#include "model/json_node.h"
#include "model/json_writer.h"
#include "model/schema.h"

namespace strom::model {

/// The schema at a place of a larger document. Missing ids are assigned.
Result<Schema> ReadSchema(const JsonNode& node);
void WriteSchema(const Schema& schema, JsonWriter* writer);

/// The canonical name of an aggregate function, in any letter case and with '-' for '_'; nothing when there is none of that name.
std::optional<std::string_view> FindAggregateFunction(std::string_view name);

/// The largest id in use in columns and nested fields; -1 when there is none.
int32_t HighestFieldId(const Schema& schema);

/// Sets the ids of all nested row fields to "not assigned".
void ForgetFieldIds(DataType* type);

}  // namespace strom::model
