#include "rpc/known_codes.h"

#include <iterator>

#include "base/error_code.h"
#include "rpc/messages.h"

namespace strom::rpc {

namespace {

constexpr int32_t kFirstTranslated = 58;

struct Translation {
  ErrorCode code;
  ErrorCode java_091;
  ErrorCode rust;
};

// Where nothing of the kind exists, OPERATION_NOT_ATTEMPTED: not retried, and true.
constexpr Translation kTranslations[] = {
    {ErrorCode::kServerNotExist, ErrorCode::kServerNotExist, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kServerTagAlreadyExist, ErrorCode::kServerTagAlreadyExist, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kServerTagNotExist, ErrorCode::kServerTagNotExist, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kRebalanceFailure, ErrorCode::kRebalanceFailure, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kNoRebalanceInProgress, ErrorCode::kNoRebalanceInProgress, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kInvalidProducerId, ErrorCode::kInvalidProducerId, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kConfigException, ErrorCode::kInvalidConfig, ErrorCode::kInvalidConfig},
    {ErrorCode::kNotCoordinatorLeader, ErrorCode::kInvalidCoordinator, ErrorCode::kInvalidCoordinator},
    {ErrorCode::kScannerExpired, ErrorCode::kOperationNotAttempted, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kUnknownScannerId, ErrorCode::kOperationNotAttempted, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kInvalidScanRequest, ErrorCode::kOperationNotAttempted, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kTooManyScanners, ErrorCode::kOperationNotAttempted, ErrorCode::kOperationNotAttempted},
    {ErrorCode::kDiskWriteLocked, ErrorCode::kStorageException, ErrorCode::kStorageException},
    {ErrorCode::kInsufficientKvLeaderReplicaCapacity, ErrorCode::kBucketMaxNum, ErrorCode::kBucketMaxNum},
    {ErrorCode::kStorageBackpressure, ErrorCode::kKvStorageException, ErrorCode::kStorageBackpressure},
    {ErrorCode::kHistoricalPartitionThrottled, ErrorCode::kKvStorageException, ErrorCode::kStorageBackpressure},
    {ErrorCode::kInvalidBucketRouting, ErrorCode::kOperationNotAttempted, ErrorCode::kOperationNotAttempted},
};

constexpr bool CodesAreDense() {
  int32_t code = kFirstTranslated;
  for (const Translation& each : kTranslations) {
    if (static_cast<int32_t>(each.code) != code++) return false;
  }
  return true;
}
static_assert(CodesAreDense(), "ToKnownCode() takes the code as an index");

struct NewVersion {
  ApiKey key;
  int16_t version;
};
// The first versions that only 1.0.0 asks for (spec/wire-protocol.md 3); keys from ALTER_DATABASE on are all of 1.0.0.
constexpr NewVersion kNewVersions[] = {{ApiKey::kProduceLog, 1},
                                       {ApiKey::kPutKv, 2},
                                       {ApiKey::kGetKvSnapshotMetadata, 1},
                                       {ApiKey::kAlterTable, 1}};

}  // namespace

KnownCodes KnownCodesOfClient(std::string_view client_name) {
  if (client_name == "fluss") return KnownCodes::kJava091;
  if (client_name.starts_with("fluss-rust")) return KnownCodes::kRust;
  return KnownCodes::kAll;
}

KnownCodes LearnFromRequest(KnownCodes known, int16_t api_key, int16_t api_version) {
  if (known != KnownCodes::kJava091) return known;
  if (api_key >= static_cast<int16_t>(ApiKey::kAlterDatabase)) return KnownCodes::kAll;
  for (const NewVersion& each : kNewVersions) {
    if (static_cast<int16_t>(each.key) == api_key && api_version >= each.version) return KnownCodes::kAll;
  }
  return known;
}

int32_t ToKnownCode(int32_t code, KnownCodes known) {
  const int64_t index = int64_t{code} - kFirstTranslated;
  if (known == KnownCodes::kAll || index < 0 || index >= std::ssize(kTranslations)) return code;
  const Translation& to = kTranslations[index];
  return static_cast<int32_t>(known == KnownCodes::kRust ? to.rust : to.java_091);
}

}  // namespace strom::rpc
