#include "meta/catalog_requests.h"

namespace strom::meta {
namespace {

template <typename Request>
std::optional<Result<rt::Pieces>> Answer(const Catalog& catalog, const rpc::Request& request,
                                         Result<rt::Pieces> (*answer)(const Catalog&, const Request&)) {
  Result<Request> decoded = rpc::DecodeRequest<Request>(request);
  if (!decoded.ok()) return Result<rt::Pieces>(decoded.error());
  return answer(catalog, *decoded);
}

std::optional<Result<rt::Pieces>> AnswerMetadataRequest(const Catalog& catalog, const rpc::Request& request) {
  Result<rpc::MetadataRequest> decoded = rpc::DecodeRequest<rpc::MetadataRequest>(request);
  if (!decoded.ok()) return Result<rt::Pieces>(decoded.error());
  return AnswerMetadata(catalog, *request.connection, *decoded);
}

}  // namespace

Result<const TableEntry*> RequireTable(const Catalog& catalog, const rpc::PbTablePath& path) {
  const TableEntry* table =
      catalog.FindTable(model::TablePath{std::string(path.database_name), std::string(path.table_name)});
  if (table == nullptr) {
    return MakeError(ErrorCode::kTableNotExist, "table {}.{} does not exist", path.database_name, path.table_name);
  }
  return table;
}

std::optional<Result<rt::Pieces>> AnswerCatalogRequest(const Catalog& catalog, const rpc::Request& request) {
  switch (request.api_key) {
    case rpc::ApiKey::kGetMetadata:
      return AnswerMetadataRequest(catalog, request);
    case rpc::ApiKey::kGetTableInfo:
      return Answer(catalog, request, &AnswerGetTableInfo);
    case rpc::ApiKey::kGetTableSchema:
      return Answer(catalog, request, &AnswerGetTableSchema);
    case rpc::ApiKey::kListDatabases:
      return Answer(catalog, request, &AnswerListDatabases);
    case rpc::ApiKey::kDatabaseExists:
      return Answer(catalog, request, &AnswerDatabaseExists);
    case rpc::ApiKey::kGetDatabaseInfo:
      return Answer(catalog, request, &AnswerGetDatabaseInfo);
    case rpc::ApiKey::kListTables:
      return Answer(catalog, request, &AnswerListTables);
    case rpc::ApiKey::kTableExists:
      return Answer(catalog, request, &AnswerTableExists);
    case rpc::ApiKey::kListPartitionInfos:
      return Answer(catalog, request, &AnswerListPartitionInfos);
    case rpc::ApiKey::kGetLatestKvSnapshots:
      return Answer(catalog, request, &AnswerGetLatestKvSnapshots);
    case rpc::ApiKey::kGetKvSnapshotMetadata:
      return Answer(catalog, request, &AnswerGetKvSnapshotMetadata);
    case rpc::ApiKey::kGetLakeSnapshot:
      return Answer(catalog, request, &AnswerGetLakeSnapshot);
    case rpc::ApiKey::kGetFilesystemSecurityToken:
      return AnswerGetFileSystemSecurityToken(catalog);
    case rpc::ApiKey::kDescribeClusterConfigs:
      return AnswerDescribeClusterConfigs(catalog);
    case rpc::ApiKey::kListAcls:
      return Result<rt::Pieces>(
          MakeError(ErrorCode::kSecurityDisabled, "no authorizer is configured, so there are no ACLs to list"));
    default:
      return std::nullopt;
  }
}

}  // namespace strom::meta
