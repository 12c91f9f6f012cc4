#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/result.h"
#include "rpc/frame.h"
#include "rpc/frame_reader.h"
#include "rpc/memory_budget.h"
#include "rpc/request_handler.h"
#include "rt/connection.h"
#include "rt/sync.h"
#include "rt/task.h"

namespace strom::rpc {

struct ConnectionOptions {
  size_t frame_size_max = size_t{100} << 20;          // bytes of a request frame, length included: netty.server.max-request-size
  rt::Duration idle_time_max = std::chrono::minutes(10);  // without reads and writes: netty.connection.max-idle-time
  size_t requests_in_flight_max = 256;                // of one connection; beyond it nothing more is read
  size_t response_bytes_queued_max = size_t{16} << 20;  // answers that wait for the socket; beyond it nothing more is read
  size_t write_batch_bytes = size_t{256} << 10;       // answers that are ready go out together up to this size
  rt::Duration stalled_frame_time_max = std::chrono::seconds(60);  // a frame that has begun holds memory: no byte for so long ends it
  rt::Duration farewell_time_max = std::chrono::seconds(5);  // for last answers to a peer that has finished sending
};

/// What the connections of one shard have done.
struct ConnectionCounters {
  uint64_t requests = 0;
  uint64_t error_responses = 0;    // type 1
  uint64_t failed_connections = 0;  // ended by a type-2 frame
  uint64_t idle_closed = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_sent = 0;
  uint64_t bytes_copied = 0;  // in user space, between socket and request
  uint64_t read_calls = 0;
};

/// The server's side of one connection. Source: spec/wire-protocol.md 1, 3.2, 4, 5.1.
///
/// - Frames become Requests in the order of arrival; each handler runs to its first wait before the next one starts.
/// - Answers leave when they are ready, in any order, together when several are.
/// - It stops reading while too many requests are in flight, too many answer bytes wait or the shard's memory is used up.
/// - ApiVersions and Authenticate are answered here. An API that is unknown, served elsewhere or not built, and a body that cannot be
///   decoded, get a type-1 frame with UNSUPPORTED_VERSION, and the connection goes on.
/// - A frame that cannot be one ends the connection: a type-2 frame with CORRUPT_MESSAGE for a bad length, RECORD_TOO_LARGE for a frame
///   above the limit (a code that clients do not retry), then close.
class ServerConnection {
 public:
  /// All but `connection` and `info` belong to the shard and outlive this.
  ServerConnection(std::unique_ptr<rt::Connection> connection, ConnectionInfo info, RequestHandler* handler,
                   MemoryBudget* memory, const ConnectionOptions* options, ConnectionCounters* counters);

  /// Serves until the connection is closed and its last request has ended. Called once; this outlives the task.
  rt::Task<void> Run();
  /// No new requests; closes when those in flight are answered.
  void Drain();
  /// Closes at once. Requests in flight end by themselves, their answers are dropped.
  void Close();

 private:
  struct Answer {
    ResponseType type;
    int32_t request_id;
    rt::Pieces body;
  };

  rt::Task<void> ReadLoop();
  rt::Task<void> WriteLoop(rt::Gate::Holder holder);
  rt::Task<void> WatchLoop(rt::Gate::Holder holder);
  rt::Task<void> Serve(rt::Gate::Holder holder, MemoryBudget::Charge charge, Request request);
  void Dispatch(Buffer frame, MemoryBudget::Charge charge);
  Result<rt::Pieces> AnswerApiVersions(const Request& request);
  Result<rt::Pieces> AnswerAuthenticate(const Request& request);
  void Enqueue(int32_t request_id, Result<rt::Pieces> body);
  /// Answers that are ready, up to the batch size, as one write; after the last of them the failure, if there is one.
  rt::Pieces TakeBatch(size_t* queued_bytes);
  void Fail(Error error);
  void NoteProgress();
  void NoteReads();
  bool must_pause() const {
    return in_flight_ >= options_->requests_in_flight_max || queued_bytes_ > options_->response_bytes_queued_max;
  }
  /// All has been said: every answer, or why the connection ends.
  bool all_sent() const { return failure_ ? failure_sent_ && !writing_ : in_flight_ == 0 && ready_.empty() && !writing_; }

  std::unique_ptr<rt::Connection> connection_;
  std::shared_ptr<const ConnectionInfo> info_;
  RequestHandler* const handler_;
  MemoryBudget* const memory_;
  const ConnectionOptions* const options_;
  ConnectionCounters* const counters_;
  FrameReader reader_;

  rt::Gate gate_;          // the loops and the requests
  rt::Event has_answers_;  // the writer waits for it
  rt::Event progress_;     // something was answered or sent, or the connection closes
  rt::Event stopped_;
  bool stopping_ = false;
  bool draining_ = false;
  bool in_frame_ = false;  // a frame has begun and is not complete
  bool writing_ = false;
  size_t in_flight_ = 0;
  std::deque<Answer> ready_;
  size_t queued_bytes_ = 0;       // of ready_ and of what is being written
  std::optional<Error> failure_;  // told to the peer as the last frame
  bool failure_sent_ = false;
  rt::MonotonicTime last_write_;
  uint64_t noted_bytes_read_ = 0;  // what of the reader's counts is in the shard's counters
  uint64_t noted_bytes_copied_ = 0;
  uint64_t noted_read_calls_ = 0;
};

}  // namespace strom::rpc
