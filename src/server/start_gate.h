#pragma once

#include <memory>

#include "rpc/request_handler.h"
#include "rt/sync.h"

namespace strom::server {

/// Holds the requests of one shard back until the server has started: the ports are open early, because their numbers are needed for the
/// metadata, and a client that reconnects after a restart waits here instead of failing.
class StartGate final : public rpc::RequestHandler {
 public:
  rt::Task<Result<rt::Pieces>> Handle(rpc::Request request) override {
    if (inner_ != nullptr) return inner_->Handle(std::move(request));
    return HandleLater(std::move(request));
  }
  /// From now on requests go to `inner`; those that wait are let in, in order.
  void Open(std::unique_ptr<rpc::RequestHandler> inner) {
    inner_ = std::move(inner);
    opened_.NotifyAll();
  }

 private:
  rt::Task<Result<rt::Pieces>> HandleLater(rpc::Request request) {
    while (inner_ == nullptr) {
      co_await opened_.Wait();
    }
    rt::Task<Result<rt::Pieces>> answer = inner_->Handle(std::move(request));
    co_return co_await std::move(answer);
  }

  std::unique_ptr<rpc::RequestHandler> inner_;
  rt::Event opened_;
};

}  // namespace strom::server
