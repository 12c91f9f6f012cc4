#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "rpc/frame.h"
#include "rpc/frame_reader.h"
#include "rpc/messages.h"
#include "rt/connection.h"
#include "rt/sync.h"
#include "rt/task.h"

namespace strom::rpc {

/// A response and the bytes that its views look at.
template <Message T>
struct Received {
  Buffer bytes;
  T message;
  const T* operator->() const { return &message; }
  const T& operator*() const { return message; }
};

struct ClientOptions {
  std::string client_name = "strom";    // sent in ApiVersions
  std::string client_version = "0.1.0";
  rt::Duration connect_timeout = std::chrono::seconds(15);
  size_t response_size_max = size_t{1} << 30;  // bytes of a response frame; a longer one ends the channel
};

/// A client's side of one connection, on one shard. Calls are pipelined without limit and matched by request id. When the connection is
/// lost or the server ends it (type-2 frame), all calls fail and stay failing: connecting again is the caller's.
class ClientChannel {
 public:
  /// Connects and asks ApiVersions.
  static rt::Task<Result<std::unique_ptr<ClientChannel>>> Connect(rt::Network* network, rt::Address address,
                                                                  ClientOptions options);
  /// The same over a connection that is open already.
  static rt::Task<Result<std::unique_ptr<ClientChannel>>> Handshake(std::unique_ptr<rt::Connection> connection,
                                                                    ClientOptions options);
  ~ClientChannel();

  /// Sends `request` now (before the task is awaited nothing waits for the answer) and gives the response. An ErrorResponse of the server
  /// is an Error with its code; a lost connection is kNetworkException.
  template <Message Response, Message Request>
  rt::Task<Result<Received<Response>>> Call(ApiKey key, int16_t version, const Request& request) {
    return Receive<Response>(Exchange(key, version, Encode(request)));
  }
  /// The response's body, for whoever brings his own bytes.
  rt::Task<Result<Buffer>> Exchange(ApiKey key, int16_t version, rt::Pieces body);

  /// What the server said to ApiVersions.
  const ApiVersionsResponse& server() const { return server_.message; }
  bool connected() const { return !lost_; }
  size_t calls_in_flight() const { return pending_.size(); }

  /// Fails what is in flight and closes. To be awaited before the channel dies.
  rt::Task<void> Close();

 private:
  /// A call that waits. A caller that gives up takes it out of the table.
  struct Pending {
    Pending(ClientChannel* owner, int32_t id) : channel(owner), request_id(id) {}
    ~Pending() {
      if (!answer) channel->pending_.erase(request_id);
    }
    ClientChannel* const channel;
    const int32_t request_id;
    rt::Event answered;
    std::optional<Result<Buffer>> answer;
  };

  ClientChannel(std::unique_ptr<rt::Connection> connection, ClientOptions options);

  template <Message Response>
  static rt::Task<Result<Received<Response>>> Receive(rt::Task<Result<Buffer>> exchange) {
    Result<Buffer> bytes = co_await std::move(exchange);
    if (!bytes.ok()) co_return bytes.error();
    Received<Response> received;
    received.bytes = std::move(bytes).value();
    const Status decoded = Decode(received.bytes, &received.message);
    if (!decoded.ok()) co_return decoded.error();
    co_return received;
  }
  rt::Task<void> ReadLoop(rt::Gate::Holder holder);
  rt::Task<void> WriteLoop(rt::Gate::Holder holder);
  rt::Task<Result<Buffer>> ReadResponse();
  rt::Task<Status> AskApiVersions();
  rt::Task<Result<Buffer>> Await(std::unique_ptr<Pending> pending);
  void Deliver(const Buffer& frame);
  void Lose(const Error& error);

  std::unique_ptr<rt::Connection> connection_;
  const ClientOptions options_;
  FrameReader reader_;
  Received<ApiVersionsResponse> server_;
  rt::Gate gate_;
  rt::Event has_requests_;
  rt::Pieces outgoing_;
  int32_t next_request_id_ = 0;
  std::unordered_map<int32_t, Pending*> pending_;
  std::optional<Error> lost_;  // why nothing more can be sent
};

}  // namespace strom::rpc
