#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace strom::model {

/// The database that always exists (spec/wire-protocol.md 6.2).
inline constexpr std::string_view kDefaultDatabase = "fluss";

/// `database.table`.
struct TablePath {
  std::string database;
  std::string table;

  auto operator<=>(const TablePath&) const = default;
  std::string ToString() const { return database + "." + table; }
};

/// A table, or one partition of it by name.
struct PhysicalTablePath {
  TablePath table_path;
  std::optional<std::string> partition_name;

  auto operator<=>(const PhysicalTablePath&) const = default;
  std::string ToString() const { return table_path.ToString() + (partition_name ? "/" + *partition_name : ""); }
};

/// Names of databases, tables and partition values: 1 to 200 of [A-Za-z0-9_-], not "." or "..", and not starting with "__" (which is
/// reserved). The error is a sentence without a code of its own: `code` says which. Source: spec/wire-protocol.md 6.2, 9.19; formats.md 9.
Status ValidateName(std::string_view kind, std::string_view name, ErrorCode code);

}  // namespace strom::model

template <>
struct std::hash<strom::model::TablePath> {
  size_t operator()(const strom::model::TablePath& path) const noexcept {
    return std::hash<std::string>()(path.database) * 31 + std::hash<std::string>()(path.table);
  }
};
