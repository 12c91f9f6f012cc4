#include "coordinator/ddl_requests.h"

#include "model/table_validation.h"

namespace strom::coordinator {
namespace {

model::TablePath ToPath(const rpc::PbTablePath& path) { return {std::string(path.database_name), std::string(path.table_name)}; }

model::PartitionSpec ToSpec(const rpc::PbPartitionSpec& spec) {
  model::PartitionSpec pairs;
  for (const rpc::PbKeyValue& each : spec.partition_key_values) pairs.emplace_back(each.key, each.value);
  return pairs;
}

std::optional<std::string> ToText(const std::optional<std::string_view>& text) {
  if (!text) return std::nullopt;
  return std::string(*text);
}

Result<model::AddColumn> ToColumn(const rpc::PbAddColumn& column) {
  model::AddColumn added;
  added.name = std::string(column.column_name);
  Result<model::DataType> type = model::ParseDataTypeJson(column.data_type_json);
  if (!type.ok()) {
    return MakeError(ErrorCode::kInvalidAlterTable, "the type of column '{}' cannot be read: {}", column.column_name,
                     type.error().message);
  }
  added.type = std::move(*type);
  added.comment = ToText(column.comment);
  added.position = column.column_position_type;
  if (column.agg_function_type) {
    std::map<std::string, std::string> parameters;
    for (const rpc::PbKeyValue& each : column.agg_function_params) parameters.emplace(each.key, each.value);
    STROM_ASSIGN(added.aggregate, model::MakeAggregate(*column.agg_function_type, std::move(parameters)));
  }
  return added;
}

}  // namespace

Result<std::vector<model::PropertyChange>> ToChanges(const std::vector<rpc::PbAlterConfig>& configs, ErrorCode code) {
  std::vector<model::PropertyChange> changes;
  for (const rpc::PbAlterConfig& each : configs) {
    if (each.op_type < 0 || each.op_type > static_cast<int32_t>(model::ConfigOp::kSubtract)) {
      return MakeError(code, "'{}' cannot be changed by operation {}: there are 0 (set), 1 (delete), 2 (append) and 3 (subtract)",
                       each.config_key, each.op_type);
    }
    changes.push_back({std::string(each.config_key), ToText(each.config_value), static_cast<model::ConfigOp>(each.op_type)});
  }
  return changes;
}

Result<CreateDatabase> ToCommand(const rpc::CreateDatabaseRequest& request) {
  CreateDatabase command;
  command.name = std::string(request.database_name);
  command.ignore_if_exists = request.ignore_if_exists;
  if (request.database_json) {
    STROM_ASSIGN(command.descriptor, model::ParseDatabaseDescriptorJson(*request.database_json));
  }
  return command;
}

Result<AlterDatabase> ToCommand(const rpc::AlterDatabaseRequest& request) {
  AlterDatabase command;
  command.name = std::string(request.database_name);
  STROM_ASSIGN(command.changes, ToChanges(request.config_changes, ErrorCode::kInvalidDatabase));
  command.comment = ToText(request.comment);
  command.ignore_if_not_exists = request.ignore_if_not_exists;
  return command;
}

Result<DropDatabase> ToCommand(const rpc::DropDatabaseRequest& request) {
  return DropDatabase{std::string(request.database_name), request.ignore_if_not_exists, request.cascade};
}

Result<CreateTable> ToCommand(const rpc::CreateTableRequest& request) {
  CreateTable command;
  command.path = ToPath(request.table_path);
  command.ignore_if_exists = request.ignore_if_exists;
  // A bad name is told before what else may be wrong.
  STROM_TRY(model::ValidateName("table", command.path.table, ErrorCode::kInvalidTable));
  STROM_ASSIGN(command.descriptor, model::ParseTableDescriptorJson(request.table_json));
  return command;
}

Result<AlterTable> ToCommand(const rpc::AlterTableRequest& request) {
  model::AlterShape shape;
  shape.property_changes = request.config_changes.size();
  shape.added_columns = request.add_columns.size();
  shape.dropped_columns = request.drop_columns.size();
  shape.renamed_columns = request.rename_columns.size();
  shape.modified_columns = request.modify_columns.size();
  shape.changes_bucket_count = request.modify_bucket_count.has_value();
  STROM_TRY(model::CheckAlterShape(shape));
  AlterTable command;
  command.path = ToPath(request.table_path);
  command.ignore_if_not_exists = request.ignore_if_not_exists;
  STROM_ASSIGN(command.changes, ToChanges(request.config_changes, ErrorCode::kInvalidAlterTable));
  for (const rpc::PbAddColumn& column : request.add_columns) {
    STROM_ASSIGN(model::AddColumn added, ToColumn(column));
    command.add_columns.push_back(std::move(added));
  }
  return command;
}

Result<DropTable> ToCommand(const rpc::DropTableRequest& request) {
  return DropTable{ToPath(request.table_path), request.ignore_if_not_exists};
}

Result<CreatePartition> ToCommand(const rpc::CreatePartitionRequest& request) {
  // The request's flag is named the wrong way round (spec/wire-protocol.md 9.20).
  return CreatePartition{ToPath(request.table_path), ToSpec(request.partition_spec), request.ignore_if_not_exists};
}

Result<DropPartition> ToCommand(const rpc::DropPartitionRequest& request) {
  return DropPartition{ToPath(request.table_path), ToSpec(request.partition_spec), request.ignore_if_not_exists};
}

}  // namespace strom::coordinator
