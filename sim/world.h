#pragma once

#include <set>
#include <vector>

#include "base/random.h"
#include "sim/bucket_history.h"
#include "sim/history.h"
#include "sim/machine.h"
#include "sim/settings.h"
#include "sim/table_data.h"

namespace strom::sim {

/// What all parts of a run share.
struct World {
  World(const Settings& of_run, bool verbose)
      : settings(of_run), random(of_run.seed), history(verbose), machine(settings, history), batches(settings, of_run.seed + 77) {
    for (int32_t bucket = 0; bucket < settings.buckets; ++bucket) buckets.emplace_back(bucket, history);
  }

  const model::Schema& schema(int16_t id) const { return schemas.at(static_cast<size_t>(id) - 1); }
  int16_t latest_schema() const { return static_cast<int16_t>(schemas.size()); }

  const Settings settings;
  Random random;
  History history;
  Machine machine;
  SentBatches batches;
  std::vector<BucketHistory> buckets;
  std::vector<model::Schema> schemas;  // of the table, by schema id from 1 on
  int64_t table_id = 0;
  std::set<int64_t> writer_ids;   // that were ever given out
  bool disk_is_full = false;      // or was, a moment ago: appends may be refused
};

}  // namespace strom::sim
