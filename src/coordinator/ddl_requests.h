#pragma once

#include "base/result.h"
#include "coordinator/commands.h"
#include "rpc/messages.h"

namespace strom::coordinator {

/// From the messages of spec/messages.tsv to commands. Errors have the codes that clients get.

Result<CreateDatabase> ToCommand(const rpc::CreateDatabaseRequest& request);
Result<AlterDatabase> ToCommand(const rpc::AlterDatabaseRequest& request);
Result<DropDatabase> ToCommand(const rpc::DropDatabaseRequest& request);
Result<CreateTable> ToCommand(const rpc::CreateTableRequest& request);
Result<AlterTable> ToCommand(const rpc::AlterTableRequest& request);
Result<DropTable> ToCommand(const rpc::DropTableRequest& request);
Result<CreatePartition> ToCommand(const rpc::CreatePartitionRequest& request);
Result<DropPartition> ToCommand(const rpc::DropPartitionRequest& request);

Result<std::vector<model::PropertyChange>> ToChanges(const std::vector<rpc::PbAlterConfig>& configs, ErrorCode code);

}  // namespace strom::coordinator
