#include "model/schema_validation.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "model/json_writer.h"
#include "model/names.h"
#include "model/schema_json.h"

namespace strom::model {

namespace {

constexpr size_t kColumnsMax = INT16_MAX;  // statistics name columns by 16-bit positions (spec/formats.md 4)
constexpr std::array<std::string_view, 6> kSystemColumns = {"__offset",     "__timestamp", "__bucket",
                                                            "_change_type", "_log_offset", "_commit_timestamp"};

template <typename... Args>
Error Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(ErrorCode::kInvalidTable, format, std::forward<Args>(args)...);
}

Status ValidateColumnName(std::string_view name) {
  if (name.empty()) return Invalid("a column has an empty name");
  if (!IsUtf8(name)) return Invalid("the column name {} is not UTF-8 text", Shown(name));
  if (std::find(kSystemColumns.begin(), kSystemColumns.end(), name) != kSystemColumns.end()) {
    return Invalid("the column name {} is reserved for a system column; the reserved names are {}", Shown(name),
                   fmt::join(kSystemColumns, ", "));
  }
  return Status::OK();
}

/// Checks names and ids of nested fields; adds the ids to `ids`.
Status ValidateNested(std::string_view column, const DataType& type, std::unordered_set<int32_t>* ids) {
  if (!type.fields) return Status::OK();
  std::unordered_set<std::string_view> names;
  for (const DataField& field : *type.fields) {
    if (type.root == TypeRoot::kRow) {
      if (field.name.empty()) return Invalid("the column {} has a row field with an empty name", Shown(column));
      if (!names.insert(field.name).second) {
        return Invalid("the column {} has two row fields with the name {}", Shown(column), Shown(field.name));
      }
      if (field.field_id < 0 || !ids->insert(field.field_id).second) {
        return Invalid("the row field {} of the column {} has the id {}, which is not a free one", Shown(field.name),
                       Shown(column), field.field_id);
      }
    }
    STROM_TRY(ValidateNested(column, field.type, ids));
  }
  return Status::OK();
}

Status ValidateColumns(const Schema& schema) {
  if (schema.columns.empty()) return Invalid("a table needs at least one column");
  if (schema.columns.size() > kColumnsMax) {
    return Invalid("the schema has {} columns; at most {} are allowed", schema.columns.size(), kColumnsMax);
  }
  std::unordered_set<std::string_view> names;
  std::unordered_set<int32_t> ids;
  for (const Column& column : schema.columns) {
    STROM_TRY(ValidateColumnName(column.name));
    if (!names.insert(column.name).second) return Invalid("two columns have the name {}", Shown(column.name));
    if (column.id < 0 || !ids.insert(column.id).second) {
      return Invalid("the column {} has the id {}, which is not a free one", Shown(column.name), column.id);
    }
    STROM_TRY(ValidateNested(column.name, column.type, &ids));
  }
  if (const int32_t highest = HighestFieldId(schema); highest > schema.highest_field_id) {
    return Invalid("highest_field_id is {}, but the id {} is in use", schema.highest_field_id, highest);
  }
  return Status::OK();
}

Status ValidatePrimaryKey(const Schema& schema) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : schema.primary_key) {
    const std::optional<size_t> at = schema.FindColumn(name);
    if (!at) return Invalid("the primary key column {} is not a column of the table", Shown(name));
    if (!seen.insert(name).second) return Invalid("the primary key names the column {} twice", Shown(name));
    const Column& column = schema.columns[*at];
    if (column.type.is_nested()) {
      return Invalid("the primary key column {} has the type {}; ARRAY, MAP and ROW cannot be keys", Shown(name),
                     column.type.ToString());
    }
    if (column.aggregate) {
      return Invalid("the primary key column {} has the aggregate function {}; only other columns may have one",
                     Shown(name), column.aggregate->type);
    }
  }
  return Status::OK();
}

Status ValidateAutoIncrement(const Schema& schema) {
  if (schema.auto_increment_columns.empty()) return Status::OK();
  if (schema.auto_increment_columns.size() > 1) {
    return Invalid("the columns {} are all auto increment; at most one may be", Joined(schema.auto_increment_columns));
  }
  const std::string& name = schema.auto_increment_columns.front();
  if (!schema.has_primary_key())
    return Invalid("the auto increment column {} needs a table with a primary key", Shown(name));
  const std::optional<size_t> at = schema.FindColumn(name);
  if (!at) return Invalid("the auto increment column {} is not a column of the table", Shown(name));
  if (std::find(schema.primary_key.begin(), schema.primary_key.end(), name) != schema.primary_key.end()) {
    return Invalid("the auto increment column {} is in the primary key", Shown(name));
  }
  const TypeRoot root = schema.columns[*at].type.root;
  if (root != TypeRoot::kInteger && root != TypeRoot::kBigInt) {
    return Invalid("the auto increment column {} has the type {}; INT or BIGINT is needed", Shown(name),
                   schema.columns[*at].type.ToString());
  }
  return Status::OK();
}

