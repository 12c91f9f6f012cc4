#include "kv/testing/changelog.h"

#include "base/assert.h"
#include "format/arrow_reader.h"
#include "format/log_records.h"
#include "format/row_codec.h"

namespace strom::kv::testing {

std::vector<Change> ReadChangelog(const KvTable& table, ByteView batch) {
  const auto header = format::DecodeLogBatchHeader(batch).value();
  const Status checked = format::CheckLogBatch(header, batch);
  STROM_ASSERT(checked.ok(), "{}", checked.ToString());
  STROM_ASSERT(header.schema_id == table.latest().schema_id && header.magic == 0, "schema {}, magic {}", header.schema_id, header.magic);
  std::vector<Change> changes;
  if (table.config().log_format == model::LogFormat::kArrow) {
    const auto decoded = format::DecodeArrowBatch(batch, *table.latest().schema).value();
    for (size_t i = 0; i < decoded.rows.size(); ++i) changes.push_back({decoded.change_types[i], decoded.rows[i].Owned().items()});
    return changes;
  }
  format::LogRecordReader reader(header, batch);
  format::LogRecord record;
  while (!reader.done()) {
    const Status next = reader.Next(&record);
    STROM_ASSERT(next.ok(), "{}", next.ToString());
    changes.push_back(
        {record.change_type, format::DecodeRow(table.log_row_format(), table.latest().fields, record.row).value().Owned().items()});
  }
  return changes;
}

}  // namespace strom::kv::testing
