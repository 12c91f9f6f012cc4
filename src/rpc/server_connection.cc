#include "rpc/server_connection.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "rpc/api_versions.h"
#include "rpc/linger.h"

namespace strom::rpc {

namespace {

// Handlers that never wait would let one connection keep the shard; after so many requests the others get their turn.
constexpr int kRequestsPerTurn = 64;
// Answers up to this size are gathered with their heads in one buffer; above it a piece of its own is cheaper than the copy.
constexpr size_t kGatheredBodyMax = 512;
constexpr size_t kClientNameMax = 128;
constexpr std::string_view kPlaintext = "PLAINTEXT";

bool EqualsIgnoringCase(std::string_view a, std::string_view upper) {
  return std::equal(a.begin(), a.end(), upper.begin(), upper.end(),
                    [](char x, char y) { return (x >= 'a' && x <= 'z' ? x - 'a' + 'A' : x) == y; });
}

/// Collects frames: small ones in one buffer, large bodies as the pieces they are.
class Batch {
 public:
  void AddFrame(ResponseType type, int32_t request_id, rt::Pieces body) {
    AppendResponseHead(type, request_id, body.size(), &gathered_);
    const bool small = body.size() <= kGatheredBodyMax && std::all_of(body.pieces().begin(), body.pieces().end(), [](const auto& piece) {
      return std::holds_alternative<Buffer>(piece);
    });
    if (!small) {
      pieces_.Add(gathered_.Freeze());
      pieces_.Add(std::move(body));
      return;
    }
    for (const rt::Pieces::Piece& piece : body.pieces()) gathered_.Append(std::get<Buffer>(piece).view());
  }
  size_t size() const { return pieces_.size() + gathered_.size(); }
  rt::Pieces Finish() {
    pieces_.Add(gathered_.Freeze());
    return std::move(pieces_);
  }