bool IsNumeric(TypeRoot root) {
  return (root >= TypeRoot::kTinyInt && root <= TypeRoot::kDouble) || root == TypeRoot::kDecimal;
}

bool IsText(TypeRoot root) { return root == TypeRoot::kChar || root == TypeRoot::kString; }

bool AggregateTakes(std::string_view function, TypeRoot root) {
  if (function == "sum" || function == "product") return IsNumeric(root);
  if (function == "max" || function == "min") {
    return IsNumeric(root) || IsText(root) || (root >= TypeRoot::kDate && root <= TypeRoot::kTimestampLtz);
  }
  if (function == "listagg" || function == "string_agg") return IsText(root);
  if (function == "bool_and" || function == "bool_or") return root == TypeRoot::kBoolean;
  if (function == "rbm32" || function == "rbm64") return root == TypeRoot::kBytes;
  return true;  // first and last values are of any type
}

}  // namespace

Status ValidateSchema(const Schema& schema) {
  STROM_TRY(ValidateColumns(schema));
  STROM_TRY(ValidatePrimaryKey(schema));
  return ValidateAutoIncrement(schema);
}

void NormalizeSchema(Schema* schema) {
  for (const std::string& name : schema->primary_key) {
    if (const std::optional<size_t> at = schema->FindColumn(name)) schema->columns[*at].type.nullable = false;
  }
  AssignFieldIds(schema);
}

Status ValidateAggregate(const Column& column) {
  if (!column.aggregate) return Status::OK();
  const AggregateFunction& function = *column.aggregate;
  if (!AggregateTakes(function.type, column.type.root)) {
    return MakeError(ErrorCode::kInvalidConfig,
                     "the column {} has the type {}, which the aggregate function {} does not take", Shown(column.name),
                     column.type.ToString(), function.type);
  }
  const bool takes_delimiter = function.type == "listagg" || function.type == "string_agg";
  for (const auto& [name, value] : function.parameters) {
    if (!takes_delimiter || name != "delimiter") {
      return MakeError(ErrorCode::kInvalidConfig, "the aggregate function {} of the column {} has no parameter {}",
                       function.type, Shown(column.name), Shown(name));
    }
    if (value.empty()) {
      return MakeError(ErrorCode::kInvalidConfig, "the parameter delimiter of the column {} is empty",
                       Shown(column.name));
    }
  }
  return Status::OK();
}

Result<AggregateFunction> MakeAggregate(std::string_view name, std::map<std::string, std::string> parameters) {
  const std::optional<std::string_view> known = FindAggregateFunction(name);
  if (!known) return MakeError(ErrorCode::kInvalidAlterTable, "{} is not an aggregate function", Shown(name));
  return AggregateFunction{std::string(*known), std::move(parameters)};
}

Result<Schema> AddColumns(const Schema& schema, std::span<const AddColumn> columns) {
  const auto refuse = [](const AddColumn& column, std::string_view why) {
    return MakeError(ErrorCode::kInvalidAlterTable, "the column {} cannot be added: {}", Shown(column.name), why);
  };
  Schema changed = schema;
  for (const AddColumn& column : columns) {
    if (const Status name = ValidateColumnName(column.name); !name.ok()) return refuse(column, name.error().message);
    if (changed.FindColumn(column.name)) return refuse(column, "the table has a column of that name");
    if (column.position != 0) return refuse(column, "columns are only added at the end (position LAST)");
    if (!column.type.nullable)
      return refuse(column, fmt::format("{}: rows written before have no value for it", column.type.ToString()));
    if (column.comment && !IsUtf8(*column.comment)) return refuse(column, "its comment is not UTF-8 text");
    Column added;
    added.name = column.name;
    added.type = column.type;
    added.comment = column.comment;
    added.aggregate = column.aggregate;
    changed.columns.push_back(std::move(added));
  }
  // Ids of nested fields that the client chose are its own: here they are given anew, above all that were ever used.
  Schema fresh;
  fresh.columns.assign(changed.columns.begin() + static_cast<std::ptrdiff_t>(schema.columns.size()),
                       changed.columns.end());
  for (Column& column : fresh.columns) ForgetFieldIds(&column.type);
  fresh.highest_field_id = schema.highest_field_id;
  AssignFieldIds(&fresh);
  std::move(fresh.columns.begin(), fresh.columns.end(),
            changed.columns.begin() + static_cast<std::ptrdiff_t>(schema.columns.size()));
  changed.highest_field_id = fresh.highest_field_id;
  if (const Status valid = ValidateSchema(changed); !valid.ok()) {
    return MakeError(ErrorCode::kInvalidAlterTable, "the columns cannot be added: {}", valid.error().message);
  }
  return changed;
}

}  // namespace strom::model
