#include "meta/catalog_requests.h"

namespace strom::meta {
namespace {

Result<const DatabaseEntry*> RequireDatabase(const Catalog& catalog, std::string_view name) {
  const DatabaseEntry* database = catalog.FindDatabase(name);
  if (database == nullptr) return MakeError(ErrorCode::kDatabaseNotExist, "database {} does not exist", name);
  return database;
}

}  // namespace

Result<rt::Pieces> AnswerListDatabases(const Catalog& catalog, const rpc::ListDatabasesRequest& request) {
  rpc::ListDatabasesResponse response;
  const std::vector<std::string> names = catalog.DatabaseNames();
  for (const std::string& name : names) {
    if (!request.include_summary.value_or(false)) {
      response.database_name.push_back(name);
      continue;
    }
    const DatabaseEntry& database = *catalog.FindDatabase(name);
    rpc::PbDatabaseSummary& summary = response.database_summary.emplace_back();
    summary.database_name = database.name;
    summary.created_time = database.created_time.value();
    summary.table_count = static_cast<int32_t>(database.tables.size());
  }
  return rpc::Encode(response);
}

Result<rt::Pieces> AnswerDatabaseExists(const Catalog& catalog, const rpc::DatabaseExistsRequest& request) {
  rpc::DatabaseExistsResponse response;
  response.exists = catalog.FindDatabase(request.database_name) != nullptr;
  return rpc::Encode(response);
}

Result<rt::Pieces> AnswerGetDatabaseInfo(const Catalog& catalog, const rpc::GetDatabaseInfoRequest& request) {
  STROM_ASSIGN(const DatabaseEntry* database, RequireDatabase(catalog, request.database_name));
  const std::string json = model::ToJson(database->descriptor);
  rpc::GetDatabaseInfoResponse response;
  response.database_json = json;
  response.created_time = database->created_time.value();
  response.modified_time = database->modified_time.value();
  return rpc::Encode(response);
}

Result<rt::Pieces> AnswerListTables(const Catalog& catalog, const rpc::ListTablesRequest& request) {
  STROM_ASSIGN(const DatabaseEntry* database, RequireDatabase(catalog, request.database_name));
  const std::vector<std::string> names = database->TableNames();
  rpc::ListTablesResponse response;
  response.table_name.assign(names.begin(), names.end());
  return rpc::Encode(response);
}

}  // namespace strom::meta
