#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/value.h"
#include "kv/kv_table.h"

/// Tables with a primary key for the tests of this room and of those below it.
namespace strom::kv::testing {

struct ColumnSpec {
  std::string name;
  model::DataType type;
  std::string aggregate = {};  // "" : none
  std::string delimiter = {};
};

struct TableSpec {
  std::vector<model::Schema> schemas;  // ids from 1, the last one is the latest
  std::vector<std::string> partition_keys = {};
  std::vector<std::string> bucket_keys = {};  // empty: the default
  model::Properties properties = {};
};

/// Column ids are given, key columns become NOT NULL.
model::Schema MakeSchema(std::vector<ColumnSpec> columns, std::vector<std::string> primary_key);
/// Schema growth: more columns at the end, with new ids.
void AppendColumns(std::vector<ColumnSpec> columns, model::Schema* schema);

Result<std::shared_ptr<const KvTable>> TryMakeTable(const TableSpec& spec);
/// Aborts where TryMakeTable fails.
std::shared_ptr<const KvTable> MakeTable(const TableSpec& spec);

/// A row of that schema in the table's KV format.
Buffer EncodeRow(const KvTable& table, int16_t schema_id, const std::vector<format::Value>& values);
/// The fields of a row of that schema; aborts where the bytes are none.
std::vector<format::Value> DecodeRow(const KvTable& table, int16_t schema_id, ByteView row);

}  // namespace strom::kv::testing
