#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "coordinator/coordinator_state.h"
#include "meta/meta_store.h"

namespace strom::coordinator {

/// Builds the coordinator's memory from all nodes of the store (sorted by path). Nodes that it does not know stay alone. kCorruptData names the
/// node that cannot be read: then the server does not start. Source: spec/server.md 3.4.
///
/// What half-done work leaves behind is found here (M8): assignments of tables and partitions that are not there any more become
/// deletions, table nodes without data are noted as half made.
Result<LoadedContext> LoadContext(const std::vector<meta::NodeEntry>& nodes, const std::string& default_remote_dir);

}  // namespace strom::coordinator
