#include "rpc/client_channel.h"

#include <utility>

#include "base/endian.h"

namespace strom::rpc {

ClientChannel::ClientChannel(std::unique_ptr<rt::Connection> connection, ClientOptions options)
    : connection_(std::move(connection)), options_(std::move(options)), reader_(*connection_) {}

ClientChannel::~ClientChannel() { STROM_ASSERT(gate_.count() == 0, "a channel is closed before it dies"); }

rt::Task<Result<std::unique_ptr<ClientChannel>>> ClientChannel::Connect(rt::Network* network, rt::Address address,
                                                                        ClientOptions options) {
  rt::Task<Result<std::unique_ptr<rt::Connection>>> connect = network->Connect(std::move(address), options.connect_timeout);
  Result<std::unique_ptr<rt::Connection>> connection = co_await std::move(connect);
  if (!connection.ok()) co_return connection.error();
  rt::Task<Result<std::unique_ptr<ClientChannel>>> handshake = Handshake(std::move(connection).value(), std::move(options));
  Result<std::unique_ptr<ClientChannel>> channel = co_await std::move(handshake);
  co_return channel;
}

rt::Task<Result<std::unique_ptr<ClientChannel>>> ClientChannel::Handshake(std::unique_ptr<rt::Connection> connection,
                                                                          ClientOptions options) {
  std::unique_ptr<ClientChannel> channel(new ClientChannel(std::move(connection), std::move(options)));
  rt::Spawn(channel->ReadLoop(channel->gate_.TryEnter()));
  rt::Spawn(channel->WriteLoop(channel->gate_.TryEnter()));
  rt::Task<Status> ask = channel->AskApiVersions();
  const Status asked = co_await std::move(ask);
  if (!asked.ok()) {
    rt::Task<void> close = channel->Close();
    co_await std::move(close);
    co_return asked.error();
  }
  co_return channel;
}

rt::Task<Status> ClientChannel::AskApiVersions() {
  const ApiVersionsRequest request{.client_software_name = options_.client_name,
                                   .client_software_version = options_.client_version};
  rt::Task<Result<Received<ApiVersionsResponse>>> call = Call<ApiVersionsResponse>(ApiKey::kApiVersions, 0, request);
  Result<Received<ApiVersionsResponse>> answer = co_await std::move(call);
  if (!answer.ok()) co_return answer.error();
  server_ = std::move(answer).value();
  co_return Status::OK();
}

rt::Task<Result<Buffer>> ClientChannel::Exchange(ApiKey key, int16_t version, rt::Pieces body) {
  const RequestHeader header{static_cast<int16_t>(key), version, next_request_id_};
  next_request_id_ = static_cast<int32_t>(static_cast<uint32_t>(next_request_id_) + 1);
  auto pending = std::make_unique<Pending>(this, header.request_id);
  if (lost_) {
    pending->answer.emplace(*lost_);
    return Await(std::move(pending));
  }
  pending_.emplace(header.request_id, pending.get());
  outgoing_.Add(EncodeRequestFrame(header, std::move(body)));
  has_requests_.NotifyOne();
  return Await(std::move(pending));
}

rt::Task<Result<Buffer>> ClientChannel::Await(std::unique_ptr<Pending> pending) {
  while (!pending->answer) co_await pending->answered.Wait();
  co_return std::move(*pending->answer);
}

rt::Task<void> ClientChannel::WriteLoop(rt::Gate::Holder /*holder*/) {
  while (!lost_) {
    if (outgoing_.empty()) {
      co_await has_requests_.Wait();
      continue;
    }
    rt::Pieces batch = std::exchange(outgoing_, {});
    rt::Task<Status> write = connection_->Write(std::move(batch));
    const Status written = co_await std::move(write);
    if (!written.ok()) Lose(written.error());
  }
}

rt::Task<void> ClientChannel::ReadLoop(rt::Gate::Holder /*holder*/) {
  while (!lost_) {
    rt::Task<Result<Buffer>> read = ReadResponse();
    const Result<Buffer> frame = co_await std::move(read);
    if (!frame.ok()) {
      Lose(frame.error());
    } else {
      Deliver(*frame);
    }
  }
}

rt::Task<Result<Buffer>> ClientChannel::ReadResponse() {
  if (!reader_.has_length()) {
    rt::Task<Status> fill = reader_.FillLength();
    const Status filled = co_await std::move(fill);
    if (!filled.ok()) co_return filled.error();
  }
  const int32_t length = LoadBe<int32_t>(reader_.length_bytes().data());
  if (length < 0 || static_cast<size_t>(length) > options_.response_size_max) {
    co_return MakeError(ErrorCode::kCorruptMessage, "a response frame of length {}, more than {}", length,
                        options_.response_size_max);
  }
  if (!reader_.has_frame(static_cast<uint32_t>(length))) {
    rt::Task<Status> fill = reader_.FillFrame(static_cast<uint32_t>(length));
    const Status filled = co_await std::move(fill);
    if (!filled.ok()) co_return filled.error();
  }
  co_return reader_.TakeFrame(static_cast<uint32_t>(length));
}

void ClientChannel::Deliver(const Buffer& frame) {
  const Result<ResponseFrame> response = ParseResponseFrame(frame);
  if (!response.ok()) return Lose(response.error());
  if (response->type == ResponseType::kServerFailure) return Lose(DecodeErrorBody(response->body));
  const auto found = pending_.find(response->request_id);
  // Nobody waits any more: the caller gave up.
  if (found == pending_.end()) return;
  Pending* pending = found->second;
  pending_.erase(found);
  if (response->type == ResponseType::kSuccess) {
    pending->answer.emplace(response->body);
  } else {
    pending->answer.emplace(DecodeErrorBody(response->body));
  }
  pending->answered.NotifyAll();
}

void ClientChannel::Lose(const Error& error) {
  if (lost_) return;
  const bool said_by_server = error.code < ErrorCode::kIoError;
  lost_ = said_by_server ? error
                         : MakeError(ErrorCode::kNetworkException, "the connection to {} is lost: {}",
                                     connection_->peer_address(), error.message);
  connection_->Close();
  outgoing_ = {};
  for (const auto& [id, pending] : std::exchange(pending_, {})) {
    pending->answer.emplace(*lost_);
    pending->answered.NotifyAll();
  }
  has_requests_.NotifyAll();
}

rt::Task<void> ClientChannel::Close() {
  Lose(MakeError(ErrorCode::kCancelled, "closed by this side"));
  rt::Task<void> ended = gate_.Close();
  co_await std::move(ended);
}

}  // namespace strom::rpc
