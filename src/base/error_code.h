#pragma once

#include <cstdint>
#include <string_view>

namespace strom {

/// What can go wrong. The codes from -1 to 74 *are* the protocol's (spec/wire-protocol.md 5.2, messages.tsv CONST:ErrorCode);
/// those from 1000 on are internal and reach a client only through ToWireCode().
enum class ErrorCode : int16_t {
  kUnknownServerError = -1,
  kNone = 0,
  kNetworkException = 1,
  kUnsupportedVersion = 2,
  kCorruptMessage = 3,
  kDatabaseNotExist = 4,
  kDatabaseNotEmpty = 5,
  kDatabaseAlreadyExist = 6,
  kTableNotExist = 7,
  kTableAlreadyExist = 8,
  kSchemaNotExist = 9,
  kLogStorageException = 10,
  kKvStorageException = 11,
  kNotLeaderOrFollower = 12,
  kRecordTooLarge = 13,
  kCorruptRecord = 14,
  kInvalidTable = 15,
  kInvalidDatabase = 16,
  kInvalidReplicationFactor = 17,
  kInvalidRequiredAcks = 18,
  kLogOffsetOutOfRange = 19,
  kNonPrimaryKeyTable = 20,
  kUnknownTableOrBucket = 21,
  kInvalidUpdateVersion = 22,
  kInvalidCoordinator = 23,
  kFencedLeaderEpoch = 24,
  kRequestTimeOut = 25,
  kStorageException = 26,
  kOperationNotAttempted = 27,
  kNotEnoughReplicasAfterAppend = 28,
  kNotEnoughReplicas = 29,
  kSecurityToken = 30,
  kOutOfOrderSequence = 31,
  kDuplicateSequence = 32,
  kUnknownWriterId = 33,
  kInvalidColumnProjection = 34,
  kInvalidTargetColumn = 35,
  kPartitionNotExists = 36,
  kTableNotPartitioned = 37,
  kInvalidTimestamp = 38,
  kInvalidConfig = 39,
  kLakeStorageNotConfigured = 40,
  kKvSnapshotNotExist = 41,
  kPartitionAlreadyExists = 42,
  kPartitionSpecInvalid = 43,
  kLeaderNotAvailable = 44,
  kPartitionMaxNum = 45,
  kAuthenticate = 46,
  kSecurityDisabled = 47,
  kAuthorization = 48,
  kBucketMaxNum = 49,
  kFencedTieringEpoch = 50,
  kRetriableAuthenticate = 51,
  kInvalidServerRackInfo = 52,
  kLakeSnapshotNotExist = 53,
  kLakeTableAlreadyExist = 54,
  kIneligibleReplica = 55,
  kInvalidAlterTable = 56,
  kDeletionDisabled = 57,
  kServerNotExist = 58,
  kServerTagAlreadyExist = 59,
  kServerTagNotExist = 60,
  kRebalanceFailure = 61,
  kNoRebalanceInProgress = 62,
  kInvalidProducerId = 63,
  kConfigException = 64,
  kNotCoordinatorLeader = 65,
  kScannerExpired = 66,
  kUnknownScannerId = 67,
  kInvalidScanRequest = 68,
  kTooManyScanners = 69,
  kDiskWriteLocked = 70,
  kInsufficientKvLeaderReplicaCapacity = 71,
  kStorageBackpressure = 72,
  kHistoricalPartitionThrottled = 73,
  kInvalidBucketRouting = 74,

  // Internal.
  kIoError = 1000,         // the operating system refused a file or socket operation; may be retried
  kNoSpace = 1001,         // the disk is full; retryable
  kCorruptData = 1002,     // the disk lies about committed data
  kCancelled = 1003,       // the waiter or its owner is stopping
  kDeadlineExceeded = 1004,
  kEndOfStream = 1005,     // the peer closed the connection
  kVersionConflict = 1006, // compare-and-set of the metadata store lost
  kNotFound = 1007,        // a node or file that is not there
  kAlreadyExists = 1008,
};

/// The protocol's name of a code ("TABLE_NOT_EXIST"), or the internal one's.
std::string_view ErrorCodeName(ErrorCode code);

/// The one mapping from internal codes to what a client is told; protocol codes map to themselves.
ErrorCode ToWireCode(ErrorCode code);

/// True where a client of the protocol retries by itself (spec/wire-protocol.md 5.2).
bool IsRetriable(ErrorCode code);

}  // namespace strom
