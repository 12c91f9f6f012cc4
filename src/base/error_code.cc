#include "base/error_code.h"

namespace strom {

namespace {

struct Entry {
  ErrorCode code;
  std::string_view name;
  bool retriable;
};

// messages.tsv CONST:ErrorCode, with the spelling of the protocol, slips included.
constexpr Entry kEntries[] = {
    {ErrorCode::kUnknownServerError, "UNKNOWN_SERVER_ERROR", false},
    {ErrorCode::kNone, "NONE", false},
    {ErrorCode::kNetworkException, "NETWORK_EXCEPTION", true},
    {ErrorCode::kUnsupportedVersion, "UNSUPPORTED_VERSION", false},
    {ErrorCode::kCorruptMessage, "CORRUPT_MESSAGE", true},
    {ErrorCode::kDatabaseNotExist, "DATABASE_NOT_EXIST", false},
    {ErrorCode::kDatabaseNotEmpty, "DATABASE_NOT_EMPTY", false},
    {ErrorCode::kDatabaseAlreadyExist, "DATABASE_ALREADY_EXIST", false},
    {ErrorCode::kTableNotExist, "TABLE_NOT_EXIST", false},
    {ErrorCode::kTableAlreadyExist, "TABLE_ALREADY_EXIST", false},
    {ErrorCode::kSchemaNotExist, "SCHEMA_NOT_EXIST", true},
    {ErrorCode::kLogStorageException, "LOG_STORAGE_EXCEPTION", true},
    {ErrorCode::kKvStorageException, "KV_STORAGE_EXCEPTION", true},
    {ErrorCode::kNotLeaderOrFollower, "NOT_LEADER_OR_FOLLOWER", true},
    {ErrorCode::kRecordTooLarge, "RECORD_TOO_LARGE_EXCEPTION", false},
    {ErrorCode::kCorruptRecord, "CORRUPT_RECORD_EXCEPTION", true},
    {ErrorCode::kInvalidTable, "INVALID_TABLE_EXCEPTION", false},
    {ErrorCode::kInvalidDatabase, "INVALID_DATABASE_EXCEPTION", false},
    {ErrorCode::kInvalidReplicationFactor, "INVALID_REPLICATION_FACTOR", false},
    {ErrorCode::kInvalidRequiredAcks, "INVALID_REQUIRED_ACKS", false},
    {ErrorCode::kLogOffsetOutOfRange, "LOG_OFFSET_OUT_OF_RANGE_EXCEPTION", false},
    {ErrorCode::kNonPrimaryKeyTable, "NON_PRIMARY_KEY_TABLE_EXCEPTION", false},
    {ErrorCode::kUnknownTableOrBucket, "UNKNOWN_TABLE_OR_BUCKET_EXCEPTION", true},
    {ErrorCode::kInvalidUpdateVersion, "INVALID_UPDATE_VERSION_EXCEPTION", false},
    {ErrorCode::kInvalidCoordinator, "INVALID_COORDINATOR_EXCEPTION", false},
    {ErrorCode::kFencedLeaderEpoch, "FENCED_LEADER_EPOCH_EXCEPTION", false},
    {ErrorCode::kRequestTimeOut, "REQUEST_TIME_OUT", true},
    {ErrorCode::kStorageException, "STORAGE_EXCEPTION", true},
    {ErrorCode::kOperationNotAttempted, "OPERATION_NOT_ATTEMPTED_EXCEPTION", false},
    {ErrorCode::kNotEnoughReplicasAfterAppend, "NOT_ENOUGH_REPLICAS_AFTER_APPEND_EXCEPTION", true},
    {ErrorCode::kNotEnoughReplicas, "NOT_ENOUGH_REPLICAS_EXCEPTION", true},
    {ErrorCode::kSecurityToken, "SECURITY_TOKEN_EXCEPTION", false},
    {ErrorCode::kOutOfOrderSequence, "OUT_OF_ORDER_SEQUENCE_EXCEPTION", false},
    {ErrorCode::kDuplicateSequence, "DUPLICATE_SEQUENCE_EXCEPTION", false},
    {ErrorCode::kUnknownWriterId, "UNKNOWN_WRITER_ID_EXCEPTION", false},
    {ErrorCode::kInvalidColumnProjection, "INVALID_COLUMN_PROJECTION", false},
    {ErrorCode::kInvalidTargetColumn, "INVALID_TARGET_COLUMN", false},
    {ErrorCode::kPartitionNotExists, "PARTITION_NOT_EXISTS", false},
    {ErrorCode::kTableNotPartitioned, "TABLE_NOT_PARTITIONED_EXCEPTION", false},
    {ErrorCode::kInvalidTimestamp, "INVALID_TIMESTAMP_EXCEPTION", false},
    {ErrorCode::kInvalidConfig, "INVALID_CONFIG_EXCEPTION", false},
    {ErrorCode::kLakeStorageNotConfigured, "LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION", false},
    {ErrorCode::kKvSnapshotNotExist, "KV_SNAPSHOT_NOT_EXIST", false},
    {ErrorCode::kPartitionAlreadyExists, "PARTITION_ALREADY_EXISTS", false},
    {ErrorCode::kPartitionSpecInvalid, "PARTITION_SPEC_INVALID_EXCEPTION", false},
    {ErrorCode::kLeaderNotAvailable, "LEADER_NOT_AVAILABLE_EXCEPTION", true},
    {ErrorCode::kPartitionMaxNum, "PARTITION_MAX_NUM_EXCEPTION", false},
    {ErrorCode::kAuthenticate, "AUTHENTICATE_EXCEPTION", false},
    {ErrorCode::kSecurityDisabled, "SECURITY_DISABLED_EXCEPTION", false},
    {ErrorCode::kAuthorization, "AUTHORIZATION_EXCEPTION", false},
    {ErrorCode::kBucketMaxNum, "BUCKET_MAX_NUM_EXCEPTION", false},
    {ErrorCode::kFencedTieringEpoch, "FENCED_TIERING_EPOCH_EXCEPTION", false},
    {ErrorCode::kRetriableAuthenticate, "RETRIABLE_AUTHENTICATE_EXCEPTION", false},
    {ErrorCode::kInvalidServerRackInfo, "INVALID_SERVER_RACK_INFO_EXCEPTION", false},
    {ErrorCode::kLakeSnapshotNotExist, "LAKE_SNAPSHOT_NOT_EXIST", false},
    {ErrorCode::kLakeTableAlreadyExist, "LAKE_TABLE_ALREADY_EXIST", false},
    {ErrorCode::kIneligibleReplica, "INELIGIBLE_REPLICA_EXCEPTION", false},
    {ErrorCode::kInvalidAlterTable, "INVALID_ALTER_TABLE_EXCEPTION", false},
    {ErrorCode::kDeletionDisabled, "DELETION_DISABLED_EXCEPTION", false},
    {ErrorCode::kServerNotExist, "SERVER_NOT_EXIST_EXCEPTION", false},
    {ErrorCode::kServerTagAlreadyExist, "SEVER_TAG_ALREADY_EXIST_EXCEPTION", false},
    {ErrorCode::kServerTagNotExist, "SEVER_TAG_NOT_EXIST_EXCEPTION", false},
    {ErrorCode::kRebalanceFailure, "REBALANCE_FAILURE_EXCEPTION", false},
    {ErrorCode::kNoRebalanceInProgress, "NO_REBALANCE_IN_PROGRESS_EXCEPTION", false},
    {ErrorCode::kInvalidProducerId, "INVALID_PRODUCER_ID_EXCEPTION", false},
    {ErrorCode::kConfigException, "CONFIG_EXCEPTION", false},
    {ErrorCode::kNotCoordinatorLeader, "NOT_COORDINATOR_LEADER_EXCEPTION", false},
    {ErrorCode::kScannerExpired, "SCANNER_EXPIRED", false},
    {ErrorCode::kUnknownScannerId, "UNKNOWN_SCANNER_ID", false},
    {ErrorCode::kInvalidScanRequest, "INVALID_SCAN_REQUEST", false},
    {ErrorCode::kTooManyScanners, "TOO_MANY_SCANNERS", false},
    {ErrorCode::kDiskWriteLocked, "DISK_WRITE_LOCKED", true},
    {ErrorCode::kInsufficientKvLeaderReplicaCapacity, "INSUFFICIENT_KV_LEADER_REPLICA_CAPACITY", false},
    {ErrorCode::kStorageBackpressure, "STORAGE_BACKPRESSURE_EXCEPTION", true},
    {ErrorCode::kHistoricalPartitionThrottled, "HISTORICAL_PARTITION_THROTTLED", true},
    {ErrorCode::kInvalidBucketRouting, "INVALID_BUCKET_ROUTING", false},
    {ErrorCode::kIoError, "IO_ERROR", true},
    {ErrorCode::kNoSpace, "NO_SPACE", true},
    {ErrorCode::kCorruptData, "CORRUPT_DATA", false},
    {ErrorCode::kCancelled, "CANCELLED", false},
    {ErrorCode::kDeadlineExceeded, "DEADLINE_EXCEEDED", true},
    {ErrorCode::kEndOfStream, "END_OF_STREAM", false},
    {ErrorCode::kVersionConflict, "VERSION_CONFLICT", false},
    {ErrorCode::kNotFound, "NOT_FOUND", false},
    {ErrorCode::kAlreadyExists, "ALREADY_EXISTS", false},
};

const Entry* Find(ErrorCode code) {
  for (const Entry& entry : kEntries) {
    if (entry.code == code) return &entry;
  }
  return nullptr;
}

}  // namespace

std::string_view ErrorCodeName(ErrorCode code) {
  const Entry* entry = Find(code);
  return entry == nullptr ? "UNKNOWN_ERROR_CODE" : entry->name;
}

bool IsRetriable(ErrorCode code) {
  const Entry* entry = Find(code);
  return entry != nullptr && entry->retriable;
}

ErrorCode ToWireCode(ErrorCode code) {
  switch (code) {
    // Full disks and failed writes: clients retry for as long as they like, and go on by themselves once there is room.
    case ErrorCode::kIoError:
    case ErrorCode::kNoSpace: return ErrorCode::kStorageException;
    case ErrorCode::kCorruptData: return ErrorCode::kCorruptRecord;
    case ErrorCode::kCancelled: return ErrorCode::kNotLeaderOrFollower;
    case ErrorCode::kDeadlineExceeded: return ErrorCode::kRequestTimeOut;
    case ErrorCode::kEndOfStream: return ErrorCode::kNetworkException;
    case ErrorCode::kVersionConflict: return ErrorCode::kInvalidCoordinator;
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists: return ErrorCode::kUnknownServerError;
    default: return code;
  }
}

}  // namespace strom
