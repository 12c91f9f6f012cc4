#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "rt/pieces.h"

namespace strom::rt {

/// What is left of a Pieces on its way to a socket. Memory pieces in a row are one sendmsg; file ranges go by sendfile,
/// except small ones beside other pieces: reading those and sending them with their neighbours takes fewer calls. Memory
/// before a range is sent with MSG_MORE, so that a frame's header leaves in one packet with what follows.
class Sender {
 public:
  enum class Progress {
    kDone,
    kBlocked,      // the socket takes no more now
    kBudgetSpent,  // enough for one turn of the shard
  };

  explicit Sender(Pieces pieces) : pieces_(std::move(pieces).Take()) {}

  /// Sends until one of the above. kEndOfStream when the peer has gone, kIoError for the rest, a file that is shorter than
  /// its range included; after an error the stream is broken.
  Result<Progress> Push(int descriptor);

 private:
  enum class Step { kSent, kBlocked };
  Status GatherSmallRanges();
  Result<Step> SendMemory(int descriptor);
  Result<Step> SendRange(int descriptor, const FileRange& range);
  Status ReadPiece(size_t index);
  void Advance(uint64_t bytes);

  std::vector<Pieces::Piece> pieces_;
  size_t index_ = 0;     // the first piece that is not sent whole
  uint64_t offset_ = 0;  // how much of it is
  uint64_t sent_in_turn_ = 0;
};

}  // namespace strom::rt
