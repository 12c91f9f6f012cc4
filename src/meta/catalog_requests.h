#pragma once

#include <optional>

#include "base/result.h"
#include "meta/catalog.h"
#include "rpc/messages.h"
#include "rpc/request_handler.h"
#include "rt/pieces.h"

namespace strom::meta {

/// The read-only requests that both server types serve, answered from one catalog. Pure: no waiting, no state. Errors carry the code that the
/// client gets. Source: spec/wire-protocol.md 6.1-6.3, 6.13-6.17.

Result<rt::Pieces> AnswerListDatabases(const Catalog& catalog, const rpc::ListDatabasesRequest& request);
Result<rt::Pieces> AnswerDatabaseExists(const Catalog& catalog, const rpc::DatabaseExistsRequest& request);
Result<rt::Pieces> AnswerGetDatabaseInfo(const Catalog& catalog, const rpc::GetDatabaseInfoRequest& request);

Result<rt::Pieces> AnswerListTables(const Catalog& catalog, const rpc::ListTablesRequest& request);
Result<rt::Pieces> AnswerTableExists(const Catalog& catalog, const rpc::TableExistsRequest& request);
Result<rt::Pieces> AnswerGetTableInfo(const Catalog& catalog, const rpc::GetTableInfoRequest& request);
Result<rt::Pieces> AnswerGetTableSchema(const Catalog& catalog, const rpc::GetTableSchemaRequest& request);
Result<rt::Pieces> AnswerListPartitionInfos(const Catalog& catalog, const rpc::ListPartitionInfosRequest& request);

/// All alive tablet servers by the endpoint of the listener that was asked on, and the tables and partitions that were asked for. One
/// unknown table (7) or partition (36) fails the request.
Result<rt::Pieces> AnswerMetadata(const Catalog& catalog, const rpc::ConnectionInfo& connection,
                                  const rpc::MetadataRequest& request);

Result<rt::Pieces> AnswerGetLatestKvSnapshots(const Catalog& catalog, const rpc::GetLatestKvSnapshotsRequest& request);
Result<rt::Pieces> AnswerGetKvSnapshotMetadata(const Catalog& catalog, const rpc::GetKvSnapshotMetadataRequest& request);
Result<rt::Pieces> AnswerGetLakeSnapshot(const Catalog& catalog, const rpc::GetLakeSnapshotRequest& request);
Result<rt::Pieces> AnswerGetFileSystemSecurityToken(const Catalog& catalog);
Result<rt::Pieces> AnswerDescribeClusterConfigs(const Catalog& catalog);

/// The answer of whichever of these requests it is; nothing when it is none of them.
std::optional<Result<rt::Pieces>> AnswerCatalogRequest(const Catalog& catalog, const rpc::Request& request);

/// The table of a request, or kTableNotExist.
Result<const TableEntry*> RequireTable(const Catalog& catalog, const rpc::PbTablePath& path);

}  // namespace strom::meta
