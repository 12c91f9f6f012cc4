#include "rpc/api_versions.h"

namespace strom::rpc {

namespace {

constexpr bool kPublic = true;
constexpr bool kPrivate = false;
constexpr ServedBy kC = ServedBy::kCoordinator;
constexpr ServedBy kT = ServedBy::kTablet;
constexpr ServedBy kB = ServedBy::kBoth;

constexpr std::string_view kBuilt;
constexpr std::string_view kKv = "primary-key tables (step 2)";
constexpr std::string_view kProducerOffsets = "the Flink connector's exactly-once writes (step 2)";
constexpr std::string_view kCluster = "clusters of several servers (step 5)";
constexpr std::string_view kRemote = "remote storage (step 7)";
constexpr std::string_view kLake = "lake tiering (step 8)";

// Three maxima are below those of 1.0.0 until their meaning is built whole: PRODUCE_LOG 1 and PUT_KV 3 write into historical
// partitions, ALTER_TABLE 1 changes the number of buckets.
constexpr ApiDefinition kApis[] = {
    {ApiKey::kApiVersions, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kCreateDatabase, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kDropDatabase, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kListDatabases, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kDatabaseExists, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kCreateTable, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kDropTable, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kGetTableInfo, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kListTables, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kListPartitionInfos, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kTableExists, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kGetTableSchema, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kGetMetadata, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kUpdateMetadata, 0, 0, kT, kPrivate, kCluster},
    {ApiKey::kProduceLog, 0, 0, kT, kPublic, kBuilt},
    {ApiKey::kFetchLog, 0, 0, kT, kPublic, kBuilt},
    {ApiKey::kPutKv, 0, 2, kT, kPublic, kKv},
    {ApiKey::kLookup, 0, 1, kT, kPublic, kKv},
    {ApiKey::kNotifyLeaderAndIsr, 0, 0, kT, kPrivate, kCluster},
    {ApiKey::kStopReplica, 0, 0, kT, kPrivate, kCluster},
    {ApiKey::kAdjustIsr, 0, 0, kC, kPrivate, kCluster},
    {ApiKey::kListOffsets, 0, 0, kT, kPublic, kBuilt},
    {ApiKey::kCommitKvSnapshot, 0, 0, kC, kPrivate, kCluster},
    {ApiKey::kGetLatestKvSnapshots, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kGetKvSnapshotMetadata, 0, 1, kB, kPublic, kKv},
    {ApiKey::kGetFilesystemSecurityToken, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kInitWriter, 0, 0, kT, kPublic, kBuilt},
    {ApiKey::kCommitRemoteLogManifest, 0, 0, kC, kPrivate, kRemote},
    {ApiKey::kNotifyRemoteLogOffsets, 0, 0, kT, kPrivate, kRemote},
    {ApiKey::kNotifyKvSnapshotOffset, 0, 0, kT, kPrivate, kCluster},
    {ApiKey::kCommitLakeTableSnapshot, 0, 0, kC, kPrivate, kLake},
    {ApiKey::kNotifyLakeTableOffset, 0, 0, kT, kPrivate, kLake},
    {ApiKey::kGetLakeSnapshot, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kLimitScan, 0, 0, kT, kPublic, kBuilt},
    {ApiKey::kPrefixLookup, 0, 1, kT, kPublic, kKv},
    {ApiKey::kGetDatabaseInfo, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kCreatePartition, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kDropPartition, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kAuthenticate, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kCreateAcls, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kListAcls, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kDropAcls, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kLakeTieringHeartbeat, 0, 0, kC, kPrivate, kLake},
    {ApiKey::kControlledShutdown, 0, 0, kC, kPrivate, kCluster},
    {ApiKey::kAlterTable, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kDescribeClusterConfigs, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kAlterClusterConfigs, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kAddServerTag, 0, 0, kC, kPublic, kCluster},
    {ApiKey::kRemoveServerTag, 0, 0, kC, kPublic, kCluster},
    {ApiKey::kRebalance, 0, 0, kC, kPublic, kCluster},
    {ApiKey::kListRebalanceProgress, 0, 0, kC, kPublic, kCluster},
    {ApiKey::kCancelRebalance, 0, 0, kC, kPublic, kCluster},
    {ApiKey::kPrepareLakeTableSnapshot, 0, 0, kC, kPrivate, kLake},
    {ApiKey::kRegisterProducerOffsets, 0, 0, kC, kPublic, kProducerOffsets},
    {ApiKey::kGetProducerOffsets, 0, 0, kC, kPublic, kProducerOffsets},
    {ApiKey::kDeleteProducerOffsets, 0, 0, kC, kPublic, kProducerOffsets},
    {ApiKey::kAcquireKvSnapshotLease, 0, 0, kC, kPublic, kKv},
    {ApiKey::kReleaseKvSnapshotLease, 0, 0, kC, kPublic, kKv},
    {ApiKey::kDropKvSnapshotLease, 0, 0, kC, kPublic, kKv},
    {ApiKey::kGetTableStats, 0, 0, kT, kPublic, kBuilt},
    {ApiKey::kAlterDatabase, 0, 0, kC, kPublic, kBuilt},
    {ApiKey::kScanKv, 0, 0, kT, kPublic, kKv},
    {ApiKey::kGetClusterHealth, 0, 0, kB, kPublic, kBuilt},
    {ApiKey::kListRemoteLogManifests, 0, 0, kC, kPublic, kRemote},
    {ApiKey::kListKvSnapshots, 0, 0, kC, kPublic, kKv},
    {ApiKey::kAddServerTagByRack, 0, 0, kC, kPublic, kCluster},
    {ApiKey::kRemoveServerTagByRack, 0, 0, kC, kPublic, kCluster},
};

constexpr int16_t kFirstKey = static_cast<int16_t>(ApiKey::kApiVersions);

constexpr bool KeysAreDense() {
  int32_t key = kFirstKey;
  for (const ApiDefinition& api : kApis) {
    if (static_cast<int32_t>(api.key) != key++) return false;
  }
  return true;
}
static_assert(KeysAreDense(), "FindApi() takes the key as an index");

}  // namespace

std::span<const ApiDefinition> ApiDefinitions() { return kApis; }

const ApiDefinition* FindApi(int16_t key) {
  const int32_t index = int32_t{key} - kFirstKey;
  if (index < 0 || index >= static_cast<int32_t>(std::size(kApis))) return nullptr;
  return &kApis[index];
}

std::vector<PbApiVersion> AdvertisedApis(ServerType type) {
  std::vector<PbApiVersion> advertised;
  for (const ApiDefinition& api : kApis) {
    if (!api.built() || !api.served_on(type)) continue;
    advertised.push_back(
        {.api_key = static_cast<int32_t>(api.key), .min_version = api.version_min, .max_version = api.version_max});
  }
  return advertised;
}

Status CheckApi(int16_t key, int16_t version, ServerType type) {
  const ApiDefinition* api = FindApi(key);
  if (api == nullptr) {
    return MakeError(ErrorCode::kUnsupportedVersion, "API key {} is not known to this server", key);
  }
  if (!api->served_on(type)) {
    return MakeError(ErrorCode::kUnsupportedVersion, "{} ({}) is not served by a {}: ask a {}", api->name(), key,
                     ServerTypeName(type),
                     ServerTypeName(type == ServerType::kCoordinator ? ServerType::kTabletServer : ServerType::kCoordinator));
  }
  if (!api->built()) {
    return MakeError(ErrorCode::kUnsupportedVersion, "{} ({}) is not built yet: it comes with {}", api->name(), key,
                     api->comes_with);
  }
  const bool in_range = version >= api->version_min && version <= api->version_max;
  if (!in_range && api->key != ApiKey::kApiVersions) {
    return MakeError(ErrorCode::kUnsupportedVersion, "{} ({}) is served in versions {} to {}, not in version {}", api->name(),
                     key, api->version_min, api->version_max, version);
  }
  return Status::OK();
}

std::string_view ServerTypeName(ServerType type) {
  switch (type) {
    case ServerType::kCoordinator:
      return "coordinator";
    case ServerType::kTabletServer:
      return "tablet server";
    case ServerType::kUnknown:
      break;
  }
  return "server of unknown type";
}

}  // namespace strom::rpc
