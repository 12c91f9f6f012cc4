#pragma once

#include "model/data_type.h"
#include "model/json_node.h"
#include "model/json_writer.h"

namespace strom::model {

/// The type at a place of a larger document. `depth` counts the types around it.
Result<DataType> ReadDataType(const JsonNode& node, int depth = 0);
void WriteDataType(const DataType& type, JsonWriter* writer);

}  // namespace strom::model
