#pragma once

#include <unordered_set>

#include "coordinator/commands.h"
#include "meta/catalog.h"

namespace strom::coordinator {

/// Counts replicas; `inactive` holds buckets whose leader has not said that it serves. Source: spec/server.md 4.11.
ClusterHealth CountHealth(const meta::Catalog& catalog, const std::unordered_set<model::TableBucket>& inactive);

}  // namespace strom::coordinator
