#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/arrow_field_reader.h"
#include "format/change_type.h"
#include "format/log_batch.h"
#include "kv/kv_table.h"

namespace strom::kv {

/// What one change record does to the state. Views into the replay's memory.
struct ReplayedEntry {
  ByteView key;
  std::optional<ByteView> value;  // schema id and row, always of the latest schema; nothing: the key is removed
  LogOffset offset;               // of the record
  int32_t row_count_change =
      0;  // +1 an insert, -1 a removal; says nothing with the changelog image WAL, where inserts are +U
};

/// Folds changelog batches back into store entries (spec/server.md 10.7): +I and +U put, -D removes, -U is skipped. Takes all three log formats and
/// every schema that the table had; rows come out in the latest one, keys by the table's encoder. Without nested columns no row becomes Values. Keeps
/// its memory from batch to batch. Single owner.
class ChangelogReplay {
 public:
  explicit ChangelogReplay(std::shared_ptr<const KvTable> table);

  /// The entries of one whole batch, in offset order, valid until the next call. Does not check the CRC. kSchemaNotExist for a schema that the
  /// table never had; kCorruptRecord, with the offset, for a record that is no change or no row of its schema.
  Result<std::span<const ReplayedEntry>> Read(const format::LogBatchHeader& header, ByteView batch);

 private:
  struct Position {
    size_t begin = 0;
    size_t size = 0;
  };

  Status ReadArrow(const format::LogBatchHeader& header, ByteView batch, const RowSchema& schema);
  Status ReadArrowValues(const format::LogBatchHeader& header, ByteView batch, const RowSchema& schema);
  Status ReadRows(const format::LogBatchHeader& header, ByteView batch, const RowSchema& schema);
  /// Whether there is an entry to be made of that record; false for -U.
  static Result<bool> TakesPart(format::ChangeType type);

  /// From `fields_`, the row in the latest schema.
  Status AddFields(format::ChangeType type, LogOffset offset);
  /// The same for a row in the log's row format, of `schema`.
  Status AddRow(format::ChangeType type, LogOffset offset, const RowSchema& schema, ByteView row);
  /// The same for a row as Values, of `schema`; needed where nested values change their format.
  Status AddValues(format::ChangeType type, LogOffset offset, const RowSchema& schema, const format::Value& row);
  Result<Position> AddKey(std::span<const format::Value> values);
  void Add(format::ChangeType type, LogOffset offset, Position key, Position value);

  const std::shared_ptr<const KvTable> table_;
  const bool has_nested_;
  format::ArrowFieldReader arrow_;
  std::vector<format::FieldView> fields_;
  std::vector<format::Value> key_values_;
  MutableBuffer bytes_;  // keys and values
  struct Placed {
    Position key;
    Position value;
  };
  std::vector<Placed> placed_;  // where the entries lie in bytes_, which moves as it grows
  std::vector<ReplayedEntry> entries_;
};

}  // namespace strom::kv
