#pragma once

#include "base/result.h"
#include "model/table_descriptor.h"

namespace strom::model {

/// The parts of a table's validation that hold at creation and after each change. Every key of `properties` is known and every value
/// fits its option when the later ones run: CheckProperties comes first.
Status CheckProperties(const Properties& properties);
Status CheckCustomProperties(const Properties& properties, ErrorCode code);
Status CheckKeys(const TableDescriptor& table);
Status CheckLogOptions(const TableDescriptor& table);
Status CheckMergeEngine(const TableDescriptor& table);
Status CheckPartitioning(const TableDescriptor& table);
Status CheckLake(const TableDescriptor& table);

/// The value of a table option: as set or its default, upper case for enums; empty when there is neither.
std::string TableOption(const Properties& properties, std::string_view key);
bool TableFlag(const Properties& properties, std::string_view key);

}  // namespace strom::model
