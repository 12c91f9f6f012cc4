#include "replica/replica.h"

namespace strom::replica {

Result<LogOffset> Replica::EarliestOffset() const {
  STROM_TRY(CheckServing());
  return log_->log_start_offset();
}

Result<LogOffset> Replica::LatestOffset() const {
  STROM_TRY(CheckServing());
  return committed_.current();
}

Result<LogOffset> Replica::OffsetForTimestamp(TimestampMs timestamp) {
  STROM_TRY(CheckServing());
  auto found = log_->OffsetForTimestamp(timestamp, committed_.current());
  if (!found.ok() && !log_->failure().ok()) Refuse(log_->failure().error());
  return found;
}

Result<int64_t> Replica::RowCount() const {
  STROM_TRY(CheckServing());
  return committed_.current() - log_->log_start_offset();
}

}  // namespace strom::replica