 private:
  rt::Pieces pieces_;
  MutableBuffer gathered_;
};

}  // namespace

ServerConnection::ServerConnection(std::unique_ptr<rt::Connection> connection, ConnectionInfo info, RequestHandler* handler,
                                   MemoryBudget* memory, const ConnectionOptions* options, ConnectionCounters* counters)
    : connection_(std::move(connection)),
      info_(std::make_shared<const ConnectionInfo>(std::move(info))),
      handler_(handler),
      memory_(memory),
      options_(options),
      counters_(counters),
      reader_(*connection_) {}

rt::Task<void> ServerConnection::Run() {
  last_write_ = rt::Now();
  rt::Spawn(WriteLoop(gate_.TryEnter()));
  rt::Spawn(WatchLoop(gate_.TryEnter()));
  rt::Task<void> reading = ReadLoop();
  co_await std::move(reading);
  in_frame_ = false;
  NoteReads();

  // Whoever has finished sending still gets the answers that come soon.
  const rt::MonotonicTime farewell = rt::Now() + options_->farewell_time_max;
  while (!connection_->closed() && !all_sent() && rt::Now() < farewell) {
    co_await progress_.Wait(farewell);
  }
  if (failure_ && !connection_->closed()) {
    rt::Task<void> linger = LingerThenClose(connection_.get(), options_->farewell_time_max);
    co_await std::move(linger);
  }
  Close();
  rt::Task<void> ended = gate_.Close();
  co_await std::move(ended);
}

void ServerConnection::Drain() {
  draining_ = true;
  NoteProgress();
}

void ServerConnection::Close() {
  if (stopping_) return;
  stopping_ = true;
  ready_.clear();
  connection_->Close();
  has_answers_.NotifyAll();
  progress_.NotifyAll();
  stopped_.NotifyAll();
}

rt::Task<void> ServerConnection::ReadLoop() {
  for (int turn = 0;; ++turn) {
    if (turn == kRequestsPerTurn) {
      turn = 0;
      rt::Task<void> yield = rt::Yield();
      co_await std::move(yield);
    }
    while (must_pause() && !stopping_) co_await progress_.Wait();
    if (stopping_ || draining_) co_return;
    if (!reader_.has_length()) {
      NoteReads();
      rt::Task<Status> fill = reader_.FillLength();
      const Status filled = co_await std::move(fill);
      if (!filled.ok()) co_return;
    }
    const Result<uint32_t> length = CheckRequestLength(reader_.length_bytes(), options_->frame_size_max);
    if (!length.ok()) {
      Fail(length.error());
      co_return;
    }
    MemoryBudget::Charge charge;
    if (!memory_->TryAcquire(*length, &charge)) {
      rt::Task<MemoryBudget::Charge> acquire = memory_->Acquire(*length);
      charge = co_await std::move(acquire);
    }
    if (!reader_.has_frame(*length)) {
      in_frame_ = true;
      rt::Task<Status> fill = reader_.FillFrame(*length);
      const Status filled = co_await std::move(fill);
      in_frame_ = false;
      if (!filled.ok()) co_return;
    }
    if (stopping_ || draining_) co_return;
    Dispatch(reader_.TakeFrame(*length), std::move(charge));
  }
}

void ServerConnection::Dispatch(Buffer frame, MemoryBudget::Charge charge) {
  const RequestHeader header = ParseRequestHeader(frame.view());
  ++counters_->requests;
  const Status served = CheckApi(header.api_key, header.api_version, info_->server_type);
  if (!served.ok()) {
    Enqueue(header.request_id, served.error());
    return;
  }
  const KnownCodes known = LearnFromRequest(info_->known_codes, header.api_key, header.api_version);
  if (known != info_->known_codes) {
    auto info = std::make_shared<ConnectionInfo>(*info_);
    info->known_codes = known;
    info_ = std::move(info);
  }
  Request request{.api_key = static_cast<ApiKey>(header.api_key),
                  .api_version = header.api_version,
                  .request_id = header.request_id,
                  .body = frame.Slice(kRequestHeaderSize, frame.size() - kRequestHeaderSize),
                  .connection = info_};
  if (request.api_key == ApiKey::kApiVersions) {
    Enqueue(request.request_id, AnswerApiVersions(request));
  } else if (request.api_key == ApiKey::kAuthenticate) {
    Enqueue(request.request_id, AnswerAuthenticate(request));
  } else {
    ++in_flight_;
    // Spawn runs the handler up to its first wait: that is the order that clients rely on.
    rt::Spawn(Serve(gate_.TryEnter(), std::move(charge), std::move(request)));
  }
}

rt::Task<void> ServerConnection::Serve(rt::Gate::Holder /*holder*/, MemoryBudget::Charge charge, Request request) {
  const int32_t request_id = request.request_id;
  rt::Task<Result<rt::Pieces>> handling = handler_->Handle(std::move(request));
  Result<rt::Pieces> answer = co_await std::move(handling);
  charge = MemoryBudget::Charge();
  --in_flight_;
  Enqueue(request_id, std::move(answer));
}

Result<rt::Pieces> ServerConnection::AnswerApiVersions(const Request& request) {
  STROM_ASSIGN(const ApiVersionsRequest asked, DecodeRequest<ApiVersionsRequest>(request));
  auto info = std::make_shared<ConnectionInfo>(*info_);
  info->client_name = asked.client_software_name.substr(0, kClientNameMax);
  info->client_version = asked.client_software_version.substr(0, kClientNameMax);
  info->known_codes = KnownCodesOfClient(info->client_name);
  info_ = std::move(info);
  ApiVersionsResponse response;
  response.api_versions = AdvertisedApis(info_->server_type);
  response.server_type = static_cast<int32_t>(info_->server_type);
  return Encode(response);
}

Result<rt::Pieces> ServerConnection::AnswerAuthenticate(const Request& request) {
  STROM_ASSIGN(const AuthenticateRequest asked, DecodeRequest<AuthenticateRequest>(request));
  if (!EqualsIgnoringCase(asked.protocol, kPlaintext)) {
    return MakeError(ErrorCode::kAuthenticate, "listener {} speaks {}, not {}", info_->listener_name, kPlaintext,
                     asked.protocol.substr(0, kClientNameMax));
  }
  // No challenge: a present one, even empty, makes the Rust client ask again.
  return Encode(AuthenticateResponse());
}

void ServerConnection::Enqueue(int32_t request_id, Result<rt::Pieces> body) {
  if (!stopping_ && !failure_) {
    if (body.ok() && body->size() > kResponseBodyMax) {
      body = MakeError(ErrorCode::kRecordTooLarge, "the answer has {} bytes, more than a frame can hold", body->size());
    }
    Answer answer{ResponseType::kSuccess, request_id, {}};
    if (body.ok()) {
      answer.body = std::move(body).value();
    } else {
      ++counters_->error_responses;
      answer.type = ResponseType::kError;
      answer.body = EncodeErrorBody(body.error(), info_->known_codes);
    }
    queued_bytes_ += answer.body.size();
    ready_.push_back(std::move(answer));
    has_answers_.NotifyOne();
  }
  NoteProgress();
}

rt::Pieces ServerConnection::TakeBatch(size_t* queued_bytes) {
  Batch batch;
  while (!ready_.empty() && batch.size() < options_->write_batch_bytes) {
    Answer answer = std::move(ready_.front());
    ready_.pop_front();
    *queued_bytes += answer.body.size();
    batch.AddFrame(answer.type, answer.request_id, std::move(answer.body));
  }
  rt::Pieces pieces = batch.Finish();
  if (ready_.empty() && failure_) {
    pieces.Add(EncodeServerFailureFrame(*failure_));
    failure_sent_ = true;  // once this write has ended; until then writing_ says so
  }
  return pieces;
}

rt::Task<void> ServerConnection::WriteLoop(rt::Gate::Holder /*holder*/) {
  while (!stopping_ && !failure_sent_) {
    if (ready_.empty() && !failure_) {
      co_await has_answers_.Wait();
      continue;
    }
    size_t queued = 0;
    rt::Pieces batch = TakeBatch(&queued);
    counters_->bytes_sent += batch.size();
    writing_ = true;
    rt::Task<Status> write = connection_->Write(std::move(batch));
    const Status written = co_await std::move(write);
    writing_ = false;
    last_write_ = rt::Now();
    queued_bytes_ -= queued;
    if (!written.ok()) {
      // Part of a frame may be out: nothing else may follow it.
      Close();
      co_return;
    }
    NoteProgress();
  }
}

rt::Task<void> ServerConnection::WatchLoop(rt::Gate::Holder /*holder*/) {
  while (!stopping_) {
    const rt::MonotonicTime now = rt::Now();
    const rt::MonotonicTime active = std::max(reader_.last_read(), last_write_);
    const rt::Duration limit = in_frame_ ? options_->stalled_frame_time_max : options_->idle_time_max;
    const bool may_close = in_frame_ || in_flight_ == 0;
    if (may_close && now >= active + limit) {
      STROM_LOG_INFO("connection of {} on {} closed: {} for {} s", info_->peer_address, info_->listener_name,
                     in_frame_ ? "a request stopped half way" : "nothing was read or written", limit / std::chrono::seconds(1));
      ++counters_->idle_closed;
      Close();
      co_return;
    }
    // A frame may begin at any time, so the shorter limit sets the pace.
    const rt::MonotonicTime next = std::min(now + options_->stalled_frame_time_max, may_close ? active + limit : now + limit);
    co_await stopped_.Wait(next);
  }
}

void ServerConnection::Fail(Error error) {
  STROM_LOG_WARN("connection of {} on {} ends: {}", info_->peer_address, info_->listener_name, error.message);
  ++counters_->failed_connections;
  failure_ = std::move(error);
  has_answers_.NotifyAll();
}

void ServerConnection::NoteProgress() {
  progress_.NotifyAll();
  if (draining_ && all_sent()) Close();
}

void ServerConnection::NoteReads() {
  counters_->bytes_read += reader_.bytes_read() - noted_bytes_read_;
  counters_->bytes_copied += reader_.bytes_copied() - noted_bytes_copied_;
  counters_->read_calls += reader_.read_calls() - noted_read_calls_;
  noted_bytes_read_ = reader_.bytes_read();
  noted_bytes_copied_ = reader_.bytes_copied();
  noted_read_calls_ = reader_.read_calls();
}

}  // namespace strom::rpc
