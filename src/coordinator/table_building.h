#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "meta/catalog.h"
#include "meta/records.h"

namespace strom::coordinator {

/// Tables as the catalog has them, from what the metadata store has. `default_remote_dir` stands where a record names none
/// (spec/server.md 1.3.2). Errors: kInvalidConfig of a property that cannot be read.
Result<std::shared_ptr<const model::TableInfo>> MakeTableInfo(const model::TablePath& path, const meta::TableRecord& record,
                                                              SchemaId schema_id, const model::Schema& schema,
                                                              const std::string& default_remote_dir);

std::shared_ptr<const meta::SchemaEntry> MakeSchemaEntry(model::Schema schema);

/// The values of a partition name: its parts between '$'.
std::vector<std::string> PartitionValues(const std::string& name);

}  // namespace strom::coordinator
